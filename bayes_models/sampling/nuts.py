"""Sampling by NUTS, of compiled densities or of what nutpie compiles of PyMC's models.

Models that have no compiled density, and those with a prior that is a PyMC distribution, are
compiled by nutpie, which takes a minute or two in each process. Ratings and counts are data of
compiled models.
"""

import dataclasses
import importlib
import logging
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import xarray as xr

from bayes_models.density.log_density import compile_c_functions, list_arrays
from bayes_models.density.priors import FAMILY_CODES, LOG_ODDS, PARAMETERS, VALUE
from bayes_models.models import assemble, pt
from bayes_models.models.assemble import Parameter, weigh_populations
from bayes_models.models.registry import choose_priors, find_model
from bayes_models.models.spec import (
    BASE_RATES,
    ModelSpec,
    Priors,
    Start,
    is_distribution,
    make_levels,
)
from bayes_models.posterior.draws import check_memory, derive_variables, label_draws
from bayes_models.sampling.start import find_start_values, spread_chains, start_at_vote
from lehner import Patterns
from lehner.core import lazy
from lehner.core.arrays import Floats, Integers, derive_seeds
from lehner.core.resampling import log_progress

logger = logging.getLogger(__name__)

# A draw keeps the confusion matrices under this name.
CONFUSION = "confusion_by_level"
NOISE = 0.1
# The log odds of more raters than these, who gave more ratings than these on average, are sampled
# themselves, and not as standard normal effects.
CENTRED_RATERS, CENTRED_RATINGS = 20, 100
# Their spreads start at this part of the scale of their prior. Trajectories are no longer than 63
# steps, which they need only while the step size is searched for; those of others than 1,023.
SMALL_SPREAD, DEPTH_OF_CENTRED, DEPTH = 0.1, 6, 10
# PyMC's jitter, which is uniform between -1 and 1, has this standard deviation.
JITTER = 1 / np.sqrt(3)
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


