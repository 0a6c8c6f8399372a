"""Speed of models and of simulation, as a ratio to a peer on the same data sets.

Sampling: effective draws of the system's accuracy a CPU-second, the lesser of bulk and tail. The
peer samples the same posterior of `dawid_skene` from the same start: NumPyro's NUTS, the likelihood
in the same product form, a whole run in one jit. All in one process, CPU time, after compiling,
alternated on the same data sets. Gibbs sampling is measured against NUTS.

Maximum likelihood: crowd-kit's DawidSkene. Both start at each item's proportions of votes and go to
the same optimum: for each data set crowd-kit has the loosest tolerance, a power of ten, that brings
its log-likelihood to within 1e-6 of ours. Everything from a table of ratings in memory to labelled
estimates counts.

Simulation and estimation of many samples at once: `tests/reference/loop.py`, sample by sample. Both
draw base rates and confusion matrices afresh for each sample, and take the paper's step 4.
"""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

import bayes_models
from bayes_models import observe
from bayes_models.models.spec import conjugate_models
from bayes_models.posterior.diagnostics import ess
from bayes_models.sampling.gibbs import sample_conjugate
from bayes_models.sampling.nuts import compile_model, sample
from bayes_models.sampling.start import em_start
from experiments.benchmarks.bar import Bar, cpu_seconds
from experiments.paper.figure_scenarios import FIGURES
from lehner import Patterns, Ratings, Scenario, fit_latent_class, simulate, simulate_estimates
from lehner.core.arrays import Floats
from lehner.latent_class.em import LatentClasses, expect, tabulate
from tests.reference.loop import simulate_and_estimate

OURS: dict[str, Any] = {"draws": 230, "tune": 50, "target_accept": 0.7, "progress_bar": False}
# The posterior differs with the priors: the peer has no other one for the system.
OF_PEERS = {"system_confusion": "diagonal"}
EFFECTIVE = 1000

type Run = tuple[float, Floats]
type Sample = Callable[[Patterns, int], Run]
"""From data and a seed to CPU seconds and draws."""
N_DATA = 3
CROWDS = {(10_000, 100): 0.1, (20_000, 800): 1.0}
"""Items and raters, and what the ratio is to be at most."""
DIGITS = range(9, 13)
SAME = 1e-6
SIMULATION_ROUNDS = 7
SAMPLES = 10_000
LOOP_SAMPLES = {50: 300, 200: 300, 5000: 100}
MOST_OF_LOOP = {50: 1 / 20, 200: 1 / 20, 5000: 1 / 60}


def _bar(
    name: str, peer: str, data: list[Patterns], ours: Sample, theirs: Sample, times: float | None
) -> Bar:
    """CPU seconds for 1,000 effective draws, after a run of each that may compile."""
    ours(data[0], 0), theirs(data[0], 0)
    costs = [(_cost(*ours(one, i)), _cost(*theirs(one, i))) for i, one in enumerate(data)]
    most = 1 / times if times else None
    return Bar(name=f"{name}, {EFFECTIVE:,} effective draws", peer=peer, rounds=costs, most=most)


def _cost(seconds: float, draws: Floats) -> float:
    """CPU seconds for 1,000 effective draws, from those for some, of shape (chain, draw)."""
    return EFFECTIVE * seconds / float(min(ess(draws, "bulk"), ess(draws, "tail")))


def base(n_items: int, seed: int) -> Patterns:
    """Three raters of accuracy .5, .6 and .7 and a system of .9, five categories."""
    scenario = Scenario(initial_rater_accuracy=(0.5, 0.6, 0.7), n_items=n_items)
    return observe(simulate(scenario, seed))


def crowd(seed: int) -> Patterns:
    """10,000 items, 99 raters and a system, 5 ratings of each item, 4 categories."""
    rng = np.random.default_rng(seed)
    n_items, n_raters, k = 10_000, 99, 4
    truth = rng.integers(0, k, n_items)
    accuracy = rng.uniform(0.4, 0.9, n_raters + 1)
    raters = rng.random((n_items, n_raters)).argsort(axis=1)[:, :4]
    right = rng.random((n_items, n_raters + 1)) < accuracy
    wrong = (truth[:, None] + rng.integers(1, k, right.shape)) % k
    answers = np.where(right, truth[:, None], wrong)
    codes = np.full((n_items, n_raters), -1)
    np.put_along_axis(codes, raters, np.take_along_axis(answers, raters, axis=1), axis=1)
    return observe(Ratings(codes, list("abcd"), system=answers[:, -1]))


