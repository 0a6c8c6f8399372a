"""The latent-class models by name: one row each, for maximum likelihood and for Bayes.

A name means the same confusion matrices in both. `dawid_skene_ml` is a method, the model fitted by
maximum likelihood; `dawid_skene` is the Bayesian one, which the file of that name in
`bayes_models` builds.
"""

from dataclasses import dataclass

from lehner.core.checks import find

BY_LIKELIHOOD = "_ml"
TAP = "tap"


@dataclass(frozen=True, kw_only=True)
class LatentClassModel:
    """Which confusion matrices a model allows.

    Parameters
    ----------
    shared : bool
        Whether all raters, the system apart, have one confusion matrix.
    form : {"accuracy", "category_accuracy", "full"}
        One accuracy and equal errors; an accuracy for each category and equal errors; any.
    """

    shared: bool
    form: str


@dataclass(frozen=True, kw_only=True)
class ModelRow:
    """What is known of a model before it is built.

    Parameters
    ----------
    summary : str
        What it says of the raters, in a few words.
    by_likelihood : LatentClassModel, optional
        What expectation-maximisation fits; None for a model that is only sampled.
    """

    summary: str
    by_likelihood: LatentClassModel | None = None


MODELS = {
    "one_coin": ModelRow(
        summary="all raters have one accuracy, and all errors are equally probable",
        by_likelihood=LatentClassModel(shared=True, form="accuracy"),
    ),
    "one_coin_by_rater": ModelRow(
        summary="each rater has an accuracy, and all errors are equally probable",
        by_likelihood=LatentClassModel(shared=False, form="accuracy"),
    ),
    "pooled": ModelRow(
        summary="all raters have one confusion matrix",
        by_likelihood=LatentClassModel(shared=True, form="full"),
    ),
    "class_conditional": ModelRow(
        summary="each rater has an accuracy in each category, and all errors are equally probable",
        by_likelihood=LatentClassModel(shared=False, form="category_accuracy"),
    ),
    "dawid_skene": ModelRow(
        summary="each rater has a confusion matrix",
        by_likelihood=LatentClassModel(shared=False, form="full"),
    ),
    "hierarchical_dawid_skene": ModelRow(
        summary="each rater's confusion matrix comes from a population of raters"
    ),
    TAP: ModelRow(summary="a rater knows the truth or guesses"),
    "relaxed_k": ModelRow(
        summary="each assumption of the algebra is relaxed as far as the ratings ask for it"
    ),
}
LATENT_CLASS_MODELS = {
    name: row.by_likelihood for name, row in MODELS.items() if row.by_likelihood is not None
}
LIKELIHOOD_METHODS = {name + BY_LIKELIHOOD: name for name in LATENT_CLASS_MODELS}
"""Latent-class models by maximum likelihood: their names as methods, and in `fit_latent_class`."""
LIKELIHOOD_MODELS = {name: MODELS[name] for name in (*LATENT_CLASS_MODELS, TAP)}
"""Models that `estimate_latent_class` fits; t-a-p has a search of its own, `fit_tap`."""


def find_latent_class_model(name: str) -> LatentClassModel:
    """Look up a model that is fitted by maximum likelihood, or raise an InputError."""
    return find("latent-class model", name, LATENT_CLASS_MODELS)