# A function from a mode to the point at which chains start, and the distance from it at which they
# may; variables without a value start anywhere that is plausible.
type StartingPoint = Callable[[Start], tuple[Floats, Floats]]


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
    max_depth : int
        A trajectory has at most two to the power of this steps, less one.
    label : callable
        From the draws of what is kept, of shape (n_chains, n_draws, ...), to the model's variables.
    """

    model: str
    observed: Patterns
    sampled: Any
    start: StartingPoint
    kept: tuple[str, ...]
    max_depth: int
    label: Callable[[Mapping[str, Floats]], xr.Dataset]


# ArviZ takes seconds to import, and nutpie uses it for other results only.
with lazy.leave_out("arviz"):
    nutpie: Any = importlib.import_module("nutpie")


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
    if spec.likelihood is not None and not any(map(is_distribution, all_priors.values())):
        try:
            return _compile_density(name, spec, observed, all_priors)
        except (AttributeError, TypeError) as error:  # Private names of nutpie have changed.
            logger.warning("%s: compiled by nutpie, in each process: %s", name, error)
    return compile_pymc_model(name, observed, all_priors)


def _compile_density(
    name: str, spec: ModelSpec, observed: Patterns, priors: Mapping[str, Any]
) -> CompiledModel:
    """Wrap the C functions, and the arrays that they read, for `nutpie.sample`.

    All private names of nutpie that this package uses are here.
    """
    parameters = assemble.find_parameters(spec, observed, priors)
    centred = is_centred(observed) and "rater_effect" in parameters
    if centred:
        effects = parameters["rater_effect"]
        parameters["rater_effect"] = dataclasses.replace(effects, family="centred")
    free = [parameter for parameter in parameters.values() if parameter.n_coordinates]
    levels, k = make_levels(spec.difficulty, parameters), observed.n_categories
    # A draw keeps these, in this order.
    shapes: dict[str, tuple[int, ...]] = {p.name: p.shape for p in parameters.values()}
    shapes |= {"zero": (), CONFUSION: (len(observed.raters), len(levels), k, k)}
    ends = np.cumsum([0, *map(math.prod, shapes.values())]).tolist()
    arrays = _list_arrays(spec, observed, parameters, levels)
    log_density, variables = compile_c_functions()
    sampled = nutpie.compile_pymc.CompiledPyMCModel(
        dims={},
        reparameterized_names=[],
        _coords={},
        _n_dim=sum(parameter.n_coordinates for parameter in free),
        n_expanded=ends[-1],
        _shapes=shapes,
        shape_info=(list(shapes), list(map(slice, ends, ends[1:])), list(shapes.values())),
        initial_point_func=None,
        logp_func=None,
        expand_func=None,
        compiled_logp_func=log_density,
        compiled_expand_func=variables,
        # This reference lets the arrays keep their addresses.
        shared_data={str(i): array for i, array in enumerate(arrays)},
        shared_var_keys={},
        user_data=np.array([array.ctypes.data for array in arrays], np.uint64),
    )
    return CompiledModel(
        model=name,
        observed=observed,
        sampled=sampled,
        start=partial(start_parameters, name, free),
        kept=(*(parameter.name for parameter in free), CONFUSION),
        max_depth=DEPTH_OF_CENTRED if centred else DEPTH,
        label=partial(_label, observed, free, parameters[BASE_RATES.name].name, levels),
    )


def is_centred(observed: Patterns) -> bool:
    """Tell whether ratings say more of each rater than the other raters do.

    The log odds of a rater then hardly depend on the mean and the spread of all raters, but a
    standard normal effect does, so that a chain would move through mean and spread in small steps.

    References
    ----------
    Betancourt & Girolami (2015), Hamiltonian Monte Carlo for hierarchical models.
    """
    n_raters, n_ratings = len(observed.raters), observed.counts @ np.diff(observed.starts)
    return n_raters > CENTRED_RATERS and bool(n_ratings > CENTRED_RATINGS * n_raters)


def _list_arrays(
    spec: ModelSpec, observed: Patterns, parameters: Mapping[str, Parameter], levels: Floats
) -> list[Any]:
    """List the arrays that the C functions read, in their order."""
    assert spec.likelihood is not None
    n_raters = len(observed.raters)
    index = np.arange(n_raters)
    if spec.likelihood == LOG_ODDS:
        # The index is negative for a system that has parameters of its own.
        index = np.where(index < observed.n_raters, 0, -1)
    ratings = list_arrays(observed)
    table = _tabulate(PARAMETERS[spec.likelihood], parameters)
    prior = np.concatenate([parameter.numbers.ravel() for parameter in parameters.values()])
    sizes = (
        *(spec.likelihood, n_raters, len(levels), observed.n_categories, len(table), len(prior)),
        *(len(observed.counts), len(ratings["rows"])),
        1 + sum(math.prod(parameter.shape) for parameter in parameters.values()),
    )
    whole = (sizes, table, index, *ratings.values())
    arrays: list[Any] = [np.array(values, np.int64, order="C") for values in whole]
    return [*arrays[:2], prior, np.array(levels, float), *arrays[2:]]


def _tabulate(roles: Sequence[str], parameters: Mapping[str, Parameter]) -> Integers:
    """List where coordinates, values and priors are.

    A parameter that is not there has no rows, and the value zero.
    """
    table = np.zeros((len(roles), 6), np.int64)
    table[:, VALUE] = sum(math.prod(parameter.shape) for parameter in parameters.values())
    point = value = prior = 0
    for row, role in zip(table, roles, strict=True):
        if role in parameters:
            parameter = parameters[role]
            size, length = math.prod(parameter.shape), (parameter.shape or (1,))[-1]
            code = FAMILY_CODES[parameter.family]
            row[:] = code, size // length, length, point, value, prior
            point += parameter.n_coordinates
            value += size
            prior += parameter.numbers.size
    return table


def _label(
    observed: Patterns,
    free: Sequence[Parameter],
    name_of_rates: str,
    levels: Floats,
    drawn: Mapping[str, Floats],
) -> xr.Dataset:
    """Make the model's variables of the draws of free parameters and of confusion matrices."""
    variables = {parameter.name: (parameter.dims, drawn[parameter.name]) for parameter in free}
    if len(levels) > 1:
        variables[CONFUSION] = (("rater", "level", "category", "response"), drawn[CONFUSION])
    rates = drawn[name_of_rates]
    by_population = rates if observed.populations else rates[..., None, :]
    variables |= derive_variables(observed, by_population, drawn[CONFUSION].mean(axis=3))
    coords = assemble.number_dims(free) | {"level": levels.round(3)}
    return label_draws(variables, coords | assemble.make_coords(observed))


