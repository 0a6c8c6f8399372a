"""Sampling by NUTS, of compiled densities or of what nutpie compiles of PyMC's models.

Models that have no compiled density, and those with a prior that is a PyMC distribution, are
compiled by nutpie, which takes a minute or two in each process. Ratings and counts are data of
compiled models.
"""

import dataclasses
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import xarray as xr

from bayes_models.density.c_functions import c_functions
from bayes_models.models.assemble import BASE_RATES
from bayes_models.models.deferred import nutpie, without_c_compiler
from bayes_models.models.families import is_distribution
from bayes_models.models.observations import coords_of, data_of
from bayes_models.models.parameters import CONFUSION, ModelDensity, describe_density
from bayes_models.models.spec import Priors, choose_priors, find_model, seen_by
from bayes_models.posterior.draws import accuracies, base_rates_of_all, labelled_draws
from bayes_models.sampling.memory import check_memory
from bayes_models.sampling.start import (
    Start,
    StartingPoint,
    chains_by_start,
    em_start,
    start_parameters,
    start_values,
    start_variables,
)
from lehner import Patterns
from lehner.core.arrays import Floats, child_seeds
from lehner.core.resampling import progress_of

logger = logging.getLogger(__name__)

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


@dataclass(frozen=True, kw_only=True, eq=False)
class CompiledModel:
    """A model with its data, ready to be sampled.

    Parameters
    ----------
    model : str
        Its name.
    observed : Patterns
        As the model sees them.
    sampled : nutpie's compiled model
    start : StartingPoint
    kept : tuple of str
        What the sampler keeps of a draw.
    label : callable
        From the draws of what is kept, of shape (n_chains, n_draws, ...), to the model's variables.
    """

    model: str
    observed: Patterns
    sampled: Any
    start: StartingPoint
    kept: tuple[str, ...]
    label: Callable[[Mapping[str, Floats]], xr.Dataset]


def compile_model(name: str, observed: Patterns, priors: Priors = None) -> CompiledModel:
    """Make a model ready to be sampled.

    Parameters
    ----------
    name : str
    observed : Patterns
    priors : str or mapping, optional

    Returns
    -------
    CompiledModel

    Raises
    ------
    InputError
        If there is no such model or prior, or a prior has wrong numbers.
    """
    spec, all_priors = find_model(name), choose_priors(name, priors)
    observed = seen_by(name, observed)
    if spec.likelihood is None or any(map(is_distribution, all_priors.values())):
        return compile_pymc_model(name, observed, all_priors)
    density = describe_density(spec, observed, all_priors)
    try:
        sampled = _wrap_density(density)
    except (AttributeError, TypeError) as error:  # Private names of nutpie have changed.
        logger.warning("%s: compiled by nutpie, in each process: %s", name, error)
        return compile_pymc_model(name, observed, all_priors)
    return CompiledModel(
        model=name,
        observed=observed,
        sampled=sampled,
        start=partial(start_parameters, density.free),
        kept=(*(parameter.name for parameter in density.free), CONFUSION),
        label=partial(_label, density),
    )


def _wrap_density(density: ModelDensity) -> Any:
    """Wrap the C functions, and the arrays that they read, for `nutpie.sample`.

    All private names of nutpie that this package uses are here.
    """
    shapes, arrays = density.shapes(), density.arrays()
    lengths = [int(np.prod(shape)) for shape in shapes.values()]
    ends = np.cumsum(lengths).tolist()
    slices = [slice(end - length, end) for end, length in zip(ends, lengths, strict=True)]
    log_density, variables = c_functions()
    return nutpie.compile_pymc.CompiledPyMCModel(
        dims={},
        reparameterized_names=[],
        _coords={},
        _n_dim=density.n_coordinates,
        n_expanded=ends[-1],
        _shapes=shapes,
        shape_info=(list(shapes), slices, list(shapes.values())),
        initial_point_func=None,
        logp_func=None,
        expand_func=None,
        compiled_logp_func=log_density,
        compiled_expand_func=variables,
        # A reference, so that the arrays keep their addresses.
        shared_data={str(i): array for i, array in enumerate(arrays)},
        shared_var_keys={},
        user_data=np.array([array.ctypes.data for array in arrays], np.uint64),
    )


