"""Commands over the documentation's files print and write what is kept, to the digit."""

import pytest

from tests.golden.outputs import COMMANDS, numbers, read_kept, run_command, same_number, words

CASES = [
    pytest.param(name, marks=pytest.mark.slow if case.get("slow") else ())
    for name, case in COMMANDS.items()
]
RENEW = "`python tests/golden/outputs.py` writes it again; look at the difference"


@pytest.mark.parametrize("name", CASES)
def test_output_is_as_kept(name):
    kept, new = read_kept(name), run_command(name)
    pairs = list(zip(numbers(kept), numbers(new), strict=False))
    other = [pair for pair in pairs if not same_number(*pair)]
    if words(kept) == words(new):
        assert not other, f"numbers differ, kept and new: {other[:10]}"
    else:
        assert new == kept, f"layout differs: {RENEW}"
