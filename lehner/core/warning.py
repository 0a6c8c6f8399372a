"""Warnings: what the user should know before using a result, with a code for programs."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from lehner.core.errors import check_choice, find

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
    system, method : str
        Which system and method it concerns; empty if it concerns all of them.
    about : str
        The question whose numbers it concerns, as "raters"; empty for the estimate itself.

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
    system: str = ""
    method: str = ""
    about: str = ""

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
    return sorted(dict.fromkeys(warnings), key=lambda warning: SEVERITIES.index(warning.severity))


def warnings_to_json(warnings: Iterable[Warning]) -> str:
    """Write warnings as JSON, as a file of draws keeps them."""
    return json.dumps([asdict(warning) for warning in warnings])


def warnings_from_json(text: str) -> tuple[Warning, ...]:
    """Read what `warnings_to_json` wrote."""
    return tuple(Warning(**fields) for fields in json.loads(text))


CHANGES = {
    "agreement-at-chance": "Raters agree no more than by chance, so that nothing can be estimated. "
    "Check whether their labels were mixed up (`--labels`), or find raters who know more.",
    "too-few-ratings": "No item has both ratings and an answer of the system. Check which columns "
    "are read as what (`--raters`, `--system`), or have more items rated.",
    "raters-always-agree": "Raters never disagree and count as always right, which may be wrong. "
    "Give gold labels of random items (`--truth`), which show whether they are.",
    "answers-undetermined": "Ratings tell nothing about the items that the system answered. Have "
    "these items rated by more raters, or give their gold labels (`--truth`).",
    "not-converged": "A search or chains had not converged. Choose a model with fewer parameters "
    "(`--method`), as `one_coin_by_rater`, or join rare categories (`--labels`). In Python, you "
    "can also sample longer (`draws`, `tune`).",
    "labels-switched": "In some draws categories have other meanings than for the raters. Choose a "
    "model with fewer parameters (`--method`), as `one_coin_by_rater`, or rely on gold labels "
    "(`--truth`).",
    "labels-unsettled": "Items of a class are often given another label by the raters, so that it "
    "may not be the category. Compare with a model that has fewer parameters (`--method`), as "
    "`one_coin_by_rater_ml`.",
    "labels-contradict-ratings": "Many items get another label than most ratings of items of their "
    "kind. Compare with another method (`--method`), as `majority`.",
    "not-determined": "Numbers that ratings do not determine are left out. Choose a model with "
    "fewer parameters (`--method`), as `one_coin_by_rater_ml`.",
    "too-large": "Draws would need more memory than there is. Choose a method that needs less "
    "(`--method`), as `dawid_skene_ml`, or use a larger computer.",
    "not-identified": "Other parameters fit these ratings as well. Choose a model with fewer "
    "(`--method`), as `one_coin_ml`, or have each item rated by more raters.",
    "truths-contradict": "Gold labels contradict the method. Rely on the numbers that are "
    "corrected by them.",
    "truths-not-random": "Items with gold labels are probably no random sample, as corrections "
    "assume. Draw items by `lehner ask`, or give the probabilities with which they were chosen "
    "(`--truth-probability`).",
    "rater-below-chance": "A rater is right less often than by guessing. Check whether the rater's "
    "categories were mixed up (`--labels`), or leave the rater out (`--raters` names the others).",
    "raters-differ": "Raters are probably more accurate in some groups than in others, which "
    "models assume they are not. Give gold labels of items of each group (`--truth`).",
    "judge-differs": "Gold labels show that a judge errs otherwise in some groups. Use a method "
    "that takes each group's own labels (`--method`), as `post_stratified`.",
    "category-never-rated": "No rater gave a category, whose proportion is the prior's. Leave it "
    "out of `--categories`, or have more items rated.",
}
LIMITS = {
    "negative-base-rate": "A category is rarer than equally probable errors explain, and its base "
    "rate is set to 0. Compare with another method (`--method`), as `dawid_skene`.",
    "undefined-resamples": "The estimate is undefined in some resamples. Have more items rated.",
    "prior-decides": "There are more parameters than ratings determine. Choose a model with fewer "
    "(`--method`), as `one_coin`, or see how far other priors move the estimate (`lehner estimate "
    "--model-priors flat`).",
    "items-with-few-ratings": "Fewer than three ratings of an item do not tell how accurate raters "
    "are. Have each item rated by more raters, or name populations of items (`lehner estimate "
    "--population`).",
    "prior-outweighs-data": "The prior counts for more than the ratings of some categories. Join "
    "rare categories (`--labels`), or see how far other priors move the estimate (`lehner estimate "
    "--model-priors flat`).",
    "pair-rests-on-prior": "Ratings hardly tell answers that the dependent pair shares from "
    "accuracy. Have the same items rated by more raters, or give gold labels (`--truth`).",
    "earlier-study-contradicted": "Without its earlier study the ratings say otherwise of a rater: "
    "items may have changed. Leave the study out of `--earlier-studies`.",
    "outside-training": "The ratings are unlike those of the crowds on which the prior of "
    "`calibrated` was trained. Give gold labels of random items (`--truth`), or train a prior on "
    "crowds like yours (`lehner train-prior`, then `--priors`).",
    "higher-mode": "Other parameters fit better. Compare with a Bayesian model (`--method`), as "
    "`dawid_skene`, which weighs them.",
    "too-few-draws": "The effective number of draws is low. Choose a model with fewer parameters "
    "(`--method`), as `one_coin_by_rater`, or join rare categories (`--labels`). In Python, you "
    "can also sample longer (`draws`).",
    "divergences": "Draws diverged. Compare with a model that has fewer parameters (`--method`), "
    "as `one_coin_by_rater`. In Python, you can also raise `target_accept`.",
    "boundary": "Probabilities are estimated to be 0 or 1. Prefer a Bayesian model (`--method`), "
    "as `dawid_skene`.",
    "rows-without-ratings": "No ratings are expected in rows of confusion matrices, left out here. "
    "Join rare categories (`--labels`), or have more items rated.",
    "agreement-not-predicted": "The model does not describe how often two raters agree. Compare "
    "with another (`--method`), as `relaxed_k`.",
    "mistakes-correlated": "Errors of two raters are correlated: accuracies may be overestimated. "
    "Give gold labels of random items (`--truth`). Without them, `lehner bounds` says how "
    "inaccurate a system may be.",
    "shared-mistakes": "Raters agree more than their accuracies explain, so that accuracies may be "
    "overestimated. Give gold labels of random items (`--truth`). Without them, `lehner bounds` "
    "says how inaccurate a system may be.",
    "system-copies-rater": "The system agrees with a rater more than their accuracies explain, and "
    "both may seem too accurate. Leave this rater out (`--raters` names the others), say that the "
    "two depend (`lehner estimate --dependent`), or give gold labels (`--truth`).",
    "agreement-unexplained": "All raters together agree more than their accuracies explain: items "
    "are not alike, and accuracies may be overestimated. Give gold labels of random items "
    "(`--truth`). Without them, `lehner bounds` says how inaccurate a system may be.",
    "ratings-missing-by-difficulty": "Raters agree more on items with more ratings, as if they "
    "skipped difficult ones. Have a random part of the items rated by all.",
    "agreement-falls": "Raters agree less on later rows of the file, as if they tired. Leave out "
    "the last ones (`--where`), or have items rated in random order.",
    "difficulty-of-system-assumed": "Items differ in difficulty, and whether the system finds the "
    "same items difficult is assumed. Estimate under both assumptions (`--sensitivity`).",
    "few-truths-of-category": "Few or no gold labels are of a category, whose numbers then rest on "
    "a prior or have too narrow intervals. Have more items labelled (`lehner ask`, `--truth`).",
    "measure-undefined": "A category was never given, or never answered, so that a measure has no "
    "value. Join rare categories (`--labels`), or have more items rated.",
    "reference-imperfect": "Raters or probabilities are taken for the truth, which they are not. "
    "Give gold labels of random items (`--truth`).",
    "two-accuracies": "Base rates and recall imply another accuracy than step 4 of the algebra, "
    "which assumes equally probable errors. Compare with another method (`--method`), as "
    "`dawid_skene`.",
    "groups-pooled": "Numbers of groups are drawn together: small groups differ by more than this. "
    "Estimate a group alone (`--where`).",
    "few-clusters": "Items are of few clusters, and intervals may be too narrow. Sample more "
    "clusters.",
    "clusters-ignored": "Something takes the items of a cluster for independent: its intervals are "
    "too narrow, and its p-values too small. Compare with a method that resamples clusters "
    "(`--method`), as `dawid_skene_ml`.",
    "score-uninformative": "The probability of the category hardly rises with the score. Check "
    "which category the scores are of (`--positive`).",
    "score-rare": "The category of the scores is rare, and their AUC is estimated too low. Do not "
    "compare it with that of other data, or score more items of the category.",
    "score-independent": "Scores are taken to be independent of the raters' errors, and on no real "
    "crowd that was tried they were. Give gold labels of random items (`--truth`), 40 or more, "
    "which correct for correlated errors.",
    "no-common-items": "Systems answered different items, so that there is no difference to "
    "estimate. Have them answer the same items.",
    "groups-small": "A group has few items, so that the prior counts. Have more of its items "
    "rated, or join groups.",
    "one-group": "There is only one group, and nothing to compare it with. Name another column "
    "(`--group`).",
    "judge-unseen": "There is no gold label of a group, so that its numbers rest on how the judge "
    "errs in others. Label items of it (`--truth`).",
    "favour-unseen": "So few gold labels would often not show that a judge favours a group. Label "
    "more items of each group (`--truth`).",
    "groups-alike": "Something is assumed to be the same in all groups, so that differences in it "
    "are not seen. Estimate a group alone (`--where`).",
}
NOTES = {
    "prior-weight-unknown": "How much your prior counts beside the ratings is not known.",
    "system-is-unknown": "Whether the system is better than its raters is unknown to `calibrated`, "
    "which overestimates systems that are like their raters. Say so if you know it "
    "(`--system-is`), or give gold labels of random items (`--truth`).",
    "tree-depth": "Trajectories of the sampler were cut off, which is slow and not wrong.",
    "raters-alike": "The method takes all raters for equally accurate, and does not compare them.",
    "groups-made": "How groups were made of a column, and which items belong to none.",
    "guessing-undefined": "Raters who always know the truth never guess.",
    "identification-unchecked": "With so many parameters, whether others fit is not checked.",
    "starts": "How many of the starts reached the same mode.",
    "known-truths-used": "Gold labels entered the fit as data.",
    "deviance-undefined": "G² is not defined for these ratings.",
    "deviance-distribution": "There are too few items for a chi-square test by G².",
    "labels-tied": "Several categories of an item are equally probable.",
    "labels-and-system": "Whether the system's answers are part of the labels. Leave them out to "
    "train it (`--without-system`).",
    "rater-group-accuracy": "How the accuracy of a group of raters is computed.",
    "weights-by-position": "Weights depend on the places of categories, not on their values.",
    "repeats-share-vote": "Repeated ratings of an item by a rater share one vote.",
    "system-not-a-rater": "Coefficients of all raters do not include the system.",
}
CODES: dict[str, tuple[Severity, str]] = {
    code: (severity, meaning)
    for severity, meanings in zip(SEVERITIES, (CHANGES, LIMITS, NOTES), strict=True)
    for code, meaning in meanings.items()
}
"""For each code, its severity, and what it means and what to do about it.

Options are those of each command that prints it; in Python, `--truth-probability` is the argument
`truth_probability`.
"""
