"use strict";
// The methods that need only votes, how many raters chose each category: the majority, and
// Lehner's algebra (2015, Eq. 1 to 7). Undefined estimates are NaN.

const AT_CHANCE = 1e-12;
const NO_INFORMATION = 1e-12;
const SMALLEST = 2 ** -1022;
const TIE = 1e-9;
const BINS = 10;

// The paper's step 4 jumps at ties and at the edges of bins: there large samples differ.
const LARGE_SAMPLE = 1e14;
const LARGE_SAMPLES = 25;
const MOST_SPREAD = 1e-4;

/** Estimates the system's accuracy from the numbers, or shares, of items in each cell. */
function estimateFromVotes(table, cells) {
  const items = itemsByVotes(table, cells);
  const truth = truthProbabilities(table, items);
  return {
    at_chance: !truth,
    majority_agreement: majorityAgreement(table, cells),
    algebraic: truth ? weightedAccuracy(table.categories, truth, cells, items) : NaN,
    algebraic_paper: truth ? accuracyByBins(table.categories, truth, cells, items) : NaN,
  };
}

/** What each of these methods gives as the number of items grows. */
function limitsFromVotes(table, cells) {
  const paper = Array.from(
    largeSamples(cells),
    (sample) => estimateFromVotes(table, sample).algebraic_paper,
  );
  const agree = Math.max(...paper) - Math.min(...paper) <= MOST_SPREAD;
  return {
    ...estimateFromVotes(table, cells),
    algebraic_paper: agree ? sum(paper) / paper.length : NaN,
  };
}

function* largeSamples(cells) {
  const random = seededRandom(1);
  for (let i = 0; i < LARGE_SAMPLES; i++) {
    yield cells.map((p) => {
      const expected = p * LARGE_SAMPLE;
      return Math.max(0, expected + Math.sqrt(expected) * drawNormal(random));
    });
  }
}

function majorityAgreement({ votes, categories: k }, cells) {
  let agreeing = 0;
  for (let v = 0; v < votes.length; v++) {
    const most = Math.max(...votes[v]);
    let tied = 0;
    let held = 0;
    for (let c = 0; c < k; c++) {
      if (votes[v][c] < most) continue;
      tied += 1;
      held += cells[v * k + c];
    }
    agreeing += held / tied;
  }
  return agreeing / sum(cells);
}

/** Steps 1 to 3: from agreement to the probability of each true category, by cell. */
function truthProbabilities({ raters, categories: k, votes, agreeing }, items) {
  const n = sum(items);
  const frequency = Array(k).fill(0);
  let agreement = 0;
  for (let v = 0; v < votes.length; v++) {
    agreement += (items[v] * agreeing[v]) / ((n * raters * (raters - 1)) / 2);
    for (let c = 0; c < k; c++) frequency[c] += (items[v] * votes[v][c]) / (n * raters);
  }
  const kappa = (agreement - 1 / k) / (1 - 1 / k);
  if (!(kappa > AT_CHANCE)) return null;
  const accuracy = 1 / k + (1 - 1 / k) * Math.sqrt(kappa);
  const rates = frequency.map((said) =>
    Math.max(0, ((k - 1) * said - 1 + accuracy) / (k * accuracy - 1)),
  );
  const logRates = rates.map((rate) => Math.log(rate / sum(rates)));
  const logOdds = Math.log(accuracy / Math.max((1 - accuracy) / (k - 1), SMALLEST));
  return bayes(votes, items, logRates, logOdds);
}

/** Bayes' rule for each of the votes that some item has. */
function bayes(votes, items, logRates, logOdds) {
  const k = logRates.length;
  const truth = new Float64Array(votes.length * k);
  for (let v = 0; v < votes.length; v++) {
    if (items[v] === 0) continue;
    let top = -Infinity;
    for (let c = 0; c < k; c++) top = Math.max(top, logRates[c] + votes[v][c] * logOdds);
    let total = 0;
    for (let c = 0; c < k; c++) {
      truth[v * k + c] = Math.exp(logRates[c] + votes[v][c] * logOdds - top);
      total += truth[v * k + c];
    }
    for (let c = 0; c < k; c++) truth[v * k + c] /= total;
  }
  return truth;
}

/** Step 4 as Eq. 6 solved by least squares: each item counts by how much its votes say. */
function weightedAccuracy(k, truth, cells, items) {
  let numerator = 0;
  let denominator = 0;
  for (let i = 0; i < cells.length; i++) {
    const held = items[Math.floor(i / k)];
    const x = (k * truth[i] - 1) / (k - 1);
    numerator += x * (cells[i] - (held * (1 - truth[i])) / (k - 1));
    denominator += held * x * x;
  }
  return denominator > NO_INFORMATION ? clip(numerator / denominator) : NaN;
}

/** Step 4 as the paper has it: Eq. 7 in bins of the top probability, weighted by their items. */
function accuracyByBins(k, truth, cells, items) {
  const bins = Array.from({ length: BINS }, () => ({ items: 0, top: 0, agreeing: 0 }));
  for (let v = 0; v < items.length; v++) {
    if (items[v] === 0) continue;
    const { top, agreeing } = mostProbable(truth, cells, v * k, k);
    const bin = bins[Math.ceil(BINS * top - TIE) - 1];
    bin.items += items[v];
    bin.top += items[v] * top;
    bin.agreeing += agreeing;
  }
  let used = 0;
  let total = 0;
  for (const bin of bins) {
    const top = bin.top / bin.items;
    const slope = k * top - 1;
    if (!(Math.abs(slope) > TIE)) continue;
    used += bin.items;
    total += bin.items * clip((((k - 1) * bin.agreeing) / bin.items - 1 + top) / slope);
  }
  return total / used;
}

/** The top probability, and the items whose answer has it; tied categories share the items. */
function mostProbable(truth, cells, from, k) {
  let top = 0;
  for (let c = 0; c < k; c++) top = Math.max(top, truth[from + c]);
  let tied = 0;
  let held = 0;
  for (let c = 0; c < k; c++) {
    if (truth[from + c] < top - TIE) continue;
    tied += 1;
    held += cells[from + c];
  }
  return { top, agreeing: held / tied };
}

function clip(value) {
  return Math.min(1, Math.max(0, value));
}
