"""What is to be known of the weights of a coefficient."""

from collections.abc import Iterator, Sequence

from lehner.coefficients.weights import AgreementWeights, by_position_only
from lehner.data.categories import Label


def weights_notes(
    weights: Sequence[AgreementWeights], categories: Sequence[Label]
) -> Iterator[str]:
    """Say what weights go by where there is a choice.

    Parameters
    ----------
    weights : sequence of AgreementWeights
    categories : sequence of str or int

    Yields
    ------
    str
    """
    names = by_position_only([one.name for one in weights], categories)
    if names:
        endings = ", ".join(f"{name}_by_value" for name in names)
        yield (
            f"{', '.join(names)} weights go by the order of the categories, not by their values, "
            f"which are not equally spaced; by value: {endings}"
        )
    if not all(one.symmetric for one in weights):
        yield (
            "the weights are not symmetric: their rows are for the rater named first, or for the "
            "rows of a table"
        )
