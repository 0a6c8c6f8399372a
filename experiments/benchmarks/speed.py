"""All speed bars in one table: what it costs, as a ratio to a named peer of the same run.

Run in a clone: `python -m uv run --group benchmark python -m experiments.benchmarks [NAME …]`.
Names: commands, crowd, numpyro, reading, sizes; all by default. Times are CPU seconds, taken in
turn with those of a peer on the same data, since machines differ and loads change. A peer that is
not installed has a line that says so instead.

commands: in a process of their own, against the import of pandas or PyMC.

crowd: maximum likelihood against crowd-kit's DawidSkene. Both start at each item's proportions of
votes and go to the same optimum: for each data set crowd-kit has the loosest tolerance, a power of
ten, that brings its log-likelihood to within 1e-6 of ours. Everything from a table of ratings in
memory to labelled estimates counts.

numpyro: effective draws of the system's accuracy a CPU-second, the lesser of bulk and tail, after
compiling. NumPyro's NUTS samples the same posterior of `dawid_skene` from the same start: the
likelihood in the same product form, a whole run in one jit.

reading: a million ratings, of items, raters and categories that have names, against
`pandas.read_csv` of the same file in the same process, in turn, after a first reading by both.

sizes: how CPU seconds grow from 100,000 to a million ratings by 100 raters (the slope of their
logarithms), and the peak memory with ten million ratings by 10 raters, in a process each.

`--csv FILE` also writes the table into a file; sizes_by_ratings.csv is that of sizes.
"""

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

import bayes_models
import lehner
from bayes_models.posterior.draws import compute_ess
from bayes_models.sampling import nuts
from bayes_models.sampling.start import start_at_vote
from lehner import Patterns, Ratings, Scenario
from lehner.core.arrays import Floats
from lehner.core.errors import find
from lehner.core.estimate import Row

PACKAGES = ("numpy", "numba", "pandas", "pymc", "nutpie", "crowd-kit", "numpyro")
# How often each command is run.
ROUNDS = 5
ESTIMATE = ["estimate", "lehner_table2", "--system", "System"]
LEHNER = "from lehner.command.main import main; main()"
# Items and raters, and what the ratio is to be at most.
CROWDS = {(10_000, 100): 0.1, (20_000, 800): 1.0}
# Items and raters of the tables that are read, and how often each is.
READ, READINGS = (200_000, 100), 7
# Numbers of items, with five ratings each, and of raters; and what is done with each file.
SIZES = {2_000: 100, 20_000: 100, 200_000: 100, 2_000_000: 10}
WORK = {
    "reading": "del ratings; ratings = lehner.read_ratings(path, **columns)",
    "estimate algebraic": "lehner.estimate(ratings, 'algebraic')",
    "estimate learned_prior": "lehner.estimate(ratings, 'learned_prior')",
    "agreement": "lehner.agreement(ratings)",
    "estimate dawid_skene_ml": "lehner.estimate(ratings, 'dawid_skene_ml')",
}
MOST_SLOPE = 1.1
# The first file is read and worked on before the clock starts, so that all modules are loaded.
# The peak is that of the process: `resource` gives that of its parent if it is higher.
BY_SIZE = """
import sys, time
import lehner

columns = {{"item": "task", "rater": "worker", "rating": "label", "system": "0"}}
for path in sys.argv[1:]:
    ratings = lehner.read_ratings(path, **columns)
    start = time.process_time()
    {work}
seconds = time.process_time() - start
print(seconds, int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1e6)
"""
SAME_LIKELIHOOD = 1e-6
EFFECTIVE = 1000

# A function of data and a seed that gives CPU seconds and draws, of shape (chain, draw).
type Sample = Callable[[Patterns, int], tuple[float, Floats]]


def make_row(
    name: str, peer: str, rounds: Sequence[tuple[float, float]], most: float, more: float = 0.0
) -> Row:
    """Compare what something costs with what its peer costs.

    Parameters
    ----------
    name, peer : str
    rounds : sequence of tuple of float
        CPU seconds of both in each round, or on each data set.
    most : float
        What the ratio of the medians is to be at most.
    more : float
        CPU seconds that are allowed in addition.

    Returns
    -------
    dict
        A row of the table: medians, their ratio, and the largest ratio of a round.
    """
    cost, cost_of_peer = (statistics.median(column) for column in zip(*rounds, strict=True))
    largest = max(ours / theirs for ours, theirs in rounds)
    row = {"name": name, "CPU-s": cost, "peer": peer, "CPU-s of peer": cost_of_peer}
    bar = f"at most {most:.2g}" + (f", and {more:g} CPU-s" if more else "")
    verdict = "met" if cost <= most * cost_of_peer + more else "missed"
    ratio = cost / cost_of_peer
    return row | {"ratio": ratio, "largest": largest, "is to be": bar, "verdict": verdict}