# Models that were compiled by nutpie in this process, with the PyMC model and the priors of each,
# which must stay alive because models are found by the identity of distributions.
_compiled: dict[tuple[Any, ...], Any] = {}


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
    coords = assemble.make_coords(observed)
    numbers = {
        name: id(prior) if is_distribution(prior) else repr(np.asarray(prior, object).tolist())
        for name, prior in priors.items()
    }
    sizes = [(dim, len(labels)) for dim, labels in coords.items()]
    key = (name, observed.ordered, *sizes, *numbers.items())
    if key not in _compiled:
        _compiled[key] = *_compile_by_nutpie(name, observed, priors), priors
    compiled, model, plausible, _ = _compiled[key]
    dims = {
        variable.name: tuple(model.named_vars_to_dims.get(variable.name, ()))
        for variable in (*model.free_RVs, *model.deterministics)
    }
    coords = dict(model.coords) | coords
    data = assemble.list_data(observed) | {"population_shares": weigh_populations(observed)}
    names = {variable.name for variable in model.data_vars}
    return CompiledModel(
        model=name,
        observed=observed,
        sampled=compiled.with_data(**{name: data[name] for name in data if name in names}),
        start=partial(start_variables, name, model, plausible),
        kept=tuple(dims),
        max_depth=DEPTH,
        label=lambda drawn: label_draws({name: (dims[name], drawn[name]) for name in dims}, coords),
    )


def _compile_by_nutpie(
    name: str, observed: Patterns, priors: Mapping[str, Any]
) -> tuple[Any, Any, Mapping[str, Floats]]:
    """Compile a PyMC model; give also the model, and a point that is plausible by its prior."""
    # PyMC, which takes seconds to load, is needed here only.
    from bayes_models.models import graph

    logger.info("%s: compiling", name)
    model = graph.build_model(name, observed, priors)
    with graph.avoid_c_compiler():
        compiled = nutpie.compile_pymc_model(model, backend="numba")
        return compiled, model, model.initial_point(random_seed=0)


# Models of users' that were compiled in this process: what each computes, and its compiled form.
_compiled_of_users: list[tuple[Any, ...]] = []


def compile_model_of_user(model: Any) -> Any:
    """Compile a model of a user's, or take one that computes the same from other `pm.Data`.

    Parameters
    ----------
    model : pymc.Model

    Returns
    -------
    nutpie.CompiledModel
        With the data of the model.
    """
    from bayes_models.models import graph

    computed = [*model.logp(sum=False), *model.replace_rvs_by_values(list(model.deterministics))]
    inputs = graph.list_inputs(computed)
    parts = (computed, inputs, model.free_RVs, graph.list_inputs(model.free_RVs))
    equal = (found for earlier, found in _compiled_of_users if graph.are_equal(parts, earlier))
    compiled = next(equal, None)
    if compiled is None:
        with graph.avoid_c_compiler():
            compiled = nutpie.compile_pymc_model(model, backend="numba")
        _compiled_of_users.append((parts, compiled))
    names = {variable.name for variable in compiled.shared_var_keys}
    return compiled.with_data(**{x.name: x.get_value() for x in inputs if x.name in names})


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
    sampled, starts = compiled.sampled, starts or [start_at_vote(compiled.observed)]
    chains_of_starts = spread_chains(len(starts), chains)
    # If there is one start, the seed is used itself, so that the draws do not depend on whether
    # modes were searched for.
    seeds = [seed]
    if len(chains_of_starts) > 1:
        children = derive_seeds(seed, len(chains_of_starts))
        seeds = [int(child.generate_state(1)[0]) for child in children]
    n_values = sum(math.prod(shape) for shape in sampled.shapes.values())
    check_memory(compiled.model, "nuts", n_values * (draws + tune) * chains)
    batches, statistics = list[pa.RecordBatch](), list[pa.RecordBatch]()
    tell = log_progress(f"{compiled.model}: sampling", chains * (draws + tune))
    for start, n_chains, start_seed in zip(starts, chains_of_starts, seeds, strict=False):
        runs, statistics_of_runs = _run_chains(
            sampled,
            *compiled.start(start),
            seed=start_seed,
            draws=draws,
            tune=tune,
            chains=n_chains,
            maxdepth=compiled.max_depth,
            progress_callback=partial(_report, tell, len(batches) * (draws + tune)),
            **options,
        )
        batches += runs
        statistics += statistics_of_runs
    drawn = {name: _stack(batches, name, draws, sampled.shapes[name]) for name in compiled.kept}
    sample_stats = {
        name: ((), _stack(statistics, column, draws, ())) for column, name in SAMPLE_STATS.items()
    }
    return {"posterior": compiled.label(drawn), "sample_stats": label_draws(sample_stats, {})}


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
        # If the jitter had the usual width, a chain could start, and remain, in a mode with
        # switched labels.
        return start + scale * np.random.default_rng(chain_seed).normal(size=len(start))

    # The sampler ignores a mean it is told to start from if the model comes from PyMC.
    near = dataclasses.replace(sampled, initial_point_func=initial_point)
    length = {"chains": chains, "draws": draws, "tune": tune}
    sampler = nutpie.sample(near, blocking=False, return_raw_trace=True, **length, **options)
    # If the sampler did the waiting, it would return incomplete chains when interrupted.
    try:
        trace = sampler.wait()
    except BaseException:
        sampler.cancel()
        raise
    batches, statistics = (
        [pa.record_batch(chain) for chain in part] for part in trace.get_arrow_trace()
    )
    lengths = [chain.num_rows for chain in batches]
    if lengths != [draws + tune] * chains:
        text = f"sampling was stopped: the chains have {lengths} draws, not {chains} times "
        raise KeyboardInterrupt(f"{text}{draws + tune}")
    return batches, statistics


