"""What a fit costs: effective draws a second against two peers, and the parts of a refit.

The peers sample the same posterior of `dawid_skene` from the same start: NumPyro's NUTS, the
likelihood in the same product form, a whole run in one jit; and Stan through R, the model that
R's rater calls grouped (skipped where R has no rstan). All on one processor, CPU time, after
compiling, alternated on the same data sets. Effective draws are the lesser of bulk and tail of
the system's accuracy.

Run in a clone, on Linux:
`python -m uv run --group benchmark python -m experiments.benchmarks.fit`
"""

import os

from lehner import Patterns
from lehner.core.arrays import Floats

if __name__ == "__main__":  # before what starts threads is imported
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["OMP_NUM_THREADS"] = "1"

import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import bayes_models
from bayes_models import observe
from bayes_models.models.spec import conjugate_models
from bayes_models.posterior.convergence import ess_tail, r_hat_and_ess_bulk
from bayes_models.sampling import compiled as compiling
from bayes_models.sampling.compiled import compile_model
from bayes_models.sampling.gibbs import sample_conjugate
from bayes_models.sampling.nuts import sample
from bayes_models.sampling.start import em_start
from experiments.benchmarks.first_fit import first_fit
from experiments.study.workers import open_workers
from lehner import Ratings, Scenario, simulate

HERE = Path(__file__).parent
OURS: dict[str, Any] = {"draws": 230, "tune": 50, "target_accept": 0.7}
# The posterior differs with the priors: peers have no other one for the system.
OF_PEERS = "rater"
N_DATA = 60

type Run = tuple[float, Floats]
type Compared = tuple[str, list[list[float]]]
"""A title, and for each data set the effective draws a CPU-second, ours and the peer's."""


def main() -> None:
    """Print all comparisons."""
    warnings.simplefilter("ignore")
    only = sys.argv[1:]
    for name, compare in COMPARISONS.items():
        for title, rates in compare() if not only or name in only else ():
            _report(title, rates)
    for name, part in {
        "refit": _refits,
        "fixed": _fixed_costs,
        "first": _first_fit,
    }.items():
        if not only or name in only:
            part()


def base(n_items: int, seed: int) -> Ratings:
    """Three raters of accuracy .5, .6 and .7 and a system of .9, five categories."""
    return simulate(Scenario(initial_rater_accuracy=(0.5, 0.6, 0.7), n_items=n_items), seed)


def crowd(seed: int) -> Ratings:
    """10,000 items, 99 raters and a system, 5 ratings of each item, 4 categories."""
    rng = np.random.default_rng(seed)
    n_items, n_raters, k = 10_000, 99, 4
    truth = rng.integers(0, k, n_items)
    accuracy = rng.uniform(0.4, 0.9, n_raters + 1)
    chosen = rng.random((n_items, n_raters)).argsort(axis=1)[:, :4]
    right = rng.random((n_items, n_raters + 1)) < accuracy
    wrong = (truth[:, None] + rng.integers(1, k, right.shape)) % k
    answers = np.where(right, truth[:, None], wrong)
    codes = np.full((n_items, n_raters), -1)
    np.put_along_axis(codes, chosen, np.take_along_axis(answers, chosen, axis=1), axis=1)
    return Ratings(codes, list("abcd"), system=answers[:, -1])


def effective(draws: Floats) -> float:
    """Give the lesser of bulk and tail effective sample size, draws of shape (chain, draw)."""
    one = draws[:, :, None]
    return float(min(r_hat_and_ess_bulk(one)[1][0], ess_tail(one)[0]))


def _timed(run: Callable[[], Floats]) -> Run:
    start = time.process_time()
    draws = run()
    return time.process_time() - start, draws


def _ours(
    observed: Patterns,
    seed: int,
    chains: int = 4,
    model: str = "dawid_skene",
    priors: str | None = None,
    **sampling: Any,
) -> Run:
    density = compile_model(model, observed, priors)
    options = OURS | sampling
    return _timed(
        lambda: (
            sample(density, observed, seed=seed, chains=chains, cores=1, **options)["posterior"][
                "system_accuracy"
            ].values
        )
    )


