"""A coefficient by its name: the statistic, and whether it is defined for the items."""

from lehner.coefficients.chance_corrected import STATISTICS
from lehner.coefficients.coefficient import Coefficient, Sampling, summarise, undefined
from lehner.coefficients.item_votes import ItemVotes
from lehner.coefficients.weights import AgreementWeights

NO_PAIRS = "undefined: no item was rated by two raters"
ONE_CATEGORY = "undefined: there is one category"


def coefficient_of_items(
    name: str,
    items: ItemVotes,
    weights: AgreementWeights,
    sampling: Sampling,
    *,
    reason: str = "",
    note: str = "",
    null_error: float | None = None,
) -> Coefficient:
    """Compute a coefficient of agreement.

    Parameters
    ----------
    name : str
        A key of `STATISTICS`, with a category in brackets if the items were collapsed to it.
    items : ItemVotes
    weights : AgreementWeights
    sampling : Sampling
    reason : str
        The reason why it is undefined for these raters, if it is.
    note : str
    null_error : float, optional
        The standard error if the true value is 0.

    Returns
    -------
    Coefficient
    """
    if not reason and items.n_paired == 0:
        reason = NO_PAIRS
    if not reason and items.n_categories < 2 and name != "percent_agreement":
        reason = ONE_CATEGORY
    if reason:
        return undefined(name, weights.name, reason)
    statistic = STATISTICS[name.partition("[")[0]](items, weights)
    return summarise(
        name, weights.name, statistic, items.weights, items.n_paired, sampling, note, null_error
    )
