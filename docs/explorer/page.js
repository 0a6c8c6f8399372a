"use strict";
// Draws at once what is quick, and what takes longer in slices, so that sliders never stick.

const AT_ONCE = 20; // milliseconds
const SLICE = 10;
const PAUSE = 400;
const SEED = 1;

const REASONS = {
  chance: "raters agree at or below chance",
  paper: "no limit: chance decides on bins",
  unidentified: "not identified from these raters",
  uninformative: "the ratings say nothing",
};

let work = { steps: null, timer: 0 };
let settle = 0;
let samples = { items: 0, drawn: [] };

function show(settings) {
  clearTimeout(work.timer);
  const enumerated = enumerate(settings);
  const { table, cells } = enumerated;
  const limits = limitsFromVotes(table, cells);
  const drawn = samplesOf(settings.items);
  const picture = {
    truth: trueAccuracy(settings),
    limits,
    spreads: {},
    reasons: reasonsFor(limits),
  };
  document.getElementById("items-shown").textContent = settings.items.toLocaleString("en");
  work.steps = complete(picture, enumerated, drawn);
  advance(AT_ONCE, picture);
  clearTimeout(settle);
  settle = setTimeout(() => remember(settings), PAUSE);
}

/** The same samples while the number of items is the same. */
function samplesOf(items) {
  if (samples.items !== items) samples = { items, drawn: sortedUniforms(SAMPLES, items, SEED) };
  return samples.drawn;
}

function reasonsFor(limits) {
  const chance = limits.at_chance ? REASONS.chance : null;
  return {
    algebraic: chance ?? REASONS.uninformative,
    algebraic_paper: chance ?? REASONS.paper,
    dawid_skene_ml: REASONS.unidentified,
  };
}

/** Adds to the picture, the quickest first. */
function* complete(picture, enumerated, drawn) {
  picture.spreads = yield* voteSpreads(enumerated, drawn);
  for (const model of Object.keys(MODELS)) {
    picture.limits[model] = yield* modelLimit(enumerated, model);
  }
  for (const model of Object.keys(MODELS)) {
    picture.spreads[model] = yield* modelSpread(enumerated, model, drawn);
  }
}

/** Works for some milliseconds, draws, and goes on when the browser has had its turn. */
function advance(budget, picture) {
  const end = performance.now() + budget;
  let done = false;
  while (!done && performance.now() < end) ({ done } = work.steps.next());
  drawChart(picture);
  document.body.dataset.state = done ? "done" : "computing";
  if (done) document.getElementById("status").textContent = describe(picture);
  else work.timer = setTimeout(advance, 0, SLICE, picture);
}

function remember(settings) {
  const hash = toHash(settings);
  if (hash !== location.hash.slice(1)) history.replaceState(null, "", `#${hash}`);
}

function start() {
  const form = document.getElementById("controls");
  buildChart(document.getElementById("rows"), document.getElementById("methods"));
  let waiting = null;
  const drawWaiting = () => {
    show(waiting);
    waiting = null;
  };
  buildControls(form, (settings) => {
    if (waiting === null) requestAnimationFrame(drawWaiting);
    waiting = settings;
  });
  const open = () => show(setControls(form, fromHash(location.hash)));
  addEventListener("hashchange", open);
  open();
}

start();
