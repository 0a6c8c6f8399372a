"""Models compiled once, to be sampled with any data of the same shape.

Compiling takes far longer than sampling. What is compiled depends on the model, the numbers of
raters and categories and the priors; ratings, counts and known truths are data, and change from
fit to fit without a new compilation, however many items and patterns there are.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import nutpie
import pyarrow as pa
import pymc as pm
import pytensor
import pytensor.tensor as pt
import xarray as xr

from bayes_models.likelihood.observations import Observations
from bayes_models.models.assemble import rater_coords
from bayes_models.models.priors import Priors, choose_priors
from bayes_models.models.spec import find_model
from bayes_models.sampling.density import compile_density
from bayes_models.sampling.draws import labelled_draws
from bayes_models.sampling.start import chains_by_start, em_start
from lehner.core.arrays import Floats
from lehner.core.seeds import child_seeds

NOISE = 0.1
JITTER = 1 / np.sqrt(3)
"""Standard deviation of PyMC's jitter, which is uniform between -1 and 1."""
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


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class CompiledModel:
    """A compiled model.

    Parameters
    ----------
    density : nutpie's compiled model
    dims : dict
        Dimensions of the variables that are kept.
    coords : dict
        Coordinates that do not depend on the data.
    start : callable
        From values of variables to a point among the unconstrained parameters, and how far from
        it chains start: variables that are not among the values start anywhere that is plausible.
    priors : dict
        Kept because the cache knows distributions by their identity.
    """

    density: Any
    dims: dict[str, tuple[str, ...]]
    coords: dict[str, Any]
    start: Callable[[Mapping[str, Floats]], tuple[Floats, Floats]]
    priors: dict[str, Any]


_compiled: dict[tuple[Any, ...], CompiledModel] = {}


def compile_model(name: str, observed: Observations, priors: Priors = None) -> CompiledModel:
    """Compile a model, or find it among those compiled in this process.

    Parameters
    ----------
    name : str
    observed : Observations
        Any data with the raters and categories to come.
    priors : str or mapping, optional

    Returns
    -------
    CompiledModel

    Raises
    ------
    InputError
        If there is no such model or prior.
    """
    spec = find_model(name)
    chosen = choose_priors(name, priors)
    key = (
        name,
        len(observed.rater_names),
        observed.n_categories,
        observed.has_system,
        observed.patterns.ordered,
        *((variable, _key(prior)) for variable, prior in chosen.items()),
    )
    if key not in _compiled:
        model = spec.build(observed.ratings, chosen)
        # Fast math rounds differently with a warm and a cold compile cache: same seed, other draws.
        with pytensor.config.change_flags(numba__fastmath=False):
            density = compile_density(model)
        kept = (*model.free_RVs, *model.deterministics)
        _compiled[key] = CompiledModel(
            density=density,
            dims={v.name: tuple(model.named_vars_to_dims.get(v.name, ())) for v in kept},
            coords={name: np.asarray(values) for name, values in model.coords.items()},
            start=_start_function(model),
            priors=chosen,
        )
    return _compiled[key]


def sample(
    compiled: CompiledModel,
    observed: Observations,
    *,
    seed: int,
    draws: int,
    tune: int,
    chains: int,
    target_accept: float,
    cores: int | None = None,
    starts: Sequence[Mapping[str, Floats]] | None = None,
) -> dict[str, xr.Dataset]:
    """Sample the posterior by NUTS.

    Parameters
    ----------
    compiled : CompiledModel
    observed : Observations
    seed : int
    draws, tune, chains : int
    target_accept : float
    cores : int, optional
        How many chains are sampled at once; by default as many as there are processors.
    starts : sequence of mapping, optional
        Values of variables near which chains start, the best first; by default those of EM from
        a vote.

    Returns
    -------
    dict
        Datasets `posterior` and `sample_stats`.

    Raises
    ------
    KeyboardInterrupt
        If sampling was interrupted: what was drawn until then is no sample of the posterior.
    """
    starts = starts or [em_start(observed)]
    by_start = chains_by_start(len(starts), chains)
    # With one start the seed itself: the draws do not depend on whether modes were looked for.
    seeds = [seed]
    if len(by_start) > 1:
        seeds = [int(child.generate_state(1)[0]) for child in child_seeds(seed, len(by_start))]
    density = compiled.density.with_data(**observed.arrays)
    by_chain, statistics_by_chain = [], []
    for values, n_chains, start_seed in zip(starts, by_start, seeds, strict=False):
        found, of_chains = _run_chains(
            density,
            *compiled.start(values),
            seed=start_seed,
            draws=draws,
            tune=tune,
            chains=n_chains,
            cores=cores,
            target_accept=target_accept,
        )
        by_chain += found
        statistics_by_chain += of_chains
    coords = compiled.coords | rater_coords(observed)
    shapes = density.shapes
    posterior = {
        name: (dims, _stack(by_chain, name, draws, shapes[name]))
        for name, dims in compiled.dims.items()
    }
    statistics = {
        ours: ((), _stack(statistics_by_chain, theirs, draws, ()))
        for theirs, ours in SAMPLE_STATS.items()
    }
    return {
        "posterior": labelled_draws(posterior, coords),
        "sample_stats": labelled_draws(statistics, {}),
    }


