"""How the methods of a study are drawn."""

from dataclasses import replace

from experiments.reporting.method_style import MethodStyle, method_style
from experiments.study.definition import Study

VARIANTS = "osD^v<>P"


def study_styles(study: Study) -> dict[str, MethodStyle]:
    """Look of each method of a study by its label.

    Parameters
    ----------
    study : Study

    Returns
    -------
    dict of str to MethodStyle
        A method that occurs again with other options keeps its colour, with an open marker of
        another shape.
    """
    styles: dict[str, MethodStyle] = {}
    seen: list[str] = []
    for choice in study.methods:
        style = method_style(choice.method)
        if choice.label != choice.method:
            style = replace(style, label=choice.label.replace("_", " "))
        again = seen.count(choice.method)
        if again:
            others = [marker for marker in VARIANTS if marker != style.marker]
            style = replace(style, marker=others[(again - 1) % len(others)], filled=False)
        seen.append(choice.method)
        styles[choice.label] = style
    return styles
