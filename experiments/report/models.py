"""Views of what models say beside estimates: predictions, K-properties, studies, a pair."""

import math

from experiments.report.views import (
    ACCURACIES,
    ANY,
    Record,
    Row,
    View,
    method_table,
    number,
    side_by_side,
)
from experiments.reporting.table import Column, Table
from lehner.core.text import decimal, probability
from lehner.estimation.results import value_of

STUDIES = (
    "Earlier studies are the prior of some methods, and others ignore them: how often each rater "
    "that a study is about is right, and the system's accuracy by the weight of the studies' items."
)
PAIR = (
    "The accuracy is an average of that if the two are dependent and if they are not, which are as "
    "probable before the ratings. If they are dependent, on a share of the items of each true "
    "category their answers are as alike as their accuracies allow. Other methods ignore the pair."
)
PREDICTIONS = (
    "How well models predict the ratings of items left out of the fit (elpd is the expected log "
    "predictive density: the higher, the better)."
)
K_PROPERTIES = (
    "What the ratings say about the K-properties, the assumptions of the algebra. Each parameter "
    "is 0 where its property holds; the spreads are standard deviations. The Bayes factor is the "
    "evidence against a property: 3 is moderate, 10 strong (rejected); 1/3 is moderate evidence "
    "for it, 1/10 strong (supported); in between the ratings say little. With a probability of 90% "
    "the exact factor differs by less than the number after ±. No verdict is given that this error "
    "may change."
)
SLOPES = (
    "At slope 0 items that are difficult for the raters are no more difficult for the system; at "
    "slope 1 they are as difficult as for them."
)


def predictions(view: View) -> list[Table]:
    """Make the table of how well models predict items that were left out of the fit."""
    rows: list[Row] = []
    for method in sorted(view.methods, key=lambda one: -_elpd(view, one)):
        found = {q: number(view.first(q, method=method)) for q in _PREDICTED}
        if math.isnan(found["elpd"]):
            continue
        below = found["elpd_difference"]
        rows.append(
            (
                view.names(method),
                (_plus_minus(found["elpd"], found["elpd_se"]),),
                (_plus_minus(below, found["elpd_difference_se"]),) if below else None,
                (decimal(found["stacking_weight"], 2),),
            )
        )
    heads = (("elpd", "elpd"), ("difference", "below the best"), ("weight", "weight"))
    columns = [Column("method", "model"), *(Column(*head, str) for head in heads)]
    return [Table(columns=columns, rows=rows)] if rows else []


_PREDICTED = ("elpd", "elpd_se", "elpd_difference", "elpd_difference_se", "stacking_weight")


def _elpd(view: View, method: str) -> float:
    value = number(view.first("elpd", method=method))
    return -math.inf if math.isnan(value) else value


def _plus_minus(value: float, error: float) -> str:
    return f"{decimal(value, 1)} ± {decimal(error, 1)}"


def k_properties(view: View) -> list[Table]:
    """Make the table of the evidence on each K-property."""
    factors = view.pick("bayes_factor_against_zero", grouping=ANY, group=ANY, rater=ANY)
    rows: list[Row] = []
    for factor in factors:
        name, _, group = factor["versus"].partition("[")
        of = {"grouping": "rater_group", "group": group.rstrip("]")} if group else {}
        one = view.first(name, method=factor["method"], **of)
        if one is None:
            continue
        direction = one["probability"]
        sign = None if math.isnan(direction) else (probability(direction),)
        rows.append(
            (
                one["versus"],
                factor["versus"],
                value_of(one),
                sign,
                (_factor(factor),),
                (factor["kind"],),
            )
        )
    columns = [
        Column("k_property", ""),
        Column("parameter", "K-property, parameter"),
        Column("estimate"),
        Column("sign", "P(sign)", str),
        Column("bayes_factor", "Bayes factor", str),
        Column("verdict", "verdict", str),
    ]
    if not any(row[3] for row in rows):
        del columns[3]
        rows = [(*row[:3], *row[4:]) for row in rows]
    return [Table(columns=columns, rows=rows, keys=2, headings=True)] if rows else []


def _factor(row: Record) -> str:
    if math.isnan(row["estimate"]):
        return "" if math.isnan(row["lower"]) else f"> {row['lower']:.3g}"
    half = (row["upper"] - row["lower"]) / 2
    return decimal(row["estimate"], 2) + ("" if math.isnan(half) else f" ± {decimal(half, 2)}")


