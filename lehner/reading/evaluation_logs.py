"""Logs of evaluation tools as ratings: Inspect, lm-evaluation-harness and promptfoo."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lehner.core.errors import InputError

INSPECT, HARNESS, PROMPTFOO = "Inspect", "lm-evaluation-harness", "promptfoo"
MEANING = {
    INSPECT: "a scorer is a rater, and the value of its score a rating",
    HARNESS: "a model is a rater, its filtered response a rating, and the target the truth",
    PROMPTFOO: "an assertion is a rater, and whether it passed a rating",
}
REMEDY = {
    INSPECT: "give a log with samples and scores, as `inspect log dump` prints it",
    HARNESS: "give a file samples_… of a task with answers, as lm_eval writes if it logs samples",
    PROMPTFOO: "give the JSON or JSON Lines output of an evaluation with assertions",
}
COLUMNS = ("item", "rater", "rating", "truth", "model", "task")
VERDICTS = {True: "pass", False: "fail", None: None}
SAMPLES_FILE = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT")

type Row = dict[str, Any]


def tool_of(content: Any) -> str | None:
    """Name the tool that wrote a JSON file; None if it is no log."""
    if isinstance(content, dict):
        results = content.get("results")
        if "eval" in content and {"status", "samples"} & content.keys():
            return INSPECT
        if isinstance(results, dict) and isinstance(results.get("results"), list):
            return PROMPTFOO
        if is_summary(content):
            return HARNESS
    first = content[0] if isinstance(content, list) and content else content
    if isinstance(first, dict) and {"doc_id", "filtered_resps"} <= first.keys():
        return HARNESS
    if isinstance(first, dict) and {"testIdx", "promptIdx"} <= first.keys():
        return PROMPTFOO
    return None


def is_summary(content: Any) -> bool:
    """Whether a JSON file has the results of lm-evaluation-harness by task, without samples."""
    return isinstance(content, dict) and {"results", "configs"} <= content.keys()


def read_logs(logs: list[tuple[Any, Path]], tool: str) -> dict[str, list[Any]]:
    """Read the ratings in logs of a tool as columns of a table with a row per rating.

    Parameters
    ----------
    logs : list of pairs
        What each JSON file holds, and the file.
    tool : str
        As `tool_of` names it.

    Returns
    -------
    columns : dict of str to list
        `item`, `rater` and `rating`; `truth`, `model` and `task` where the tool has them. The name
        of an item has those of its parts (task, model, prompt, sample, epoch) that differ between
        items.

    Raises
    ------
    InputError
        If a log lacks what is needed.

    References
    ----------
    https://inspect.aisi.org.uk/eval-logs.html;
    https://github.com/EleutherAI/lm-evaluation-harness/blob/main/docs/interface.md;
    https://www.promptfoo.dev/docs/configuration/outputs
    """
    read = {INSPECT: _inspect_rows, HARNESS: _harness_rows, PROMPTFOO: _promptfoo_rows}[tool]
    rows: list[Row] = []
    for content, path in logs:
        try:
            new = list(read(content, path))
        except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            lack = f"has no {error}" if isinstance(error, KeyError) else "has another form"
            raise InputError(f"this log of {tool} {lack}", REMEDY[tool], file=path) from None
        if not new or any(isinstance(row["rating"], dict | list) for row in new):
            lack = "has several values for one rating" if new else "has no ratings"
            raise InputError(f"this log of {tool} {lack}", REMEDY[tool], file=path)
        rows += new
    columns: dict[str, list[Any]] = {name: [row.get(name) for row in rows] for name in COLUMNS}
    columns["item"] = _join(rows, "sample", ("task", "model", "prompt", "sample", "epoch"))
    columns["rater"] = _join(rows, "rater", ("rater", "filter"))
    return {name: values for name, values in columns.items() if any(v is not None for v in values)}


def _join(rows: list[Row], always: str, parts: tuple[str, ...]) -> list[Any]:
    """Join a part of names with those others that differ between rows."""
    different = {name for name in parts if len({str(row.get(name)) for row in rows}) > 1}
    return [
        " ".join(str(row.get(name)) for name in parts if name in {always, *different})
        for row in rows
    ]


def _inspect_rows(log: Any, path: Path) -> Iterator[Row]:
    about = {name: log["eval"].get(name) for name in ("task", "model")}
    for sample in log.get("samples") or ():
        item = about | {"sample": sample["id"], "epoch": sample.get("epoch")}
        for scorer, score in (sample.get("scores") or {}).items():
            yield item | {"rater": scorer, "rating": score["value"]}


def _harness_rows(samples: Any, path: Path) -> Iterator[Row]:
    task = SAMPLES_FILE.match(path.name)
    for sample in samples if isinstance(samples, list) else [samples]:
        yield {
            "sample": sample["doc_id"],
            "task": task and task[1],
            "rater": path.parent.resolve().name,
            "filter": sample.get("filter"),
            "rating": _answer(sample["filtered_resps"]),
            "truth": sample.get("target"),
        }


def _answer(responses: Any) -> Any:
    """Text of a response, or the number of the choice that is most probable."""
    first = responses[0] if isinstance(responses, list) else responses
    if isinstance(first, list) and len(first) == 2 and isinstance(first[1], bool):
        if len(responses) < 2:
            raise ValueError("a likelihood is no answer")
        likelihoods = [float(likelihood) for likelihood, _ in responses]
        return str(likelihoods.index(max(likelihoods)))
    return first[0] if isinstance(first, list) else first


def _promptfoo_rows(log: Any, path: Path) -> Iterator[Row]:
    results = log["results"]["results"] if "results" in log else log
    for result in results if isinstance(results, list) else [results]:
        provider = result["provider"]
        model = provider if isinstance(provider, str) else provider.get("label") or provider["id"]
        item = {"sample": result["testIdx"], "prompt": result.get("promptIdx"), "model": model}
        seen: Counter[str] = Counter()
        for one in (result.get("gradingResult") or {}).get("componentResults") or ():
            rater = _assertion_name(one.get("assertion") or {})
            seen[rater] += 1
            again = f" {seen[rater]}" if seen[rater] > 1 else ""
            yield item | {"rater": rater + again, "rating": VERDICTS[one["pass"]]}


def _assertion_name(assertion: Row) -> str:
    """Name an assertion by its metric, else by its type and the model that judges."""
    judge = assertion.get("provider") or ""
    named = judge.get("label") or judge.get("id") if isinstance(judge, dict) else judge
    return str(assertion.get("metric") or f"{assertion.get('type', 'assertion')} {named}".strip())
