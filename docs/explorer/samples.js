"use strict";
// Samples of items: how far estimates spread. The same random numbers serve every setting, so that
// a setting gives the same picture whenever it is seen, and the picture moves smoothly.

/** Random numbers from 0 to 1 (the generator mulberry32), the same for the same seed. */
function seededRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function drawNormal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** For each sample a uniform number for each item, in rising order. */
function sortedUniforms(samples, items, seed) {
  const random = seededRandom(seed);
  return Array.from({ length: samples }, () => {
    // Partial sums of exponential draws, over their total, are sorted uniform numbers.
    const sorted = new Float64Array(items);
    let total = 0;
    for (let i = 0; i < items; i++) sorted[i] = total -= Math.log(1 - random());
    total -= Math.log(1 - random());
    for (let i = 0; i < items; i++) sorted[i] /= total;
    return sorted;
  });
}

/** Counts the items of a sample in each cell: a draw from the multinomial distribution. */
function countItems(probabilities, sorted) {
  const counts = new Float64Array(probabilities.length);
  const last = probabilities.length - 1;
  let cell = 0;
  let passed = probabilities[0];
  for (let i = 0; i < sorted.length; i++) {
    while (sorted[i] >= passed && cell < last) passed += probabilities[++cell];
    counts[cell]++;
  }
  return counts;
}

/** Mean, standard deviation and the middle 90% of what is defined among some estimates. */
function summarise(estimates) {
  const defined = estimates.filter(Number.isFinite).sort((a, b) => a - b);
  const n = defined.length;
  const mean = sum(defined) / n;
  const squares = sum(defined.map((value) => (value - mean) ** 2));
  return {
    mean,
    standardError: n > 1 ? Math.sqrt(squares / (n - 1)) : NaN,
    lower: quantile(defined, 0.05),
    upper: quantile(defined, 0.95),
    undefined: 1 - n / estimates.length,
  };
}

function quantile(sorted, share) {
  if (sorted.length === 0) return NaN;
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}
