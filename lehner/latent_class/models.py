"""The latent-class models by name, and the confusion matrices that each allows.

As names of methods, `dawid_skene_ml` is the model fitted by maximum likelihood, and `dawid_skene`
the Bayesian model, which `bayes_models` builds: both have the same confusion matrices.
"""

from dataclasses import dataclass

from lehner.core.errors import find

BY_LIKELIHOOD = "_ml"


@dataclass(frozen=True, kw_only=True)
class LatentClassModel:
    """A row of the table of models.

    Parameters
    ----------
    summary : str
        What the model assumes about the raters, in a few words.
    form : {"accuracy", "category_accuracy", "knowledge", "full", ""}
        The confusion matrices: one accuracy and equal errors; an accuracy for each category and
        equal errors; knowledge of the true category and guesses; unrestricted; or none of these.
    shared : bool
        Whether all raters, except the system, share one confusion matrix.
    sampled_only : bool
        Whether there is no maximum likelihood fit.
    label : str
        Printed name, by default the name with spaces.
    color, marker : str
        Look in figures, as Matplotlib takes them.
    """

    summary: str
    form: str = ""
    shared: bool = False
    sampled_only: bool = False
    label: str = ""
    color: str = "black"
    marker: str = "."


MODELS = {
    "one_coin": LatentClassModel(
        summary="all raters have the same accuracy, and all errors are equally probable",
        form="accuracy",
        shared=True,
        label="One coin",
        color="#f38d01",
        marker="v",
    ),
    "one_coin_by_rater": LatentClassModel(
        summary="each rater has their own accuracy, and all errors are equally probable",
        form="accuracy",
        label="One coin per rater",
        color="#753900",
        marker="<",
    ),
    "pooled": LatentClassModel(
        summary="all raters have the same confusion matrix",
        form="full",
        shared=True,
        label="Pooled Dawid–Skene",
        color="#ad663c",
        marker=">",
    ),
    "class_conditional": LatentClassModel(
        summary="each rater has an accuracy in each category; all errors are equally probable",
        form="category_accuracy",
        label="Class-conditional",
        color="#50138e",
        marker="H",
    ),
    "dawid_skene": LatentClassModel(
        summary="each rater has their own confusion matrix",
        form="full",
        label="Dawid–Skene",
        color="#d55e00",
        marker="s",
    ),
    "hierarchical_dawid_skene": LatentClassModel(
        summary="each rater's confusion matrix comes from a population of raters",
        form="full",
        sampled_only=True,
        label="Hierarchical Dawid–Skene",
        color="#bf98b9",
        marker="d",
    ),
    "tap": LatentClassModel(
        summary="a rater knows the truth or guesses",
        form="knowledge",
        label="t-a-p",
        color="#60422c",
        marker="h",
    ),
    "relaxed_k": LatentClassModel(
        summary="each assumption of the algebra is relaxed as far as the ratings require it",
        label="Relaxed K",
        color="#009e73",
        marker="^",
    ),
}
POOLED_TAP = LatentClassModel(
    summary="all raters know the truth equally often, or guess", form="knowledge", shared=True
)
_FITTED = {name: row for name, row in MODELS.items() if row.form and not row.sampled_only}
LIKELIHOOD_METHODS = {name + BY_LIKELIHOOD: name for name in _FITTED}
"""Latent-class models by maximum likelihood: names of methods, and names in `fit_latent_class`."""
LATENT_CLASS_MODELS = _FITTED | {"pooled_tap": POOLED_TAP}
"""Models that `fit_latent_class` fits. The t-a-p model of all raters alike is no method."""


def find_latent_class_model(name: str) -> LatentClassModel:
    """Look up a model that is fitted by maximum likelihood, or raise an InputError."""
    return find("latent-class model", name, LATENT_CLASS_MODELS)
