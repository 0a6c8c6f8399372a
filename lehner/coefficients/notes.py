"""Notes on the weights of coefficients."""

from collections.abc import Iterator, Sequence

from lehner.coefficients.weights import AgreementWeights, by_position_only
from lehner.core.warning import Warning, warn
from lehner.data.categories import Label


def weights_notes(
    weights: Sequence[AgreementWeights], categories: Sequence[Label]
) -> Iterator[Warning]:
    """Tell which weights depend on the order of categories that also have unequal values.

    Parameters
    ----------
    weights : sequence of AgreementWeights
    categories : sequence of str or int

    Yields
    ------
    Warning
    """
    names = by_position_only([one.name for one in weights], categories)
    if names:
        endings = ", ".join(f"{name}_by_value" for name in names)
        text = (
            f"{', '.join(names)} weights depend on the order of the categories, not on their "
            f"values, which are not equally spaced; weights by value are {endings}"
        )
        yield warn("weights-by-position", text)
    if not all(one.symmetric for one in weights):
        text = (
            "the weights are not symmetric: their rows are for the rater named first, or for the "
            "rows of a table"
        )
        yield warn("weights-asymmetric", text)
