"""On which items systems were compared, in sentences."""

from experiments.estimate.systems import SystemsComparison
from lehner.core.wording import counted, first_few
from lehner.systems.common_items import answered_the_same, n_common_items

MOST_NAMED = 4
CANCELS = "so that what systems share, mistakes included, cancels out of them."


def all_items_are_common(comparison: SystemsComparison) -> bool:
    """Tell whether every system answered every item."""
    ratings = comparison.ratings
    return n_common_items(ratings, ratings.systems) == ratings.n_items


def lines_on_items(comparison: SystemsComparison) -> list[str]:
    """Say on which items differences and ranks rest, and where there are none."""
    ratings = comparison.ratings
    same = answered_the_same(ratings, ratings.systems)
    if not comparison.common_items and not same:
        return [
            "Each system is judged by the items that it answered, and these differ. Differences "
            "assume that a system would be as accurate on the items that it left out."
        ]
    if same:
        return [f"Differences rest on the same {_of_all(comparison)}and raters, {CANCELS}"]
    own = (f"{name} {n_common_items(ratings, [name])}" for name in ratings.systems)
    lines = [
        f"The systems answered different items ({first_few(own, MOST_NAMED)} of "
        f"{ratings.n_items}). The accuracy of each is that on its own items; differences rest on "
        f"the items that both systems answered, and on the same raters, {CANCELS}"
    ]
    return [*lines, *_about_ranks(comparison), *_without_difference(comparison)]


def _of_all(comparison: SystemsComparison) -> str:
    if all_items_are_common(comparison):
        return "items "
    ratings = comparison.ratings
    return f"{n_common_items(ratings, ratings.systems)} of {counted(ratings.n_items, 'item')} "


def _about_ranks(comparison: SystemsComparison) -> list[str]:
    ratings = comparison.ratings
    n_all = n_common_items(ratings, ratings.systems)
    if not n_all:
        return ["No item was answered by all systems, so that they are not ranked."]
    if len(ratings.systems) == 2 or not comparison.ranks:
        return []
    return [f"Ranks rest on the {counted(n_all, 'item')} that all systems answered."]


def _without_difference(comparison: SystemsComparison) -> list[str]:
    pairs = {one.systems: one.n_common_items for one in comparison.differences}
    without = [f"{first} and {second}" for (first, second), n in pairs.items() if not n]
    if not without:
        return []
    return [
        f"There is no difference between {first_few(without, MOST_NAMED)}: no item was answered by "
        "both. From Python, common_items=False compares them on different items."
    ]