def against_numpyro() -> Iterator[Compared]:
    """Compare with NumPyro, if it is installed."""
    if find_spec("numpyro") is None:
        print("NumPyro: skipped, it is not installed", file=sys.stderr)
        return
    for_crowd: dict[str, Any] = {"chains": 1, "tune": 100, "draws": 400}
    for name, data, ours in (
        ("n = 200", [base(200, seed) for seed in range(12)], {"priors": OF_PEERS}),
        ("crowd", [crowd(seed) for seed in range(6)], for_crowd | {"priors": OF_PEERS}),
    ):
        peer = _numpyro(data, warmup=100, draws=400)
        many = [observe(ratings) for ratings in data]
        _ours(many[0], 0, **ours)
        peer(many[0], 0)
        rates = [
            [effective(draws) / cpu for cpu, draws in (_ours(one, i, **ours), peer(one, i))]
            for i, one in enumerate(many)
        ]
        yield f"dawid_skene, {name}, against NumPyro", rates


def _numpyro(data: list[Ratings], warmup: int, draws: int) -> Callable[[Patterns, int], Run]:
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS, init_to_value

    jax.config.update("jax_enable_x64", True)
    many = [observe(ratings) for ratings in data]
    k, n_raters = many[0].n_categories, len(many[0].raters)
    n_patterns = max(len(one.counts) for one in many)
    n_slots = max(int(np.diff(one.starts).max()) for one in many)
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
        start = {name: em_start(observed)[name] for name in ("base_rates", "confusion")}
        key = jax.random.PRNGKey(seed)
        return _timed(lambda: np.asarray(run(key, rows, counts, start))[None])

    return peer


def against_stan() -> Iterator[Compared]:
    """Compare with Stan, if R has it."""
    rscript = shutil.which("Rscript")
    installed = (
        rscript is not None
        and not subprocess.run([rscript, "-e", "library(rstan)"], capture_output=True).returncode
    )
    if not installed:
        print("Stan: skipped, R has no rstan", file=sys.stderr)
        return
    for n_items, n_data in ((200, 6), (5000, 3)):
        many = [observe(base(n_items, seed)) for seed in range(n_data)]
        theirs = _stan(many)
        _ours(many[0], 0, priors=OF_PEERS)
        rates = [
            [effective(draws) / cpu for cpu, draws in (_ours(one, i, priors=OF_PEERS), theirs[i])]
            for i, one in enumerate(many)
        ]
        yield f"dawid_skene, n = {n_items}, against Stan", rates


def _stan(many: list[Patterns]) -> list[Run]:
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for i, ratings in enumerate(many):
            start = em_start(ratings)
            k, counts = ratings.n_categories, ratings.counts
            responses = ratings.flat.category_index
            data = {
                "P": len(counts),
                "J": len(ratings.raters),
                "K": k,
                "y": (responses.reshape(len(counts), -1) + 1).tolist(),
                "count": counts.tolist(),
                "alpha": [3.0] * k,
                "beta": bayes_models.diagonal_concentration(k).tolist(),
                "pi": start["base_rates"].tolist(),
                "theta": start["confusion"].tolist(),
                "warmup": 500,
                "draws": 1000,
            }
            files.append(Path(folder) / f"{i}.json")
            files[-1].write_text(json.dumps(data))
        script = ["Rscript", str(HERE / "grouped.R"), str(HERE / "grouped.stan"), *map(str, files)]
        lines = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    cpu = [float(line.split()[1]) for line in lines.splitlines() if line.startswith("CPU")]
    draws = [
        np.array(line.split()[1:], dtype=float)[None]
        for line in lines.splitlines()
        if line.startswith("DRAWS")
    ]
    return list(zip(cpu, draws, strict=True))


