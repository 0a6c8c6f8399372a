"""Sampling of a compiled model by NUTS, with any data of the same raters and categories."""

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import xarray as xr

from bayes_models.models.deferred import nutpie
from bayes_models.posterior.draws import labelled_draws
from bayes_models.sampling.compiled import CompiledModel
from bayes_models.sampling.cost import warn_of_cost
from bayes_models.sampling.start import Start, chains_by_start, em_start, start_values
from lehner.core.arrays import Floats
from lehner.core.progress import progress_of
from lehner.core.seeds import child_seeds

SAMPLE_STATS = {
    "depth": "tree_depth",
    "maxdepth_reached": "reached_max_treedepth",
    "mean_tree_accept": "acceptance_rate",
    "logp": "lp",
    "energy": "energy",
    "n_steps": "n_steps",
    "step_size": "step_size",
    "diverging": "diverging",
}


def sample(
    compiled: CompiledModel,
    *,
    seed: int,
    draws: int,
    tune: int,
    chains: int,
    starts: Sequence[Start] | None = None,
    **options: Any,
) -> dict[str, xr.Dataset]:
    """Sample the posterior by NUTS.

    Parameters
    ----------
    compiled : CompiledModel
    seed : int
    draws, tune, chains : int
    target_accept : float
    starts : sequence of Start, optional
        Points near which chains start, the most probable first; by default those that
        EM finds from the majority vote.
    **options
        Options of `nutpie.sample`, such as `target_accept`, `cores` and `progress_bar`.

    Returns
    -------
    dict
        Datasets `posterior` and `sample_stats`.

    Raises
    ------
    KeyboardInterrupt
        If sampling was interrupted, because the draws until then are not a sample of the posterior.
    """
    observed, sampled = compiled.observed, compiled.sampled
    starts = starts or [em_start(observed)]
    by_start = chains_by_start(len(starts), chains)
    # With one start the seed is used itself, so that the draws do not depend on whether modes were
    # searched for.
    seeds = [seed]
    if len(by_start) > 1:
        seeds = [int(child.generate_state(1)[0]) for child in child_seeds(seed, len(by_start))]
    point = compiled.start(start_values(compiled.model, starts[0]))

    def timed(**few: Any) -> int:
        _, (statistics,) = _run_chains(sampled, *point, **few)
        return int(np.sum(statistics.column("n_steps").to_numpy()))

    warn_of_cost(
        timed,
        model=compiled.model,
        n_terms=len(observed.cells) * observed.n_categories,
        n_parameters=sampled.n_dim,
        n_values=sum(int(np.prod(shape)) for shape in sampled.shapes.values()),
        draws=draws + tune,
        chains=chains,
        cores=options.get("cores"),
    )
    by_chain: list[pa.RecordBatch] = []
    statistics_by_chain: list[pa.RecordBatch] = []
    tell = progress_of(f"{compiled.model}: sampling", chains * (draws + tune))
    for start, n_chains, start_seed in zip(starts, by_start, seeds, strict=False):
        runs, of_chains = _run_chains(
            sampled,
            *compiled.start(start_values(compiled.model, start)),
            seed=start_seed,
            draws=draws,
            tune=tune,
            chains=n_chains,
            progress_callback=partial(_tell, tell, len(by_chain) * (draws + tune)),
            **options,
        )
        by_chain += runs
        statistics_by_chain += of_chains
    drawn = {name: _stack(by_chain, name, draws, sampled.shapes[name]) for name in compiled.kept}
    statistics = {
        ours: ((), _stack(statistics_by_chain, theirs, draws, ()))
        for theirs, ours in SAMPLE_STATS.items()
    }
    return {"posterior": compiled.label(drawn), "sample_stats": labelled_draws(statistics, {})}


def _tell(tell: Callable[[float], None], before: int, progress: Sequence[Any]) -> None:
    """Say how many draws are done, with those of earlier chains."""
    tell(before + sum(chain.finished_draws for chain in progress))


def _run_chains(
    sampled: Any,
    start: Floats,
    scale: Floats,
    *,
    chains: int,
    draws: int,
    tune: int,
    **options: Any,
) -> tuple[list[pa.RecordBatch], list[pa.RecordBatch]]:
    """Sample chains that start near a point; give draws and statistics of each chain."""

    def initial_point(chain_seed: Any = None) -> Floats:
        # With jitter of the usual width a chain may start, and remain, in a mode with switched
        # labels.
        return start + scale * np.random.default_rng(chain_seed).normal(size=len(start))

    # The sampler ignores a mean it is told to start from if the model comes from PyMC.
    sampler = nutpie.sample(
        dataclasses.replace(sampled, initial_point_func=initial_point),
        blocking=False,
        chains=chains,
        draws=draws,
        tune=tune,
        return_raw_trace=True,
        **options,
    )
    # If the sampler did the waiting, it would return incomplete chains when interrupted.
    try:
        trace = sampler.wait()
    except BaseException:
        sampler.cancel()
        raise
    by_chain, statistics = (
        [pa.record_batch(chain) for chain in part] for part in trace.get_arrow_trace()
    )
    lengths, length = [chain.num_rows for chain in by_chain], draws + tune
    if lengths != [length] * chains:
        raise KeyboardInterrupt(
            f"sampling was stopped: the chains have {lengths} draws, not {chains} times {length}"
        )
    return by_chain, statistics


def _stack(batches: Any, name: str, draws: int, shape: tuple[int, ...]) -> Floats:
    """Give the draws after warm-up, shape (n_chains, n_draws, *shape)."""
    chains = []
    for batch in batches:
        column = batch.column(name)
        values = column.flatten() if hasattr(column, "flatten") else column
        chains.append(values.to_numpy(zero_copy_only=False).reshape(-1, *map(int, shape))[-draws:])
    return np.stack(chains)
