"""Warnings: what the user should know before using a result, with a code for programs."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from lehner.core.checks import check_choice, find

type Severity = Literal["changes", "limits", "note"]

SEVERITIES: tuple[Severity, ...] = get_args(Severity.__value__)
"""A warning changes the conclusion, limits it, or is good to know."""


@dataclass(frozen=True)
class Warning:
    """What the user should know before using a result; `str` gives the text.

    Parameters
    ----------
    code : str
        What it is about, for programs: see `lehner.core.warning.CODES`.
    text : str
        What was found in these data, in a sentence.
    severity : {"changes", "limits", "note"}
        Whether it changes the conclusion, limits it, or is good to know.

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.Ratings([[0, 1], [1, 0]], ["no", "yes"], system=[0, 1])
    >>> [(one.code, one.severity) for one in lehner.estimate_algebraic(ratings).warnings]
    [('agreement-at-chance', 'changes')]
    """

    code: str
    text: str
    severity: Severity = "note"

    def __post_init__(self) -> None:
        """Raise an InputError if there is no such severity."""
        check_choice("severity", self.severity, SEVERITIES)

    def __str__(self) -> str:
        return self.text


def warn(code: str, text: str) -> Warning:
    """Make a warning with a code of `CODES`, which gives its severity.

    Examples
    --------
    >>> warn("not-converged", "EM had not converged after 10 steps").severity
    'changes'
    """
    return Warning(code, text, find("warning", code, CODES)[0])


def by_severity(warnings: Iterable[Warning]) -> list[Warning]:
    """Order warnings, those that change the conclusion first, and each once."""
    return sorted(dict.fromkeys(warnings), key=lambda one: SEVERITIES.index(one.severity))


def warnings_to_json(warnings: Iterable[Warning]) -> str:
    """Write warnings as JSON, as a file of draws keeps them."""
    return json.dumps([asdict(one) for one in warnings])


def warnings_from_json(text: str) -> tuple[Warning, ...]:
    """Read what `warnings_to_json` wrote."""
    return tuple(Warning(**one) for one in json.loads(text))


CODES: dict[str, tuple[Severity, str]] = {
    # The ratings
    "agreement-at-chance": (
        "changes",
        "Raters agree no more than by chance, so that there is no estimate. Check the ratings; if "
        "they are right, use raters who know more.",
    ),
    "too-few-ratings": (
        "changes",
        "There are not two categories, not two raters of an item, or no rated item with an "
        "answer of the system. Give more ratings, or name all categories.",
    ),
    "raters-always-agree": (
        "changes",
        "Raters never disagree and are taken to be always right. Do not rely on the interval.",
    ),
    "answers-undetermined": (
        "changes",
        "The ratings tell nothing about the items that the system answered. Give ratings of them.",
    ),
    "negative-base-rate": (
        "limits",
        "A category is rarer than the raters' errors explain; its base rate is set to 0. Compare "
        "with a model in which errors are not equally probable, as `dawid_skene`.",
    ),
    "undefined-resamples": (
        "limits",
        "The estimate is undefined in some resamples, and the interval is wide for that reason.",
    ),
    "order-unknown": (
        "note",
        "A method uses the order of the categories, which was not given. List them in order and "
        "mark them as ordered.",
    ),
    # Models
    "not-converged": (
        "changes",
        "The search or the chains had not converged: numbers may change. Sample longer, raise "
        "`target_accept`, or choose a simpler model.",
    ),
    "labels-switched": (
        "changes",
        "In some draws the categories have other meanings than for the raters. Use a model with "
        "fewer parameters, or known truths.",
    ),
    "labels-unsettled": (
        "changes",
        "Items of a class are most often given another label by the raters, so that classes may "
        "not be the categories. Compare with a simpler model.",
    ),
    "not-determined": (
        "changes",
        "Numbers are left out, because other values of them fit as well. Choose a model with fewer "
        "parameters, or give more ratings of each item.",
    ),
    "not-identified": (
        "changes",
        "Other values fit as well. Choose a model with fewer parameters, or give more ratings of "
        "each item.",
    ),
    "prior-decides": (
        "limits",
        "The ratings are too few to determine all parameters, and the prior decides the rest. Try "
        "other priors, or a model with fewer parameters.",
    ),
    "items-with-few-ratings": (
        "limits",
        "Most items have fewer than three ratings, which do not tell how accurate raters are. Give "
        "more ratings of each item, or populations of items.",
    ),
    "prior-outweighs-data": (
        "limits",
        "The prior counts for more than the ratings in some categories. Try other priors, and do "
        "not use the numbers of these categories alone.",
    ),
    "prior-weight-unknown": (
        "note",
        "How much a prior of your own counts beside the ratings is not known. Try another one.",
    ),
    "higher-mode": (
        "limits",
        "Other parameters fit better, often with classes that are not the categories. Compare "
        "with a Bayesian model, which weighs all of them.",
    ),
    "too-few-draws": ("limits", "The effective number of draws is low. Sample longer."),
    "divergences": ("limits", "Some draws diverged. Raise `target_accept`."),
    "tree-depth": (
        "note",
        "Some trajectories of the sampler were cut off, which makes it slow and not wrong.",
    ),
    "boundary": (
        "limits",
        "Some probabilities are estimated to be 0 or 1, which few ratings cannot show. Prefer a "
        "Bayesian model.",
    ),
    "rows-without-ratings": (
        "limits",
        "No ratings are expected in some rows of confusion matrices, which are not estimated.",
    ),
    "guessing-undefined": ("note", "Raters who always know the truth never guess."),
    "identification-unchecked": (
        "note",
        "Whether other values fit as well was not checked, because there are many parameters.",
    ),
    "starts": ("note", "How many of the starts reached the same mode."),
    "known-truths-used": ("note", "Known truths entered the fit as data."),
    "deviance-undefined": ("note", "G² is not defined for these ratings."),
    "deviance-distribution": (
        "note",
        "There are too few items for the chi-square distribution of G². Do not read it as a test.",
    ),
    # Independence of raters
    "agreement-not-predicted": (
        "limits",
        "Two raters agree more or less often than the model predicts. Compare with other models.",
    ),
    "mistakes-correlated": (
        "limits",
        "Two raters share mistakes, and accuracies may be overestimated. See `check_dependence` "
        "and `sensitivity`.",
    ),
    "shared-mistakes": (
        "limits",
        "Raters agree more than their accuracies explain. See `sensitivity`, and find some truths.",
    ),
    # Known truths
    "truths-contradict": (
        "changes",
        "Known truths contradict the method. Rely on the estimate that is corrected by them.",
    ),
    "truths-not-random": (
        "changes",
        "The items of known truth are probably no random sample, and a correction assumes that "
        "they are. Draw items by `choose_items`.",
    ),
    # Violations of the K-properties
    "violation-not-fitted": (
        "limits",
        "These ratings cannot show a kind of violation, which is assumed not to occur.",
    ),
    "violation-uncertain": (
        "limits",
        "A violation cannot be told from none. Compare with the estimate that is not adjusted.",
    ),
    "adjustment-undefined": (
        "changes",
        "With the fitted violations raters often agree at chance level, so that there is no "
        "adjusted estimate.",
    ),
    "adjustment-out-of-reach": (
        "limits",
        "No accuracy of the system explains the unadjusted estimate; the nearest one is given.",
    ),
    # Labels
    "labels-worse-than-majority": (
        "changes",
        "A better model expects fewer of these labels to be right than of the majority's. Use the "
        "automatic labels.",
    ),
    "label-model": ("note", "Which model labels the items, and why it was chosen."),
    "labels-tied": ("note", "Several categories of an item are equally probable."),
    "labels-and-system": (
        "note",
        "Whether the system's answers are part of the labels. Leave them out if the labels serve "
        "to train the system.",
    ),
    # The system in detail, groups, coefficients
    "measure-undefined": (
        "limits",
        "A category was never given or answered, so that its recall or precision is undefined.",
    ),
    "reference-imperfect": (
        "limits",
        "The system is compared with raters or probabilities as if these were right.",
    ),
    "two-accuracies": (
        "limits",
        "Base rates and recall imply another accuracy than step 4 of the algebra gives, which "
        "assumes equally probable errors.",
    ),
    "groups-pooled": (
        "limits",
        "Numbers of groups are drawn toward one another, so that differences between small groups "
        "are too small.",
    ),
    "groups-alike": (
        "limits",
        "The method assumes that something is the same in all groups. Differences in it are not "
        "seen.",
    ),
    "rater-group-accuracy": ("note", "How the accuracy of a group of raters is computed."),
    "weights-by-position": (
        "note",
        "Weights depend on the places of categories, not on their unequally spaced values.",
    ),
    "weights-asymmetric": ("note", "Weights depend on which rater is named first."),
    "repeats-share-vote": ("note", "Repeated ratings of an item by a rater share one vote."),
    "system-not-a-rater": ("note", "Coefficients of all raters do not include the system."),
}
"""For each code, its severity, and what it means and what to do."""