def compare_commands() -> Iterator[Row]:
    """Measure commands without a model, and one with models."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "ratings.csv"))
        lehner.simulate(Scenario(), 1).to_wide().drop(columns="truth").to_csv(path, index=False)
        for name, arguments in {
            "estimate --method algebraic": [*ESTIMATE, "--method", "algebraic"],
            "estimate --method learned_prior": [*ESTIMATE, "--method", "learned_prior"],
            "agreement": ["agreement", "lehner_table2"],
            "check, 200 items": ["check", path, "--system", "system"],
        }.items():
            rounds = [(_run(LEHNER, arguments), _run("import pandas")) for _ in range(ROUNDS)]
            yield make_row(name, "import pandas", rounds, most=1.2)
        _run(LEHNER, ESTIMATE)
        rounds = [(_run(LEHNER, ESTIMATE), _run("import pymc")) for _ in range(ROUNDS)]
        yield make_row("estimate, second run", "import pymc", rounds, most=1.3, more=3)


def _run(code: str, arguments: Sequence[str] = ()) -> float:
    """Measure the CPU seconds of a new process that runs code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", code, *arguments]
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare_crowd_kit() -> Iterator[Row]:
    """Compare maximum likelihood with crowd-kit on crowds of 100 and 800 raters."""
    for (n_items, n_raters), most in CROWDS.items():
        tables = [draw_crowd(seed, n_items, n_raters) for seed in range(3)]
        rounds = [_fit_to_same_likelihood(table) for table in tables]
        name = f"fit_latent_class, {n_items:,} × {n_raters}"
        yield make_row(name, "crowd-kit's Dawid-Skene", rounds, most)


def draw_crowd(seed: int, n_items: int, n_raters: int) -> pd.DataFrame:
    """Draw 5 ratings of each item by random raters, with 4 categories and a row per rating."""
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


def _read(table: pd.DataFrame) -> Ratings:
    return Ratings.from_long(table, item="task", rater="worker", rating="label")


def _fit_to_same_likelihood(table: pd.DataFrame) -> tuple[float, float]:
    """Time both fits, crowd-kit's with the first tolerance that comes as far as ours."""
    from crowdkit.aggregation import DawidSkene

    ours, fit = _time(lambda: lehner.fit_latent_class(_read(table), "dawid_skene"))
    reached = fit.log_likelihood - SAME_LIKELIHOOD
    for digits in range(9, 13):
        peer = DawidSkene(n_iter=100_000, tol=10.0**-digits)
        theirs, _ = _time(partial(peer.fit, table))
        if _compute_log_likelihood(peer, table) > reached:
            break
    return ours, theirs


def _compute_log_likelihood(peer: Any, table: pd.DataFrame) -> float:
    """Compute the log-likelihood of crowd-kit's parameters."""
    rated = pd.MultiIndex.from_frame(table[["worker", "label"]])
    log_errors = np.log(peer.errors_).reindex(rated).set_axis(table["task"])
    joint = log_errors.groupby(level=0).sum() + np.log(peer.priors_)
    return float(special.logsumexp(joint, axis=1).sum())


def compare_reading() -> Iterator[Row]:
    """Compare the reading of tables of three shapes with pandas'."""
    long = draw_crowd(1, *READ).astype(str).radd(["i", "w", "category "])
    wide = pd.DataFrame(long["label"].to_numpy().reshape(READ[0], -1)).add_prefix("rater ")
    tables = {"long": long, "wide": wide.assign(item=long["task"].unique())}
    tables["shuffled"] = long.sample(frac=1, random_state=1)
    with tempfile.TemporaryDirectory() as folder:
        for shape, table in tables.items():
            path = f"{folder}/{shape}.csv"
            table.to_csv(path, index=False)
            ours, theirs = partial(lehner.read_ratings, path), partial(pd.read_csv, path)
            rounds = [(_time(ours)[0], _time(theirs)[0]) for _ in range(READINGS + 1)]
            name = f"reading, {len(long):,} ratings, {shape}"
            yield make_row(name, "pandas.read_csv", rounds[1:], most=3.5)


def compare_sizes() -> Iterator[Row]:
    """Measure how CPU seconds grow with the number of ratings, and the peak memory of many."""
    with tempfile.TemporaryDirectory() as folder:
        for n_items, n_raters in SIZES.items():
            draw_crowd(1, n_items, n_raters).to_csv(f"{folder}/{n_items}.csv", index=False)
        growing = list(SIZES)[:3]
        for name, work in WORK.items():
            sizes = growing if "ml" in name else list(SIZES)
            rows = [_measure_work(name, work, folder, n_items) for n_items in sizes]
            yield from rows
            slope = np.log10(rows[2]["CPU-s"] / rows[1]["CPU-s"])
            verdict = "met" if slope <= MOST_SLOPE else "missed"
            row = {"name": f"{name}: slope to {5 * growing[-1]:,}", "ratio": float(slope)}
            yield row | {"is to be": f"at most {MOST_SLOPE}", "verdict": verdict}


def _measure_work(name: str, work: str, folder: str, n_items: int) -> Row:
    """Measure CPU seconds of work on a file, and the peak memory of its process."""
    paths = [f"{folder}/{n}.csv" for n in (min(SIZES), n_items)]
    command = [sys.executable, "-c", BY_SIZE.format(work=work), *paths]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds, memory = map(float, printed.split())
    return {"name": f"{name}, {5 * n_items:,} ratings", "CPU-s": seconds, "GB": memory}


