"use strict";
// What the page draws: the limit and the spread of each method in a setting.

const SAMPLES = 200;
const MODEL_SAMPLES = 100;
const VOTE_METHODS = ["majority_agreement", "algebraic", "algebraic_paper"];
const MODELS = { one_coin_ml: oneCoinModel, dawid_skene_ml: dawidSkeneModel };

/** A setting with the probabilities of its patterns, in the order of the cells, and its cells. */
function enumerate(settings) {
  const table = voteTable(settings.raters.length, settings.categories);
  const byPattern = patternProbabilities(settings);
  return {
    settings,
    table,
    cells: sumToCells(table, byPattern),
    patterns: Float64Array.from(table.order, (pattern) => byPattern[pattern]),
  };
}

function oneCoinModel({ table, cells }, sorted) {
  return oneCoinPatterns(table, sorted ? countItems(cells, sorted) : cells);
}

function dawidSkeneModel({ table, patterns }, sorted) {
  return dawidSkenePatterns(table, sorted ? countItems(patterns, sorted) : patterns);
}

/** The spread of each method that needs only votes, by method. */
function* voteSpreads({ table, cells }, samples) {
  const found = [];
  for (const sorted of samples) {
    found.push(estimateFromVotes(table, countItems(cells, sorted)));
    yield;
  }
  return Object.fromEntries(
    VOTE_METHODS.map((method) => [method, summarise(found.map((estimates) => estimates[method]))]),
  );
}

function* modelLimit(enumerated, model) {
  const { settings } = enumerated;
  if (model === "dawid_skene_ml" && !isIdentified(settings)) return NaN;
  return yield* limitOfModel(MODELS[model](enumerated), settings);
}

function* modelSpread(enumerated, model, samples) {
  const found = [];
  for (const sorted of samples.slice(0, MODEL_SAMPLES)) {
    found.push(yield* fitSample(MODELS[model](enumerated, sorted)));
  }
  return summarise(found);
}
