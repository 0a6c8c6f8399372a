"use strict";
// The sliders, and the setting they stand for, which is also in the address of the page.

const MOST_RATERS = 5;
const ITEMS = [20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 2000, 3000, 5000];
const DEFAULTS = {
  categories: 3,
  raters: [0.6, 0.6, 0.6],
  system: 0.9,
  items: 200,
  skew: 1.5,
  difficultyRange: 0,
  systemFindsDifficult: true,
  nearErrors: 1,
  errorRange: 0,
  sharedMistakes: 0,
};

const SLIDERS = [
  { group: "Raters", name: "n", label: "Number of raters", min: 2, max: MOST_RATERS, step: 1 },
  ...Array.from({ length: MOST_RATERS }, (_, j) => ({
    group: "Raters",
    name: `rater${j + 1}`,
    label: `Accuracy of rater ${j + 1}`,
    min: 0,
    max: 1,
    step: 0.01,
  })),
  { group: "System", name: "system", label: "Accuracy of the system", min: 0, max: 1, step: 0.01 },
  {
    group: "Items",
    name: "items",
    label: "Number of items",
    min: 0,
    max: ITEMS.length - 1,
    step: 1,
  },
  { group: "Items", name: "categories", label: "Number of categories", min: 2, max: 5, step: 1 },
  { group: "Items", name: "skew", label: "Skew of the base rates", min: 1, max: 4, step: 0.1 },
  {
    group: "Broken assumptions",
    name: "difficultyRange",
    label: "Difficulty",
    min: 0,
    max: 0.5,
    step: 0.01,
  },
  {
    group: "Broken assumptions",
    name: "nearErrors",
    label: "Preference for errors near the truth",
    min: 1,
    max: 5,
    step: 0.1,
  },
  {
    group: "Broken assumptions",
    name: "errorRange",
    label: "Random preferences among errors",
    min: 0,
    max: 1,
    step: 0.01,
  },
  {
    group: "Broken assumptions",
    name: "sharedMistakes",
    label: "Correlated errors",
    min: 0,
    max: 0.5,
    step: 0.01,
  },
];

/** What stands beside each slider. */
const SAYS = {
  n: (s) => `${s.raters.length}`,
  system: (s) => s.system.toFixed(2),
  items: (s) => s.items.toLocaleString("en"),
  categories: (s) => `${s.categories}`,
  skew: (s) =>
    baseRates(s)
      .map((rate) => rate.toFixed(2))
      .join("  "),
  difficultyRange: (s) =>
    s.difficultyRange > 0
      ? `easy +${s.difficultyRange.toFixed(2)}, hard −${s.difficultyRange.toFixed(2)}`
      : "all items alike",
  nearErrors: (s) => {
    if (s.categories === 2) return "with two categories there is one error";
    return s.nearErrors > 1
      ? `one step nearer, ${s.nearErrors.toFixed(1)} times as likely`
      : "all errors alike";
  },
  errorRange: (s) =>
    s.errorRange > 0
      ? `each error times ${(1 - s.errorRange).toFixed(2)} to ${(1 + s.errorRange).toFixed(2)}`
      : "none",
  sharedMistakes: (s) => `${Math.round(100 * s.sharedMistakes)}% of the items mislead everybody`,
};

/** Builds the form; calls back with the setting whenever the reader moves something. */
function buildControls(form, onChange) {
  for (const group of new Set(SLIDERS.map((slider) => slider.group))) {
    const fieldset = element("fieldset", {}, element("legend", {}, group));
    for (const slider of SLIDERS) if (slider.group === group) fieldset.append(sliderRow(slider));
    form.append(fieldset);
  }
  const shared = element("input", { type: "checkbox", name: "systemFindsDifficult" });
  form.elements.difficultyRange
    .closest(".slider")
    .after(element("label", { class: "check" }, shared, " for the system, too"));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    const settings = readControls(form);
    showSettings(form, settings);
    onChange(settings);
  });
}

function sliderRow({ name, label, min, max, step }) {
  const input = element("input", { type: "range", id: name, name, min, max, step });
  const said = element("output", { for: name });
  return element("div", { class: "slider" }, element("label", { for: name }, label), said, input);
}

function readControls(form) {
  const value = (name) => Number(form.elements[name].value);
  return {
    categories: value("categories"),
    raters: Array.from({ length: value("n") }, (_, j) => value(`rater${j + 1}`)),
    system: value("system"),
    items: ITEMS[value("items")],
    skew: value("skew"),
    difficultyRange: value("difficultyRange"),
    systemFindsDifficult: form.elements.systemFindsDifficult.checked,
    nearErrors: value("nearErrors"),
    errorRange: value("errorRange"),
    sharedMistakes: value("sharedMistakes"),
  };
}

/** Moves the sliders to a setting, and gives the one they can reach. */
function setControls(form, settings) {
  for (const { name } of SLIDERS) {
    if (name in settings) form.elements[name].value = settings[name];
  }
  form.elements.n.value = settings.raters.length;
  form.elements.items.value = ITEMS.indexOf(settings.items);
  form.elements.systemFindsDifficult.checked = settings.systemFindsDifficult;
  for (let j = 0; j < MOST_RATERS; j++) {
    form.elements[`rater${j + 1}`].value = settings.raters[j] ?? settings.raters.at(-1);
  }
  const reached = readControls(form);
  showSettings(form, reached);
  return reached;
}

function showSettings(form, settings) {
  for (const { name } of SLIDERS) {
    const input = form.elements[name];
    const said = SAYS[name] ? SAYS[name](settings) : Number(input.value).toFixed(2);
    input.setAttribute("aria-valuetext", said);
    input.previousElementSibling.value = said;
  }
  for (let j = 2; j < MOST_RATERS; j++) {
    form.elements[`rater${j + 1}`].closest(".slider").hidden = j >= settings.raters.length;
  }
  form.elements.nearErrors.disabled = settings.categories === 2;
  form.elements.systemFindsDifficult.disabled = settings.difficultyRange === 0;
}

/** Writes what differs from the defaults, as in "raters=0.5,0.6,0.7&nearErrors=2". */
function toHash(settings) {
  return Object.keys(DEFAULTS)
    .filter((name) => String(settings[name]) !== String(DEFAULTS[name]))
    .map((name) => `${name}=${settings[name]}`)
    .join("&");
}

/** Reads an address; what it leaves out, or is no number, is as by default. */
function fromHash(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const settings = { ...DEFAULTS };
  for (const name of Object.keys(DEFAULTS)) {
    if (typeof DEFAULTS[name] === "number" && isNumber(given.get(name))) {
      settings[name] = Number(given.get(name));
    }
  }
  const raters = (given.get("raters") ?? "").split(",");
  if (raters.length >= 2 && raters.every(isNumber)) {
    settings.raters = raters.slice(0, MOST_RATERS).map(Number);
  }
  if (!ITEMS.includes(settings.items)) settings.items = DEFAULTS.items;
  settings.systemFindsDifficult = given.get("systemFindsDifficult") !== "false";
  return settings;
}

function isNumber(text) {
  return text !== null && text.trim() !== "" && Number.isFinite(Number(text));
}

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
