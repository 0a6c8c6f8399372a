"""What fits say while they go on."""

import logging
import re

from experiments.cli.progress_lines import progress_lines


def test_steps_are_shown_with_the_time_and_only_while_asked_for(capsys):
    logger = logging.getLogger("bayes_models.fit")
    with progress_lines():
        logger.info("%s: sampling", "relaxed_k")
    logger.info("%s: sampling", "tap")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and re.fullmatch(r"relaxed_k: sampling … \(\d+ s\)", lines[0])


def test_the_command_says_what_was_found_on_disk(run, monkeypatch):
    from bayes_models.sampling import compiled

    for expected in ("", "dawid_skene: cached"):
        monkeypatch.setattr(compiled, "_compiled", {})
        options = ("--system", "System", "--method", "dawid_skene")
        code, _, err = run("estimate", "lehner_table2", *options)
        assert code == 0 and expected in err and "dawid_skene: sampling" in err
