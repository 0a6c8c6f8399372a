"use strict";
// The picture: a row for each method, with its large-sample value and spread beside the truth.
// Colours, markers and names are those of the package's figures: colour-blind readers can tell them
// apart, and what is fitted by maximum likelihood has an open marker.

const METHODS = [
  {
    method: "majority_agreement",
    name: "Majority",
    colour: "#4d4d4d",
    marker: "M-4,-7L0,-3L4,-7L7,-4L3,0L7,4L4,7L0,3L-4,7L-7,4L-3,0L-7,-4z",
    summary:
      "How often the system answers what most raters say; categories that tie share the " +
      "item.",
  },
  {
    method: "algebraic",
    name: "Lehner’s algebra",
    colour: "#0072b2",
    marker: "M-6.5,0a6.5,6.5 0 1,0 13,0a6.5,6.5 0 1,0 -13,0z",
    summary:
      "Lehner (2015): from agreement to rater accuracy, base rates, the probability of each " +
      "true category, and the system’s accuracy. In the last step an item counts by how " +
      "much its votes say.",
  },
  {
    method: "algebraic_paper",
    name: "Algebra as in the paper",
    colour: "#253b6e",
    marker: "M0,-7.5L7.1,-2.3L4.4,6.1H-4.4L-7.1,-2.3z",
    summary:
      "The same with the last step as printed: items in bins of their most probable " +
      "category’s probability.",
  },
  {
    method: "one_coin_ml",
    name: "One coin, ML",
    colour: "#f38d01",
    marker: "M-6.5,-5.5H6.5L0,6.5z",
    open: true,
    summary:
      "The algebra’s assumptions as a model, fitted by maximum likelihood: one accuracy for " +
      "all raters, one for the system, all errors equally likely.",
  },
  {
    method: "dawid_skene_ml",
    name: "Dawid–Skene, ML",
    colour: "#d55e00",
    marker: "M-5.5,-5.5h11v11h-11z",
    open: true,
    summary:
      "A confusion matrix for each rater and for the system, fitted by maximum likelihood. " +
      "With endless items it is right wherever raters and system err independently; it " +
      "needs many.",
  },
];
const TICK = 0.1;

function buildChart(rows, methods) {
  for (const { method, name, colour, marker, open, summary } of METHODS) {
    const look = { class: open ? "open" : "filled", style: `--hue: ${colour}` };
    const row = element("tr", { role: "row", id: method, ...look });
    const label = element("span", {}, symbol(marker), name);
    row.append(
      element(
        "th",
        { role: "rowheader", scope: "row", class: "name" },
        label,
        element("small", { class: "note" }),
      ),
    );
    const track = element("td", { role: "cell", class: "track" });
    const plot = element("div", { class: "plot", "aria-hidden": "true" });
    plot.append(
      element("span", { class: "bar" }),
      element("span", { class: "truth" }),
      symbol(marker),
    );
    track.append(plot);
    row.append(track);
    for (const part of ["estimate", "bias", "range"]) {
      row.append(element("td", { role: "cell", class: `number ${part}` }));
    }
    rows.append(row);
    const term = element("dt", {}, symbol(marker), name);
    methods.append(element("div", look, term, element("dd", {}, summary)));
  }
}

function symbol(marker) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "-9 -9 18 18");
  svg.setAttribute("aria-hidden", "true");
  svg.innerHTML = `<path d="${marker}"/>`;
  return svg;
}

/**
 * Draws what is known: `limits` and `spreads` by method, `reasons` for limits that do not exist.
 * A row whose numbers are still being computed keeps its last picture, pale.
 */
function drawChart({ truth, limits, spreads, reasons }) {
  const least = lowerEnd([
    truth,
    ...Object.values(limits),
    ...Object.values(spreads).map((s) => s.lower),
  ]);
  const place = (value) => `${(100 * (value - least)) / (1 - least)}%`;
  drawAxis(least);
  document.getElementById("truth").textContent = truth.toFixed(3);
  for (const { method } of METHODS) {
    const row = document.getElementById(method);
    const limit = limits[method];
    const spread = spreads[method];
    row.querySelector(".truth").style.left = place(truth);
    drawLimit(row, limit, truth, place);
    drawSpread(row, spread, place);
    if (limit !== undefined)
      row.querySelector(".note").textContent = Number.isNaN(limit) ? reasons[method] : "";
  }
}

function drawLimit(row, limit, truth, place) {
  const marker = row.querySelector(".plot svg");
  row.classList.toggle("computing", limit === undefined);
  if (limit === undefined) return;
  const exists = Number.isFinite(limit);
  marker.style.display = exists ? "" : "none";
  if (exists) marker.style.left = place(limit);
  row.querySelector(".estimate").textContent = exists ? limit.toFixed(3) : "none";
  row.querySelector(".bias").textContent = exists ? signed(limit - truth) : "";
}

function drawSpread(row, spread, place) {
  const bar = row.querySelector(".bar");
  bar.classList.toggle("computing", spread === undefined);
  if (spread === undefined) return;
  const exists = Number.isFinite(spread.lower);
  bar.style.display = exists ? "" : "none";
  bar.style.left = place(spread.lower);
  bar.style.right = `calc(100% - ${place(spread.upper)})`;
  const range = exists ? `${spread.lower.toFixed(2)}–${spread.upper.toFixed(2)}` : "";
  const none = spread.undefined > 0 ? `none in ${percent(spread.undefined)}` : "";
  row.querySelector(".range").replaceChildren(range, element("small", {}, none));
}

/** Begins the axis at a tick below everything, in steps of .2 so that it seldom moves. */
function lowerEnd(values) {
  const least = Math.min(...values.filter(Number.isFinite));
  return Math.min(0.8, Math.max(0, Math.floor((least - 0.01) * 5) / 5));
}

function drawAxis(least) {
  const axis = document.getElementById("axis");
  const steps = Math.round((1 - least) / TICK);
  document.getElementById("rows").style.setProperty("--steps", steps);
  const every = steps > 6 ? 2 : 1;
  axis.replaceChildren(
    ...Array.from({ length: steps + 1 }, (_, i) => {
      const shown = (steps - i) % every === 0 ? (least + i * TICK).toFixed(1) : "";
      return element("span", { style: `left: ${(100 * i) / steps}%` }, shown);
    }),
  );
}

function signed(value) {
  const size = Math.abs(value).toFixed(3);
  if (Number(size) === 0) return size;
  return (value < 0 ? "−" : "+") + size;
}

function percent(share) {
  return share < 0.01 ? "<1%" : `${Math.floor(100 * share)}%`;
}

/** A sentence for readers who do not see the picture. */
function describe({ truth, limits }) {
  const parts = METHODS.map(({ method, name }) =>
    Number.isFinite(limits[method]) ? `${name} ${limits[method].toFixed(3)}` : `${name} no value`,
  );
  return `True accuracy ${truth.toFixed(3)}. With endless items: ${parts.join(", ")}.`;
}