def earlier_studies(view: View) -> list[Table]:
    """Make the tables of prior and posterior, and of the accuracy by the weight of the studies."""
    rows: list[Row] = []
    for prior in view.pick("recall_prior", rater=ANY):
        at = {name: prior[name] for name in ("method", "rater", "category")}
        right = view.first("study_right", **at)
        counts = "" if right is None else f"{right['estimate']:.4g}/{right['n_items']:.4g}"
        after = view.value("recall_posterior", **at)
        names = (view.names(at["method"]), at["rater"], at["category"] or "any")
        rows.append((*names, (counts,), value_of(prior), after))
    if not rows:
        return []
    columns = [
        Column("method"),
        Column("rater", "study of"),
        Column("category"),
        Column("right", "right", str),
        Column("prior"),
        Column("posterior"),
    ]
    return [
        Table(columns=columns, rows=rows, keys=3),
        *_by_assumption(view, "study_weight", "weight"),
    ]


def _by_assumption(view: View, name: str, title: str) -> list[Table]:
    """Make the table of the accuracy by what it assumes, as the weight of earlier studies."""
    rows: list[Row] = []
    for one in view.pick(f"system_accuracy_if_{name}"):
        at = {"method": one["method"], "versus": one["versus"]}
        beside = view.value(f"system_accuracy_in_sample_if_{name}", **at)
        assumed = (one["versus"].partition("=")[2],)
        rows.append((view.names(one["method"]), assumed, beside, value_of(one)))
    columns = [Column("method"), Column(title, format=str)]
    columns += [Column(quantity, shown) for quantity, shown in ACCURACIES.items()]
    return [Table(columns=columns, rows=rows, keys=2)]


def dependent_pair(view: View) -> list[Table]:
    """Make the tables of a pair of raters who may share answers."""
    in_sample = "system_accuracy_in_sample_if"
    rows: list[Row] = []
    for one in view.pick(f"{in_sample}_dependent", rater=ANY):
        at = {name: one[name] for name in ("method", "rater", "versus")}
        log = number(view.first("log_bayes_factor_dependent", **at))
        error = number(view.first("log_bayes_factor_dependent_error", **at))
        pair = f"{one['rater']} and {one['versus']}"
        without = view.value(f"{in_sample}_independent", **at)
        rows.append(
            (view.names(one["method"]), pair, value_of(one), without, (bayes_factor(log, error),))
        )
    if not rows:
        return []
    columns = [
        Column("method"),
        Column("pair"),
        Column("if_dependent", "accuracy if dependent"),
        Column("if_independent", "if independent"),
        Column("bayes_factor", "Bayes factor", str),
    ]
    shares = ("shared_answers_prior", "shared_answers", "shared_covariance")
    heads = [Column("method"), Column("category", "true category")]
    titles = ("share, prior", "posterior", "covariance of being right")
    heads += [Column(*pair) for pair in zip(shares, titles, strict=True)]
    found: list[Row] = []
    for method in dict.fromkeys(one["method"] for one in view.pick(shares[0], rater=ANY)):
        own = view.pick(*shares, rater=ANY, method=method)
        each = side_by_side(own, shares, lambda one: one["category"], across="quantity")
        found += [(view.names(method), *row) for row in each]
    return [Table(columns=columns, rows=rows, keys=2), Table(columns=heads, rows=found, keys=2)]


def bayes_factor(log: float, error: float) -> str:
    """Write a Bayes factor; with a probability of 90% it differs by less than what follows "±".

    Examples
    --------
    >>> bayes_factor(1.0, 0.1), bayes_factor(-2.0, 0.05), bayes_factor(20.0, 0.5)
    ('2.7 ± 0.5', '0.14 ± 0.01', '> 1000')
    """
    if abs(log) - 3 * error > math.log(1000):
        return "> 1000" if log > 0 else "< 1/1000"
    value = math.exp(log)
    digits = 0 if value >= 10 else 1 - min(0, math.floor(math.log10(value)))
    return f"{value:.{digits}f} ± {value * math.expm1(1.645 * error):.{digits}f}"


def slopes(view: View) -> list[Table]:
    """Make the table of the accuracy by the system's slope on difficulty."""
    return _by_assumption(view, "slope", "slope") if view.pick("system_accuracy_if_slope") else []


def prevalence(view: View) -> list[Table]:
    """Make the table of the base rate of the positive category, in all items and by population."""
    positive = view.results.options.positive
    found = view.pick("base_rates", grouping=ANY, group=ANY, category=str(positive.name))
    found = [one for one in found if one["grouping"] in ("", "population")]
    rows = side_by_side(found, view.methods, lambda one: one["group"] or "all items")
    return method_table(view, {"prevalence": rows})