def _timed(run: Callable[[], Floats]) -> Run:
    start = time.process_time()
    draws = run()
    return time.process_time() - start, draws


def _ours(
    observed: Patterns,
    seed: int,
    chains: int = 4,
    model: str = "dawid_skene",
    priors: dict[str, str] | None = None,
    **sampling: Any,
) -> Run:
    compiled = compile_model(model, observed, priors)
    options = OURS | sampling
    draw = partial(sample, compiled, seed=seed, chains=chains, cores=1, **options)
    return _timed(lambda: draw()["posterior"]["system_accuracy"].values)


def against_numpyro() -> Iterator[Bar]:
    """Compare with NumPyro, if it is installed."""
    if find_spec("numpyro") is None:
        print("NumPyro: skipped, it is not installed", file=sys.stderr)
        return
    of_crowd: dict[str, Any] = {"chains": 1, "tune": 100, "draws": 400}
    for name, data, times, options in (
        ("n = 200", [base(200, seed) for seed in range(12)], 1.2, {}),
        ("crowd", [crowd(s) for s in range(6)], 2, of_crowd),
    ):
        ours = partial(_ours, priors=OF_PEERS, **options)
        peer = _numpyro(data, warmup=100, draws=400)
        yield _bar(f"dawid_skene, {name}", "NumPyro", data, ours, peer, times)


def _numpyro(many: list[Patterns], warmup: int, draws: int) -> Sample:
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS, init_to_value

    jax.config.update("jax_enable_x64", True)
    k, n_raters = many[0].n_categories, len(many[0].raters)
    n_patterns = max(len(patterns.counts) for patterns in many)
    n_slots = max(int(np.diff(patterns.starts).max()) for patterns in many)
    concentration = jnp.asarray(bayes_models.diagonal_concentration(k))

    def model(rows: Any, counts: Any) -> None:
        base_rates = numpyro.sample("base_rates", dist.Dirichlet(3.0 * jnp.ones(k)))
        shape = (n_raters, k, k)
        prior = dist.Dirichlet(jnp.broadcast_to(concentration, shape)).to_event(2)
        confusion = numpyro.sample("confusion", prior)
        table = jnp.concatenate([confusion.transpose(0, 2, 1).reshape(-1, k), jnp.ones((1, k))])
        joint = base_rates
        for slot in range(n_slots):
            joint = joint * table[rows[:, slot]]
        numpyro.factor("likelihood", counts @ jnp.log(joint.sum(axis=-1)))
        numpyro.deterministic("accuracy", (base_rates * jnp.diagonal(confusion[-1])).sum())

    @jax.jit
    def run(key: Any, rows: Any, counts: Any, start: Any) -> Any:
        kernel = NUTS(model, init_strategy=init_to_value(values=start))
        sampler = MCMC(kernel, num_warmup=warmup, num_samples=draws, progress_bar=False)
        sampler.run(key, rows, counts)
        return sampler.get_samples()["accuracy"]

    def peer(observed: Patterns, seed: int) -> Run:
        rows = np.full((n_patterns, n_slots), n_raters * k)
        pattern = np.repeat(np.arange(len(observed.counts)), np.diff(observed.starts))
        slot = np.arange(len(pattern)) - observed.starts[pattern]
        rows[pattern, slot] = observed.cells
        counts = np.zeros(n_patterns)
        counts[: len(observed.counts)] = observed.counts
        at = em_start(observed)
        start = {"base_rates": at.base_rates, "confusion": at.confusion}
        key = jax.random.PRNGKey(seed)
        return _timed(lambda: np.asarray(run(key, rows, counts, start))[None])

    return peer


def against_nuts() -> Iterator[Bar]:
    """Compare Gibbs sampling with NUTS."""
    for model in conjugate_models():
        for n_items, times in {50: 5, 200: 5, 1000: None}.items():
            data = [base(n_items, seed) for seed in range(12)]
            ours, peer = partial(_conjugate, model=model), partial(_ours, model=model)
            most = times if model == "dawid_skene" else None
            yield _bar(f"{model} by Gibbs, n = {n_items}", "NUTS", data, ours, peer, most)


