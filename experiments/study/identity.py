"""What a scenario and a method are known by, and the seeds that follow from it.

Seeds depend on nothing else, so that a study can grow, and be done in any order by any number of
workers, without a number changing. Stored results are known by more: also by the seed of the study
and the version of the package, so that what another version computed is not mixed in.
"""

import hashlib
import json
from dataclasses import asdict, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from lehner import Scenario

if TYPE_CHECKING:
    from experiments.study.options import MethodChoice
    from experiments.study.user_code import Generated

# Seeds were first made under these names, so that they stay.
SEEDED_AS = {
    "initial_rater_accuracy": "rater_accuracy",
    "initial_system_accuracy": "system_accuracy",
    "easiness": "difficulty",
    "easiness_probabilities": "difficulty_probabilities",
    "easiness_affects": "difficulty_affects",
}
FORMAT = 5
"""Of stored results. Raise it when a method gives other estimates before the next version."""


@lru_cache(maxsize=4096)
def scenario_id(scenario: "Scenario | Generated") -> str:
    """Twelve hexadecimal digits that stand for what a scenario has other than by default.

    One that a user's function simulates is known by the text of the file, and the fields.
    """
    if not isinstance(scenario, Scenario):
        code = scenario.code
        return digest(["generated", code.function, code.hash, scenario.fields])
    # Known by equality here and by its text on disk: `Scenario` writes what is equal alike.
    plain = {field.name: field.default for field in fields(scenario)}
    own = {name: x for name, x in asdict(scenario).items() if x != plain[name]}
    return digest({SEEDED_AS.get(name, name): x for name, x in own.items()})


def method_id(method: "MethodChoice", level: float) -> str:
    """Twelve hexadecimal digits that stand for a method, its options and its intervals.

    A user's function is known by the text of its file, too.
    """
    known_by = [method.method, [[name, value] for name, value in method.options], level]
    return digest(known_by if method.code is None else [*known_by, method.code.hash])


def place_of(scenario: str) -> tuple[int]:
    """Place of a scenario in a study, by its id: see `experiments.study.cells`."""
    return (int(scenario, 16),)


def data_seed(seed: int, scenario: str, replicate: int) -> int:
    """Seed with which `lehner.simulate` makes the data of a replicate of a scenario, by its id."""
    return seed_at(np.random.SeedSequence(seed, spawn_key=place_of(scenario)), replicate)


def seed_at(cell: np.random.SeedSequence, *place: int) -> int:
    """Seed at a place in a cell: of a replicate, or of a replicate and a method."""
    key = (*cell.spawn_key, *place)
    state = np.random.SeedSequence(cell.entropy, spawn_key=key).generate_state(1, np.uint64)
    return int(state[0] >> np.uint64(1))


def digest(value: Any) -> str:
    """Twelve hexadecimal digits that stand for anything JSON can say."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]