def _label(density: ModelDensity, drawn: Mapping[str, Floats]) -> xr.Dataset:
    observed, by_level = density.observed, drawn[CONFUSION]
    variables = {
        parameter.name: (parameter.dims, drawn[parameter.name]) for parameter in density.free
    }
    base_rates = drawn[density.parameters[BASE_RATES.name].name]
    by_population = base_rates if observed.populations else base_rates[..., None, :]
    variables |= base_rates_of_all(observed, by_population)
    if len(density.levels) > 1:
        variables[CONFUSION] = (("rater", "level", "category", "response"), by_level)
    variables |= accuracies(observed, variables[BASE_RATES.name][1], by_level.mean(axis=3))
    sizes = {
        dim: n
        for parameter in density.free
        for dim, n in zip(parameter.dims, parameter.shape, strict=True)
    }
    coords: dict[str, Any] = {dim: np.arange(n) for dim, n in sizes.items()}
    return labelled_draws(
        variables, coords | {"level": density.levels.round(3)} | coords_of(observed)
    )


_compiled: dict[tuple[Any, ...], Any] = {}
"""Models that were compiled by nutpie in this process, with the PyMC model and the priors of each,
which must stay alive because models are found by the identity of distributions."""


def compile_pymc_model(name: str, observed: Patterns, priors: Mapping[str, Any]) -> CompiledModel:
    """Compile a PyMC model by nutpie, or find it in memory.

    Parameters
    ----------
    name : str
    observed : Patterns
        As the model sees them.
    priors : mapping
        All priors of the model.

    Returns
    -------
    CompiledModel
    """
    import pytensor

    sizes = {dim: len(labels) for dim, labels in coords_of(observed).items()}
    numbers = {
        name: id(prior) if is_distribution(prior) else repr(np.asarray(prior, object).tolist())
        for name, prior in priors.items()
    }
    key = (name, observed.ordered, observed.dependent is None, *sizes.items(), *numbers.items())
    if key not in _compiled:
        logger.info("%s: compiling", name)
        model = find_model(name).build(observed, priors)
        # With fast math, rounding depends on whether the code comes from a compile cache, and the
        # same seed would not give the same draws.
        with pytensor.config.change_flags(numba__fastmath=False), without_c_compiler():
            compiled = nutpie.compile_pymc_model(model, backend="numba")
            _compiled[key] = compiled, model, model.initial_point(random_seed=0), priors
    compiled, model, plausible, _ = _compiled[key]
    data, coords = data_of(observed), dict(model.coords) | coords_of(observed)
    dims = {
        variable.name: tuple(model.named_vars_to_dims.get(variable.name, ()))
        for variable in (*model.free_RVs, *model.deterministics)
    }

    def label(drawn: Mapping[str, Floats]) -> xr.Dataset:
        variables = {name: (of_name, drawn[name]) for name, of_name in dims.items()}
        return labelled_draws(variables, coords)

    of_model = {variable.name for variable in model.data_vars}
    return CompiledModel(
        model=name,
        observed=observed,
        sampled=compiled.with_data(**{name: data[name] for name in data if name in of_model}),
        start=partial(start_variables, model, plausible),
        kept=tuple(dims),
        label=label,
    )


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
    sampled, starts = compiled.sampled, starts or [em_start(compiled.observed)]
    by_start = chains_by_start(len(starts), chains)
    # With one start the seed is used itself, so that the draws do not depend on whether modes were
    # searched for.
    seeds = [seed]
    if len(by_start) > 1:
        seeds = [int(child.generate_state(1)[0]) for child in child_seeds(seed, len(by_start))]
    n_values = sum(int(np.prod(shape)) for shape in sampled.shapes.values())
    check_memory(compiled.model, "nuts", n_values * (draws + tune) * chains)
    by_chain, statistics_by_chain = list[pa.RecordBatch](), list[pa.RecordBatch]()
    tell = progress_of(f"{compiled.model}: sampling", chains * (draws + tune))
    for start, n_chains, start_seed in zip(starts, by_start, seeds, strict=False):
        runs, of_chains = _run_chains(
            sampled,
            *compiled.start(start_values(compiled.model, start)),
            seed=start_seed,
            draws=draws,
            tune=tune,
            chains=n_chains,
            progress_callback=partial(_report, tell, len(by_chain) * (draws + tune)),
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


def _report(tell: Callable[[float], None], before: int, progress: Sequence[Any]) -> None:
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
