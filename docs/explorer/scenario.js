"use strict";
// From settings to the probability of every pattern of ratings and system answer: what
// lehner.simulation does in Python, for base rates that are not random and one draw of errors.
//
// Settings: categories (K), raters (an initial accuracy for each), system (its initial accuracy),
// difficultyRange (accuracy is lower and higher by it for a third of the items each),
// systemFindsDifficult (whether that holds for the system too), nearErrors (how many times more
// likely an error one step nearer to the truth is), errorRange (each error probability is multiplied
// by a random number between 1 less it and 1 and it), skew (how many times as frequent as the next
// category each is), sharedMistakes (share of the items that mislead raters and system alike).

// So that the same errors are preferred whenever a setting is seen.
const ERRORS_SEED = 5;

function baseRates({ categories, skew }) {
  const rates = Array.from({ length: categories }, (_, k) => skew ** -k);
  const total = sum(rates);
  return rates.map((rate) => rate / total);
}

/** Rows are true categories, columns answers; errors fall with their distance from the truth. */
function confusionMatrix(accuracy, categories, nearErrors) {
  const steps = [...Array(categories).keys()];
  return steps.map((truth) => {
    const weights = steps.map((k) => (k === truth ? 0 : nearErrors ** (1 - Math.abs(k - truth))));
    const total = sum(weights);
    return weights.map((w, k) => (k === truth ? accuracy : ((1 - accuracy) * w) / total));
  });
}

/** Multiplies errors by random numbers; the mean of the right answers stays what it was. */
function varyErrors(matrix, range, rates, random) {
  const accuracy = matrix[0][0];
  const varied = matrix.map((row, truth) =>
    row.map((p, k) => p * (1 + range * (2 * random() - 1) * (k === truth ? 0 : 1))),
  );
  const right = scaleToMean(
    varied.map((row, truth) => row[truth] / sum(row)),
    accuracy,
    rates,
  );
  return varied.map((row, truth) => {
    const wrong = sum(row) - row[truth];
    return row.map((p, k) => {
      if (k === truth) return right[truth];
      return wrong > 0 ? (p * (1 - right[truth])) / wrong : 0;
    });
  });
}

/** Multiplies values by the factor at which, none above 1, their weighted mean is as given. */
function scaleToMean(values, mean, weights) {
  let scaled = values;
  const full = values.map(() => false);
  for (let round = 0; round < values.length; round++) {
    const free = sum(values.map((value, i) => (full[i] ? 0 : weights[i] * value)));
    const left = mean - sum(weights.map((weight, i) => (full[i] ? weight : 0)));
    scaled = values.map((value, i) => (full[i] ? 1 : value > 0 ? (value * left) / free : 0));
    if (scaled.every((value) => value <= 1)) break;
    scaled.forEach((value, i) => (full[i] ||= value > 1));
  }
  return scaled.map((value) => Math.min(1, value));
}

/** The confusion matrices at each level of difficulty: of each rater and, last, of the system. */
function confusionByLevel(settings) {
  const d = settings.difficultyRange;
  const { categories, nearErrors, errorRange } = settings;
  const rates = baseRates(settings);
  const random = seededRandom(ERRORS_SEED);
  const matrix = (accuracy, change) => {
    const reached = Math.min(1, Math.max(0, accuracy + change));
    const found = confusionMatrix(reached, categories, nearErrors);
    return errorRange > 0 ? varyErrors(found, errorRange, rates, random) : found;
  };
  return (d > 0 ? [-d, 0, d] : [0]).map((change) => [
    ...settings.raters.map((accuracy) => matrix(accuracy, change)),
    matrix(settings.system, settings.systemFindsDifficult ? change : 0),
  ]);
}

/** How often the items look to everybody like each category, whatever their true one. */
function perceivedRates(settings) {
  const shared = settings.sharedMistakes;
  return baseRates(settings).map(
    (rate) => (1 - shared) * rate + (shared * (1 - rate)) / (settings.categories - 1),
  );
}

/** The expected accuracy of the system, which every method is to estimate. */
function trueAccuracy(settings) {
  const k = settings.categories;
  const shared = settings.sharedMistakes;
  const rates = baseRates(settings);
  const levels = confusionByLevel(settings).map((matrices) => {
    const system = matrices[matrices.length - 1];
    return sum(
      rates.map((rate, truth) => {
        const misled = sum(system.map((row, seen) => (seen === truth ? 0 : row[truth])));
        return rate * ((1 - shared) * system[truth][truth] + (shared * misled) / (k - 1));
      }),
    );
  });
  return sum(levels) / levels.length;
}

/** Confusion matrices averaged over the levels of difficulty. */
function averageConfusion(settings) {
  const levels = confusionByLevel(settings);
  return levels[0].map((matrix, j) =>
    matrix.map((row, truth) =>
      row.map((_, k) => sum(levels.map((level) => level[j][truth][k])) / levels.length),
    ),
  );
}

/**
 * The probability of each pattern. Its index has the ratings as digits to the base K, the first
 * rater's first, and the system's answer last.
 */
function patternProbabilities(settings) {
  const k = settings.categories;
  const rates = perceivedRates(settings);
  const levels = confusionByLevel(settings);
  const total = new Float64Array(k ** (settings.raters.length + 1));
  for (const matrices of levels) {
    for (let seen = 0; seen < k; seen++) {
      // Answers are independent given the level and the category that everybody sees.
      let joint = Float64Array.of(rates[seen] / levels.length);
      for (const matrix of matrices) joint = outer(joint, matrix[seen]);
      for (let i = 0; i < joint.length; i++) total[i] += joint[i];
    }
  }
  return total;
}

function outer(first, second) {
  const k = second.length;
  const product = new Float64Array(first.length * k);
  for (let i = 0; i < first.length; i++) {
    for (let j = 0; j < k; j++) product[i * k + j] = first[i] * second[j];
  }
  return product;
}

function sum(values) {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total;
}