def compare_numpyro() -> Iterator[Row]:
    """Compare NUTS with NumPyro's, on few items and on a crowd, one of whom is the system."""
    # Three raters (accuracy .5, .6, .7) and a system (.9), five categories.
    scenario = Scenario(initial_rater_accuracy=(0.5, 0.6, 0.7), n_items=200)
    few = [
        bayes_models.observe(lehner.simulate(scenario, seed).with_truth(None)) for seed in range(12)
    ]
    crowds = [
        bayes_models.observe(_read(draw_crowd(seed, 10_000, 100)).with_system("0"))
        for seed in range(6)
    ]
    of_crowd: dict[str, Any] = {"chains": 1, "tune": 100, "draws": 400}
    for name, data, times, options in (("n = 200", few, 1.2, {}), ("crowd", crowds, 2, of_crowd)):
        # The posterior differs with the priors: the peer has no other one for the system.
        ours: Sample = partial(_sample_nuts, priors={"system_confusion": "diagonal"}, **options)
        peer = _prepare_numpyro(data, warmup=100, draws=400)
        # A first run of each may compile.
        ours(data[0], 0), peer(data[0], 0)
        rounds = [
            (_compute_cost(*ours(observed, i)), _compute_cost(*peer(observed, i)))
            for i, observed in enumerate(data)
        ]
        name = f"dawid_skene, {name}, {EFFECTIVE:,} effective draws"
        yield make_row(name, "NumPyro", rounds, most=1 / times)


def _compute_cost(seconds: float, draws: Floats) -> float:
    return EFFECTIVE * seconds / float(min(compute_ess(draws, "bulk"), compute_ess(draws, "tail")))


def _time[Result](work: Callable[[], Result]) -> tuple[float, Result]:
    """Measure the CPU seconds of this process that something takes, and give what it returns."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def _sample_nuts(
    observed: Patterns, seed: int, priors: dict[str, str], **sampling: Any
) -> tuple[float, Floats]:
    compiled = nuts.compile_model("dawid_skene", observed, priors)
    options: dict[str, Any] = {"draws": 230, "tune": 50, "chains": 4, "target_accept": 0.7}
    options |= {"progress_bar": False, "cores": 1, "seed": seed} | sampling
    return _time(lambda: nuts.sample(compiled, **options)["posterior"]["system_accuracy"].values)


def _prepare_numpyro(many: list[Patterns], warmup: int, draws: int) -> Sample:
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS, init_to_value

    jax.config.update("jax_enable_x64", True)
    k, n_raters = many[0].n_categories, len(many[0].raters)
    n_patterns = max(len(patterns.counts) for patterns in many)
    n_slots = max(int(np.diff(patterns.starts).max()) for patterns in many)
    concentration = jnp.asarray(bayes_models.make_diagonal_concentration(k))

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

    def run_peer(observed: Patterns, seed: int) -> tuple[float, Floats]:
        rows = np.full((n_patterns, n_slots), n_raters * k)
        pattern = np.repeat(np.arange(len(observed.counts)), np.diff(observed.starts))
        slot = np.arange(len(pattern)) - observed.starts[pattern]
        votes = observed.votes
        rows[pattern, slot] = votes.rater_index * k + votes.category_index
        counts = np.zeros(n_patterns)
        counts[: len(observed.counts)] = observed.counts
        at = start_at_vote(observed)
        start = {"base_rates": at.base_rates, "confusion": at.confusion}
        key = jax.random.PRNGKey(seed)
        return _time(lambda: np.asarray(run(key, rows, counts, start))[None])

    return run_peer


MEASURED: dict[str, Callable[[], Iterator[Row]]] = {
    "commands": compare_commands,
    "crowd": compare_crowd_kit,
    "numpyro": compare_numpyro,
    "reading": compare_reading,
    "sizes": compare_sizes,
}
# The module of a peer that may not be installed.
NEEDED = {"crowd": "crowdkit", "numpyro": "numpyro"}


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="*", help=", ".join(MEASURED))
    parser.add_argument("--csv", help="a file for the table")
    arguments = parser.parse_args()
    names = arguments.name or list(MEASURED)
    parts = {name: find("part of the benchmark", name, MEASURED) for name in names}
    versions = {package.name: package.version for package in distributions()}
    packages = ", ".join(f"{name} {versions.get(name, 'not installed')}" for name in PACKAGES)
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors")
    print(f"Python {platform.python_version()}, {packages}")
    warnings.simplefilter("ignore")
    rows: list[Row] = []
    for name, measure in parts.items():
        if find_spec(NEEDED.get(name, "numpy")) is None:
            print(f"{name}: {NEEDED[name]} is not installed", file=sys.stderr)
        else:
            rows += measure()
    table = pd.DataFrame(rows)
    print(table.to_string(index=False, float_format="{:.2f}".format))
    if arguments.csv:
        table.round(3).to_csv(arguments.csv, index=False)
