"""What fits say while they go on."""

import logging
import re

from experiments.cli.options import progress_lines


def test_steps_are_shown_with_the_time_and_only_while_asked_for(capsys):
    logger = logging.getLogger("bayes_models.fit")
    elsewhere = logging.getLogger("lehner.core.resampling")
    with progress_lines():
        logger.info("%s: sampling", "relaxed_k")
        elsewhere.info("resampling: 20% done, 24 s left")
    logger.info("%s: sampling", "tap")
    lines = capsys.readouterr().err.splitlines()
    assert [re.sub(r"\d+ s\)", "0 s)", one) for one in lines] == [
        "relaxed_k: sampling … (0 s)",
        "resampling: 20% done, 24 s left … (0 s)",
    ]
