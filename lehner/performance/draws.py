"""The system's parameters from posterior draws."""

from typing import TYPE_CHECKING

from lehner.core.replicates import Parameters, Replicates

if TYPE_CHECKING:
    import xarray as xr

CREDIBLE = "equal-tailed credible"


def posterior_replicates(tree: "xr.DataTree") -> Replicates:
    """Take base rates, the system's confusion matrix and the raters' accuracies from draws.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `bayes_models.fit`, of ratings with a system, which is the last rater.

    Returns
    -------
    Replicates
        The draws; their point estimate is the posterior mean.
    """
    posterior = tree["posterior"].to_dataset()
    sample = ("chain", "draw")
    base_rates = posterior["base_rates"].transpose(*sample, "category").values
    system = posterior["confusion"].isel(rater=-1)
    confusion = system.transpose(*sample, "category", "response").values
    accuracy = posterior["accuracy"].isel(rater=slice(-1)).transpose(*sample, "rater").values
    k = base_rates.shape[-1]
    drawn = Parameters(
        base_rates=base_rates.reshape(-1, k),
        confusion=confusion.reshape(-1, k, k),
        rater_accuracy=accuracy.reshape(-1, accuracy.shape[-1]),
    )
    mean = Parameters(**{name: values.mean(axis=0) for name, values in vars(drawn).items()})
    return Replicates(point=mean, drawn=drawn, posterior=True, kind=CREDIBLE)