def _run_chains(
    density: Any,
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
        # Jitter as wide as usual can throw a chain into a permuted labelling for good.
        return start + scale * np.random.default_rng(chain_seed).normal(size=len(start))

    # The sampler ignores a mean it is told to start from if the model comes from PyMC.
    sampler = nutpie.sample(
        dataclasses.replace(density, initial_point_func=initial_point),
        blocking=False,
        chains=chains,
        draws=draws,
        tune=tune,
        progress_bar=False,
        return_raw_trace=True,
        **options,
    )
    # Were it to wait itself, it would answer an interrupt with the chains it has.
    try:
        trace = sampler.wait()
    except BaseException:
        sampler.cancel()
        raise
    by_chain, statistics = (
        [pa.record_batch(chain) for chain in part] for part in trace.get_arrow_trace()
    )
    _require_whole(by_chain, chains, draws + tune)
    return by_chain, statistics


def _require_whole(by_chain: Sequence[pa.RecordBatch], chains: int, length: int) -> None:
    lengths = [chain.num_rows for chain in by_chain]
    if lengths != [length] * chains:
        raise KeyboardInterrupt(
            f"sampling was stopped: the chains have {lengths} draws, not {chains} times {length}"
        )


def _stack(batches: Any, name: str, draws: int, shape: tuple[int, ...]) -> Floats:
    """Give the draws after warm-up, shape (n_chains, n_draws, *shape)."""
    chains = []
    for batch in batches:
        column = batch.column(name)
        values = column.flatten() if hasattr(column, "flatten") else column
        chains.append(values.to_numpy(zero_copy_only=False).reshape(-1, *map(int, shape))[-draws:])
    return np.stack(chains)


def _start_function(
    model: pm.Model,
) -> Callable[[Mapping[str, Floats]], tuple[Floats, Floats]]:
    """Make a function from values of some variables to an unconstrained point and its scale."""
    point = model.initial_point(random_seed=0)
    inputs, outputs, defaults, sizes = [], [], {}, []
    for rv in model.free_RVs:
        variable = rv.type(rv.name)
        initial = pt.as_tensor(point[model.rvs_to_values[rv].name])
        sizes.append(point[model.rvs_to_values[rv].name].size)
        transform = model.rvs_to_transforms[rv]
        outputs.append(
            variable if transform is None else transform.forward(variable, *rv.owner.inputs)
        )
        back = initial if transform is None else transform.backward(initial, *rv.owner.inputs)
        defaults[rv.name] = back.eval(mode="FAST_COMPILE")
        inputs.append(variable)
    function = pytensor.function(
        inputs, pt.concatenate([x.ravel() for x in outputs]), mode="FAST_COMPILE"
    )
    fallback = function(*defaults.values())

    def start(values: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        scales = [NOISE if name in values else JITTER for name in defaults]
        found = function(*(values.get(name, default) for name, default in defaults.items()))
        # A user's prior may exclude what EM finds.
        return np.where(np.isfinite(found), found, fallback), np.repeat(scales, sizes)

    return start


def _key(prior: Any) -> Any:
    if isinstance(prior, str):
        return prior
    if isinstance(prior, pt.TensorVariable):
        return id(prior)
    try:
        values = np.asarray(prior, dtype=float)
    except (TypeError, ValueError):
        # No numbers: the model refuses them, and nothing is compiled.
        return id(prior)
    return values.shape, values.tobytes()