def against_nuts() -> Iterator[Compared]:
    """Compare Gibbs sampling with NUTS."""
    for model in conjugate_models():
        for n_items in (50, 200, 1000):
            many = [observe(base(n_items, seed)) for seed in range(12)]
            options = {"draws": 4000, "tune": 200, "chains": 4}
            for engine in (_conjugate, _ours):
                engine(many[0], 0, model=model)
            rates = [
                [
                    effective(draws) / cpu
                    for cpu, draws in (
                        _conjugate(one, i, model=model, **options),
                        _ours(one, i, model=model),
                    )
                ]
                for i, one in enumerate(many)
            ]
            yield f"{model}, n = {n_items}, Gibbs against NUTS", rates


def _conjugate(
    observed: Patterns,
    seed: int,
    *,
    model: str,
    draws: int = 1,
    tune: int = 0,
    chains: int = 1,
) -> Run:
    return _timed(
        lambda: (
            sample_conjugate(model, observed, seed=seed, draws=draws, tune=tune, chains=chains)[
                "system_accuracy"
            ].values
        )
    )


def _refits() -> None:
    quick = {"dawid_skene": OURS, "relaxed_k": {}}
    for model, options in quick.items():
        data = [base(200, seed) for seed in range(100, 101 + N_DATA)]
        trees = bayes_models.fit_many(model, data, **options)
        next(trees)
        compiled_before = len(compiling._compiled)
        seconds = []
        for _ in range(N_DATA):
            start = time.process_time()
            tree = next(trees)
            bayes_models.estimate_from_draws(tree)
            cpu = time.process_time() - start
            seconds.append((cpu, json.loads(tree.attrs["diagnostics"])))
        first = [c for c, d in seconds if d["tries"] == 1]
        enough = [min(d["ess_bulk"], d["ess_tail"]) >= 400 and d["tries"] == 1 for _, d in seconds]
        print(
            f"{model}, n = 200, data in to estimates out: median {statistics.median(first):.3f} "
            f"CPU-s, most {max(first):.3f}; {sum(enough)} of {N_DATA} at the first try with 400 "
            f"effective draws or more and no other failure; with a second try "
            f"{sum(min(d['ess_bulk'], d['ess_tail']) >= 400 for _, d in seconds)} of {N_DATA}, at "
            f"most {max(c for c, _ in seconds):.2f} CPU-s; "
            f"compilations meanwhile: {len(compiling._compiled) - compiled_before}"
        )


def _fixed_costs() -> None:
    observed = observe(base(200, 1))
    _ours(observed, 1)
    cpu = [_ours(observed, i, draws=1, tune=1)[0] for i in range(50)]
    print(f"fixed cost of a fit (1 + 1 draws): median {1e3 * statistics.median(cpu):.1f} CPU-ms")
    data = [base(200, seed) for seed in range(50)]
    for _ in bayes_models.fit_many("dawid_skene", data, tries=1, **OURS):
        pass
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in bayes_models.fit_many("dawid_skene", data * 10, tries=1, **OURS):
        pass
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(f"500 fits grow memory by {grown / 1024:.1f} MB")


def _first_fit() -> None:
    for model in ("dawid_skene", "relaxed_k"):
        for _ in range(2):
            start = time.perf_counter()
            code = f"from experiments.benchmarks.first_fit import first_fit; first_fit({model!r})"
            subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
            alone = time.perf_counter() - start
            with open_workers(2, modules=[first_fit.__module__]) as workers:
                assert workers.executor is not None
                of_study = workers.executor.submit(first_fit, model).result()
        print(
            f"{model}: a new process has its first fit {alone:.1f} s after its start, a worker of "
            f"a study {of_study:.1f} s after its own"
        )


COMPARISONS: dict[str, Callable[[], Iterator[Compared]]] = {
    "numpyro": against_numpyro,
    "stan": against_stan,
    "gibbs": against_nuts,
}


def _report(title: str, rates: list[list[float]]) -> None:
    ratios = [ours / theirs for ours, theirs in rates]
    ours, theirs = (statistics.median(column) for column in zip(*rates, strict=True))
    print(
        f"{title}: effective draws a CPU-second {ours:.0f} against {theirs:.0f}; ratio of each "
        f"data set: median {statistics.median(ratios):.1f}, least {min(ratios):.1f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
