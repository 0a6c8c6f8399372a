"use strict";
// Expectation-maximisation with extrapolation, as lehner.latent_class.accelerated_em but without
// its perturbations, which help where a search starts at random.

const STILL = 1e-10;
const MOST_STEPS = 20000;
const SLACK = 0.1; // how much an extrapolation may lower the likelihood: later steps make up for it
const FLOOR = 1e-100;

/**
 * Two steps and an extrapolation of the logarithms (SQUAREM, Varadhan & Roland 2008), in turn,
 * until the parameters stand still or the likelihood rises by less than a share of its size.
 */
function* climb(table, start, tolerance) {
  let point = start;
  let slack = SLACK;
  let best = { point, logLikelihood: -Infinity };
  for (let steps = 0; steps < MOST_STEPS; steps += 3) {
    const now = expect(table, point);
    const first = maximise(table, now);
    yield;
    const then = expect(table, first);
    const second = maximise(table, then);
    yield;
    if (then.logLikelihood > best.logLikelihood) {
      best = { point: first, logLikelihood: then.logLikelihood };
    }
    const gain = tolerance * Math.abs(then.logLikelihood);
    if (then.logLikelihood - now.logLikelihood < gain || furthest(first, second) < STILL) {
      if (slack === 0 || then.logLikelihood >= best.logLikelihood - gain) {
        return { point: second, logLikelihood: then.logLikelihood };
      }
      [point, slack] = [best.point, 0];
      continue;
    }
    const trial = extrapolate(point, first, second, table.categories);
    const landed = expect(table, trial);
    point = landed.logLikelihood >= best.logLikelihood - slack ? maximise(table, landed) : second;
    yield;
  }
  return best;
}

function furthest(first, second) {
  let most = 0;
  for (let i = 0; i < first.length; i++) most = Math.max(most, Math.abs(first[i] - second[i]));
  return most;
}

function extrapolate(start, first, second, k) {
  const [a, b, c] = [start, first, second].map((x) => x.map((p) => Math.log(Math.max(p, FLOOR))));
  let turn = 0;
  let pace = 0;
  for (let i = 0; i < a.length; i++) {
    turn += second[i] * (c[i] - 2 * b[i] + a[i]) ** 2;
    pace += second[i] * (b[i] - a[i]) ** 2;
  }
  const size = turn === 0 ? 1 : Math.max(1, Math.sqrt(pace / turn));
  const far = second.map((p, i) => {
    const log = a[i] + 2 * size * (b[i] - a[i]) + size ** 2 * (c[i] - 2 * b[i] + a[i]);
    // A parameter that is settling sooner than the others would be thrown back.
    const kept = c[i] < b[i] ? Math.min(log, c[i]) : Math.max(log, c[i]);
    return p > FLOOR ? Math.exp(Math.min(0, Math.max(Math.log(FLOOR), kept))) : p;
  });
  normaliseRows(far, k);
  return far;
}
