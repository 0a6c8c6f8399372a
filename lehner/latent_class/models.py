"""The latent-class models by name, for maximum likelihood and for Bayesian estimation.

A name has the same confusion matrices in both. As names of methods, `dawid_skene_ml` is the model
fitted by maximum likelihood, and `dawid_skene` the Bayesian model, which the file of that name in
`bayes_models` builds.
"""

from dataclasses import dataclass

from lehner.core.checks import find

BY_LIKELIHOOD = "_ml"


@dataclass(frozen=True, kw_only=True)
class LatentClassModel:
    """Which confusion matrices a model allows.

    Parameters
    ----------
    shared : bool
        Whether all raters, except the system, share one confusion matrix.
    form : {"accuracy", "category_accuracy", "knowledge", "full"}
        One accuracy and equal errors; an accuracy for each category and equal errors; knowledge of
        the true category and guesses; or an unrestricted matrix.
    """

    shared: bool
    form: str


@dataclass(frozen=True, kw_only=True)
class ModelRow:
    """A row of the table of models.

    Parameters
    ----------
    summary : str
        What the model assumes about the raters, in a few words.
    by_likelihood : LatentClassModel, optional
        The model that expectation-maximisation fits; None for a model that is only sampled.
    label : str
        Printed name, by default the name with spaces.
    color, marker : str
        Look in figures, as Matplotlib takes them.
    """

    summary: str
    by_likelihood: LatentClassModel | None = None
    label: str = ""
    color: str = "black"
    marker: str = "."


MODELS = {
    "one_coin": ModelRow(
        summary="all raters have the same accuracy, and all errors are equally probable",
        by_likelihood=LatentClassModel(shared=True, form="accuracy"),
        label="One coin",
        color="#f38d01",
        marker="v",
    ),
    "one_coin_by_rater": ModelRow(
        summary="each rater has their own accuracy, and all errors are equally probable",
        by_likelihood=LatentClassModel(shared=False, form="accuracy"),
        label="One coin per rater",
        color="#753900",
        marker="<",
    ),
    "pooled": ModelRow(
        summary="all raters have the same confusion matrix",
        by_likelihood=LatentClassModel(shared=True, form="full"),
        label="Pooled Dawid–Skene",
        color="#ad663c",
        marker=">",
    ),
    "class_conditional": ModelRow(
        summary="each rater has an accuracy in each category; all errors are equally probable",
        by_likelihood=LatentClassModel(shared=False, form="category_accuracy"),
        label="Class-conditional",
        color="#50138e",
        marker="H",
    ),
    "dawid_skene": ModelRow(
        summary="each rater has their own confusion matrix",
        by_likelihood=LatentClassModel(shared=False, form="full"),
        label="Dawid–Skene",
        color="#d55e00",
        marker="s",
    ),
    "hierarchical_dawid_skene": ModelRow(
        summary="each rater's confusion matrix comes from a population of raters",
        label="Hierarchical Dawid–Skene",
        color="#bf98b9",
        marker="d",
    ),
    "tap": ModelRow(
        summary="a rater knows the truth or guesses",
        by_likelihood=LatentClassModel(shared=False, form="knowledge"),
        label="t-a-p",
        color="#60422c",
        marker="h",
    ),
    "relaxed_k": ModelRow(
        summary="each assumption of the algebra is relaxed as far as the ratings require it",
        label="Relaxed K",
        color="#009e73",
        marker="^",
    ),
}
_FITTED = {name: row.by_likelihood for name, row in MODELS.items() if row.by_likelihood is not None}
LIKELIHOOD_METHODS = {name + BY_LIKELIHOOD: name for name in _FITTED}
"""Latent-class models by maximum likelihood: names of methods, and names in `fit_latent_class`."""
LATENT_CLASS_MODELS = _FITTED | {"pooled_tap": LatentClassModel(shared=True, form="knowledge")}
"""Models that `fit_latent_class` fits. The t-a-p model of all raters alike is no method."""


def find_latent_class_model(name: str) -> LatentClassModel:
    """Look up a model that is fitted by maximum likelihood, or raise an InputError."""
    return find("latent-class model", name, LATENT_CLASS_MODELS)