def _stack(
    batches: Iterable[pa.RecordBatch], name: str, draws: int, shape: tuple[int, ...]
) -> Floats:
    """Give the draws after warm-up, shape (n_chains, n_draws, *shape)."""
    chains = []
    for batch in batches:
        column = batch.column(name)
        values = column.flatten() if hasattr(column, "flatten") else column
        chains.append(values.to_numpy(zero_copy_only=False).reshape(-1, *map(int, shape))[-draws:])
    return np.stack(chains)


def start_parameters(
    name: str, parameters: Iterable[Parameter], start: Start
) -> tuple[Floats, Floats]:
    """Start the parameters of a compiled density, as a `StartingPoint`.

    Where raters are centred, spreads of which nothing is known start small: their effects then may
    have any size, while chains that start with a large spread and small effects keep it for long.
    """
    values, parameters = find_start_values(name, start), list(parameters)
    if any(parameter.family == "centred" for parameter in parameters):
        for parameter in parameters:
            if parameter.family == "half_normal":
                values[parameter.name] = parameter.find_typical() * SMALL_SPREAD
        values["rater_effect"] = start.rater_log_odds
        values["rater_spread"] = np.asarray(start.rater_log_odds.std())
    points = []
    for parameter in parameters:
        value = values.get(parameter.name)
        point = None if value is None else parameter.unconstrain(value)
        points.append((point, parameter.unconstrain(parameter.find_typical())))
    return _join(points)


def start_variables(
    name: str, model: Any, plausible: Mapping[str, Floats], start: Start
) -> tuple[Floats, Floats]:
    """Start the variables of a PyMC model, given its initial point, as a `StartingPoint`."""
    values, points = find_start_values(name, start), []
    for variable in model.free_RVs:
        point, transform = values.get(variable.name), model.rvs_to_transforms[variable]
        if point is not None and transform is not None:
            moved = transform.forward(pt.as_tensor(point), *variable.owner.inputs)
            with np.errstate(all="ignore"):
                point = moved.eval(mode="FAST_COMPILE")
        points.append((point, plausible[model.rvs_to_values[variable].name]))
    return _join(points)


def _join(points: Iterable[tuple[Floats | None, Floats]]) -> tuple[Floats, Floats]:
    """Join points, or the plausible ones where there is none or it is impossible."""
    starts, scales = [], []
    for point, plausible in points:
        plausible = np.ravel(plausible)
        # A user's prior may exclude the values that EM finds.
        start = plausible if point is None else np.ravel(point)
        starts.append(np.where(np.isfinite(start), start, plausible))
        scales.append(np.full(len(plausible), JITTER if point is None else NOISE))
    return np.concatenate(starts), np.concatenate(scales)