def _conjugate(observed: Patterns, seed: int, model: str) -> Run:
    options: dict[str, Any] = {"draws": 4000, "tune": 200, "chains": 4}
    return _timed(
        lambda: sample_conjugate(model, observed, seed=seed, **options)["system_accuracy"].values
    )


def against_crowd_kit() -> Iterator[Bar]:
    """Compare maximum likelihood with crowd-kit on crowds of 100 and 800 raters."""
    if find_spec("crowdkit") is None:
        print("crowd-kit is not installed: no row for it", file=sys.stderr)
        return
    for (n_items, n_raters), most in CROWDS.items():
        tables = [crowd_table(seed, n_items, n_raters) for seed in range(N_DATA)]
        rounds = [_to_same_likelihood(table) for table in tables]
        size, peer = f"{n_items:,} × {n_raters}", "crowd-kit's Dawid-Skene"
        yield Bar(name=f"fit_latent_class, {size}", peer=peer, rounds=rounds, most=most)


def _to_same_likelihood(table: pd.DataFrame) -> tuple[float, float]:
    """Time both fits, crowd-kit's with the first tolerance that comes as far as ours."""
    from crowdkit.aggregation import DawidSkene

    ours = cpu_seconds(partial(_fit, table))
    reached = _fit(table).log_likelihood - SAME
    for digits in DIGITS:
        peer = DawidSkene(n_iter=100_000, tol=10.0**-digits)
        theirs = cpu_seconds(partial(peer.fit, table))
        if _log_likelihood_of(peer, table) > reached:
            break
    return ours, theirs


def crowd_table(seed: int, n_items: int, n_raters: int) -> pd.DataFrame:
    """5 ratings of each item by random raters, 4 categories, a row per rating."""
    rng = np.random.default_rng(seed)
    per_item, k = 5, 4
    truth = rng.integers(0, k, n_items)
    accuracy = rng.uniform(0.4, 0.9, n_raters)
    rater = rng.random((n_items, n_raters)).argsort(axis=1)[:, :per_item]
    right = rng.random(rater.shape) < accuracy[rater]
    wrong = (truth[:, None] + rng.integers(1, k, rater.shape)) % k
    rating = np.where(right, truth[:, None], wrong)
    item = np.repeat(np.arange(n_items), per_item)
    return pd.DataFrame({"task": item, "worker": rater.ravel(), "label": rating.ravel()})


def _log_likelihood_of(peer: Any, table: pd.DataFrame) -> float:
    """Log-likelihood of crowd-kit's parameters."""
    ratings = _read(table)
    classes = list(ratings.categories)
    errors = peer.errors_.unstack("label").reindex(
        columns=pd.MultiIndex.from_product([classes] * 2)
    )
    by_rater = errors.loc[[int(rater) for rater in ratings.raters]].fillna(0.0).to_numpy()
    fit = LatentClasses(
        base_rates=peer.priors_.loc[classes].to_numpy(),
        confusion=by_rater.reshape(ratings.n_raters, len(classes), len(classes)),
    )
    patterns, _ = tabulate(ratings)
    return float(patterns.weights @ expect(patterns, fit)[1])


def _read(table: pd.DataFrame) -> Ratings:
    return Ratings.from_long(table, item="task", rater="worker", rating="label")


def _fit(table: pd.DataFrame) -> Any:
    return fit_latent_class(_read(table), "dawid_skene")


def against_loop() -> Iterator[Bar]:
    """Measure where the K-properties hold, and where they are violated, which has no bar."""
    for figure, most in {3: MOST_OF_LOOP, 13: {}}.items():
        for n_items, n_loop in LOOP_SAMPLES.items():
            scenario = replace(FIGURES[figure].scenario(0.9), n_items=n_items)
            yield Bar(
                name=f"{SAMPLES:,} samples of {n_items:,} items, Figure {figure}",
                peer="one at a time",
                rounds=[_simulate_round(scenario, n_loop) for _ in range(SIMULATION_ROUNDS)],
                most=most.get(n_items),
            )


def _simulate_round(scenario: Scenario, n_loop: int) -> tuple[float, float]:
    rng = np.random.default_rng(1)
    loop = cpu_seconds(lambda: [simulate_and_estimate(scenario, rng) for _ in range(n_loop)])
    batch = cpu_seconds(
        lambda: simulate_estimates(scenario, SAMPLES, methods=["algebraic_paper"], in_sample=False)
    )
    return batch, loop * SAMPLES / n_loop
