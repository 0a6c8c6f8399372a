"""The latent-class models by name, and the confusion matrices that each allows.

As names of methods, `dawid_skene_ml` is the model fitted by maximum likelihood, and `dawid_skene`
the Bayesian model, which `bayes_models` builds: both have the same confusion matrices.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from lehner.core.errors import check_choice, find

BY_LIKELIHOOD = "_ml"


@dataclass(frozen=True, kw_only=True)
class LatentClassModel:
    """A row of `models.toml`.

    Parameters
    ----------
    summary : str
        What the model assumes about the raters, in a few words.
    form : {"accuracy", "category_accuracy", "full", ""}
        The confusion matrices: one accuracy and equal errors; an accuracy for each category and
        equal errors; unrestricted; or none of these.
    shared : bool
        Whether all raters, except the system, share one confusion matrix.
    likelihood_only : bool
        Whether `bayes_models` does not have the model.
    label : str
        Printed name, as in `Look`: by default the name with spaces and a capital.
    color, marker : str
        Look in figures, as Matplotlib takes them.
    """

    summary: str
    form: str = ""
    shared: bool = False
    likelihood_only: bool = False
    label: str = ""
    color: str = "black"
    marker: str = "."

    def __post_init__(self) -> None:
        check_choice("form", self.form, ("", "accuracy", "category_accuracy", "full"))


FILE = Path(__file__).with_name("models.toml")
ROWS = {
    name: LatentClassModel(**row)
    for name, row in tomllib.loads(FILE.read_text(encoding="utf-8")).items()
}
# Models that `bayes_models` samples.
MODELS = {name: row for name, row in ROWS.items() if not row.likelihood_only}
# Models that `fit_latent_class` fits by maximum likelihood, and their names as methods.
LATENT_CLASS_MODELS = {name: row for name, row in ROWS.items() if row.form}
LIKELIHOOD_METHODS = {name + BY_LIKELIHOOD: name for name in LATENT_CLASS_MODELS}


def find_latent_class_model(name: str) -> LatentClassModel:
    """Look up a model that is fitted by maximum likelihood, or raise an InputError."""
    return find("latent-class model", name, LATENT_CLASS_MODELS)
