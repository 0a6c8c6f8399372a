"use strict";
// Latent-class models by maximum likelihood: the true category is the class, raters and system
// answer independently given it. Patterns have weights: probabilities (for the limit of many items)
// or numbers of items. Functions with a star pause often, so that the page stays alive.

const SETTLED = 1e-11;
const EMPTY = 1e-14;
const SINGULAR = 1e-9;

/** One accuracy for all raters and one for the system, errors equal: the votes are enough. */
function oneCoinPatterns({ raters, categories, codes }, cells) {
  const groups = [...Array(raters).fill(0), 1];
  const ratings = (cell) => [...codes[Math.floor(cell / categories)], cell % categories];
  return patternTable(cells, ratings, groups, categories, true);
}

/** A confusion matrix for each rater and for the system: the model of Dawid and Skene (1979). */
function dawidSkenePatterns({ raters, categories, order }, patterns) {
  const groups = [...Array(raters + 1).keys()];
  const ratings = (i) => digits(order[i], categories, raters + 1);
  return patternTable(patterns, ratings, groups, categories, false);
}

function patternTable(weights, ratings, groups, categories, equalErrors) {
  const held = [...weights.keys()].filter((i) => weights[i] > 0);
  return {
    weights: Float64Array.from(held, (i) => weights[i]),
    codes: Uint8Array.from(held.flatMap(ratings)),
    groups,
    categories,
    equalErrors,
  };
}

/** The system's accuracy in the model that is nearest to the probabilities of the patterns. */
function* limitOfModel(table, settings) {
  const rates = perceivedRates(settings);
  const matrices = averageConfusion(settings);
  const truth = startFrom(table, rates, matrices);
  const fromTruth = yield* climb(table, truth, 0);
  const fromVotes = yield* climb(table, voteStart(table), 0);
  return systemAccuracy(
    table,
    fromVotes.logLikelihood > fromTruth.logLikelihood + SETTLED ? fromVotes : fromTruth,
  );
}

/** The system's accuracy as estimated from the numbers of items in a sample. */
function* fitSample(table) {
  return systemAccuracy(table, yield* climb(table, voteStart(table), SETTLED));
}

/**
 * Whether the parameters of Dawid and Skene follow from the probabilities of the patterns: three
 * confusion matrices that can be inverted are enough (Kruskal 1977; Allman, Matias & Rhodes 2009).
 */
function isIdentified(settings) {
  const regular = averageConfusion(settings).filter((m) => Math.abs(determinant(m)) > SINGULAR);
  return regular.length >= 3;
}

/** Parameters: the rates of the classes, then for each group, answer and class a probability. */
function startFrom(table, rates, matrices) {
  const k = table.categories;
  const point = emptyCounts(table);
  point.set(rates);
  table.groups.forEach((group, j) =>
    matrices[j].forEach((row, c) =>
      row.forEach((p, code) => (point[place(k, group, code, c)] += p)),
    ),
  );
  normaliseRows(point, k);
  return maximise(table, expect(table, point));
}

function place(k, group, code, category) {
  return k + (group * k + code) * k + category;
}

function voteStart(table) {
  const { categories: k, groups } = table;
  const counts = emptyCounts(table);
  table.weights.forEach((weight, i) => {
    const codes = table.codes.subarray(i * groups.length, (i + 1) * groups.length);
    for (const voted of codes) {
      const share = weight / groups.length;
      counts[voted] += share;
      codes.forEach((code, j) => (counts[place(k, groups[j], code, voted)] += share));
    }
  });
  return maximise(table, { counts });
}

function emptyCounts({ categories: k, groups }) {
  return new Float64Array(k + (Math.max(...groups) + 1) * k * k);
}

/** Expected numbers of items by class, and of answers by group, answer and class. */
function expect(table, point) {
  const { categories: k, groups, codes, weights } = table;
  const counts = emptyCounts(table);
  const n = groups.length;
  const joint = new Float64Array(k);
  const at = new Int32Array(n);
  let logLikelihood = 0;
  for (let i = 0; i < weights.length; i++) {
    for (let c = 0; c < k; c++) joint[c] = point[c];
    for (let j = 0; j < n; j++) {
      at[j] = place(k, groups[j], codes[i * n + j], 0);
      for (let c = 0; c < k; c++) joint[c] *= point[at[j] + c];
    }
    let total = 0;
    for (let c = 0; c < k; c++) total += joint[c];
    if (total === 0) continue;
    logLikelihood += weights[i] * Math.log(total);
    for (let c = 0; c < k; c++) {
      const held = (weights[i] * joint[c]) / total;
      counts[c] += held;
      for (let j = 0; j < n; j++) counts[at[j] + c] += held;
    }
  }
  return { counts, logLikelihood };
}

function maximise(table, { counts }) {
  const { categories: k, equalErrors } = table;
  const point = counts.slice();
  for (let i = k; i < point.length; i++) point[i] += EMPTY;
  if (equalErrors) for (let at = k; at < point.length; at += k * k) equaliseErrors(point, at, k);
  normaliseRows(point, k);
  return point;
}

function equaliseErrors(point, at, k) {
  let total = 0;
  let right = 0;
  for (let i = 0; i < k * k; i++) total += point[at + i];
  for (let c = 0; c < k; c++) right += point[at + c * k + c];
  for (let i = 0; i < k * k; i++) {
    point[at + i] = i % (k + 1) === 0 ? right / k : (total - right) / (k * (k - 1));
  }
}

function normaliseRows(point, k) {
  const normalise = (from, step) => {
    let total = 0;
    for (let code = 0; code < k; code++) total += point[from + code * step];
    for (let code = 0; code < k; code++) point[from + code * step] /= total;
  };
  normalise(0, 1);
  for (let at = k; at < point.length; at += k * k) {
    for (let c = 0; c < k; c++) normalise(at + c, k);
  }
}

/** Names the classes so that raters, not the system, are most often right. */
function systemAccuracy(table, { point }) {
  const { categories: k, groups } = table;
  const { counts } = expect(table, point);
  const system = groups[groups.length - 1];
  const said = (category, named) => {
    let total = 0;
    for (let group = 0; group < system; group++) total += counts[place(k, group, named, category)];
    return total;
  };
  const order = bestOrder(k, said);
  return sum(order.map((c, named) => point[c] * point[place(k, system, named, c)]));
}

function bestOrder(k, said) {
  let best = { order: null, right: -Infinity };
  for (const order of permutations([...Array(k).keys()])) {
    const right = sum(order.map((category, named) => said(category, named)));
    if (right > best.right) best = { order, right };
  }
  return best.order;
}

function permutations(values) {
  if (values.length === 0) return [[]];
  return values.flatMap((value) =>
    permutations(values.filter((other) => other !== value)).map((rest) => [value, ...rest]),
  );
}

function determinant(matrix) {
  const rows = matrix.map((row) => [...row]);
  let product = 1;
  for (let i = 0; i < rows.length; i++) {
    const pivot = rows
      .slice(i)
      .reduce((best, row, at) => (Math.abs(row[i]) > Math.abs(rows[best][i]) ? i + at : best), i);
    if (rows[pivot][i] === 0) return 0;
    [rows[i], rows[pivot]] = [rows[pivot], rows[i]];
    product *= rows[i][i];
    for (let j = i + 1; j < rows.length; j++) {
      const factor = rows[j][i] / rows[i][i];
      for (let c = i; c < rows.length; c++) rows[j][c] -= factor * rows[i][c];
    }
  }
  return product;
}
