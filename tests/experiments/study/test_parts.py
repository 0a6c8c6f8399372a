"""Parts that are kept: computed once, whole or not at all, and together one table."""

from functools import partial

import pandas as pd
import pytest

from experiments.study.parts import keep_parts, read_parts


def part(number, done):
    done.append(number)
    if number == 2 and len(done) == 2:
        raise KeyboardInterrupt
    return pd.DataFrame({"number": [number]}).to_csv(index=False)


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    done = []
    parts = {tmp_path / "parts" / f"{n}.csv": partial(part, n, done) for n in (1, 2, 3)}
    first, second, third = parts
    with pytest.raises(KeyboardInterrupt):
        list(keep_parts(parts))
    assert list((tmp_path / "parts").iterdir()) == [first]
    assert list(keep_parts(parts)) == [second, third]
    assert done == [1, 2, 2, 3] and list(keep_parts(parts)) == []
    assert read_parts(parts)["number"].tolist() == [1, 2, 3]
    assert first.read_bytes() == b"number\n1\n"
