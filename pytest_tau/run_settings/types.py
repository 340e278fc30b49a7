"""Types of the settings of a run: functions that turn what a user wrote into a value, as argparse has them.

Each takes the text of an option (of a repeated option, the list of its texts) and raises a ``ValueError`` whose text
follows the name of the option in the usage error. They are called when a value is first used and not by argparse,
because values come from ini files as well. What they need of the other packages is imported at that time.
"""

from __future__ import annotations

import os
import re
from math import inf
from typing import TYPE_CHECKING, Any

from ..settings import object_like, quoted

if TYPE_CHECKING:
    from ..environment import Difficulty

#: Variables that number the machines of a job, and count them; and the first number, or the variable that has it.
_NUMBERED = (
    ("TAU_SHARD_INDEX", "TAU_SHARD_TOTAL", "0"),
    ("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"),
    ("JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", "0"),
    ("CI_NODE_INDEX", "CI_NODE_TOTAL", "1"),
    ("CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL", "0"),
    ("BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", "0"),
)


def persona(value: str) -> dict[str, dict[str, float]]:
    """Return the weights of the values of a persona, by key, from JSON or from ``KEY=VALUE:WEIGHT,VALUE:WEIGHT``."""
    weights_by_key = (
        object_like(value, '{"verbosity": "minimal"}') if value.lstrip().startswith("{") else _persona_pairs(value)
    )
    return {key: _weights(key, weights) for key, weights in weights_by_key.items()}


def _persona_pairs(value: str) -> dict[str, dict[str, Any]]:
    weights_by_key: dict[str, dict[str, Any]] = {}
    key = ""
    for part in value.split(","):
        before, equals, after = part.rpartition("=")
        key = before.strip() if equals else key
        name, colon, weight = after.partition(":")
        if not key or not name.strip():
            raise ValueError(f"expected KEY=VALUE, such as verbosity=minimal:0.8,standard:0.2, got {quoted(value)}")
        weights_by_key.setdefault(key, {})[name.strip()] = weight.strip() if colon else 1
    return weights_by_key


def _weights(key: str, given: Any) -> dict[str, float]:
    """Return the weights of a key's values, without those that are 0."""
    from ..errors import unknown_name
    from ..participants.personas import BEHAVIOUR, VALUES

    if key not in VALUES:
        raise ValueError(unknown_name("key", key, VALUES))
    weights: dict[Any, Any] = given if isinstance(given, dict) else {str(given): 1}
    numbers = {}
    for name, weight in weights.items():
        # The plugins that may add behaviours are asked later.
        if name not in VALUES[key] and key != BEHAVIOUR:
            raise ValueError(unknown_name(f"value of {key}", str(name), VALUES[key]))
        try:
            numbers[name] = float(weight)
        except (TypeError, ValueError):
            raise ValueError(f"{key}={name}: expected a weight such as 0.8, got {quoted(str(weight))}") from None
        if not 0 <= numbers[name] < inf:
            raise ValueError(f"{key}={name}: expected a weight of at least 0, got {quoted(str(weight))}")
    positive = {name: weight for name, weight in numbers.items() if weight}
    if not positive:
        raise ValueError(f"{key}: expected a value with a weight above 0")
    return positive


def provider_limits(value: str) -> dict[str, int]:
    """Return the limits in a list such as ``openai=40,gemini=20``, by the names of the providers."""
    limits: dict[str, int] = {}
    for part in value.split(","):
        name, _, number = (text.strip() for text in part.partition("="))
        if not name or re.fullmatch(r"[1-9][0-9]{0,5}", number) is None:
            raise ValueError(f"expected a list of NAME=N, such as openai=40,gemini=20, got {quoted(part.strip())}")
        limits[name] = int(number)
    return limits


def difficulty(value: str) -> Difficulty:
    """Return the difficulty in a list such as ``requests=2,faults=3``."""
    from dataclasses import fields

    from ..environment import Difficulty

    known = [row.name for row in fields(Difficulty)]
    levels: dict[str, int] = {}
    for part in value.split(","):
        name, _, number = (text.strip() for text in part.partition("="))
        if name not in known or re.fullmatch(r"[0-9]{1,3}", number) is None:
            expected = ", ".join(f"{kind}=N" for kind in known)
            raise ValueError(f"expected a list of {expected}, each N from 0 to 999, got {quoted(part.strip())}")
        levels[name] = int(number)
    return Difficulty(**levels)


def shard(value: str) -> tuple[int, int]:
    """Return the number of a part, from 1, and the number of parts; ``auto`` reads them in the environment."""
    if value == "auto":
        return _numbered()
    match = re.fullmatch(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})", value)
    if match is None or int(match[1]) > int(match[2]):
        raise ValueError(f"expected auto, or I/N with I from 1 to N, such as 2/4, got {value!r}")
    return int(match[1]), int(match[2])


def _numbered() -> tuple[int, int]:
    """Return the number of this machine, from 1, and the number of machines."""
    environment = {**os.environ, "0": "0", "1": "1"}
    index, total, first = next((variables for variables in _NUMBERED if variables[0] in os.environ), ("", "", ""))
    if not index:
        names = ", ".join(f"{index} with {total}" for index, total, _ in _NUMBERED)
        raise ValueError(f"auto: expected one of {names} in the environment")
    try:
        step = int(os.environ.get("SLURM_ARRAY_TASK_STEP", "1")) if index.startswith("SLURM") else 1
        number = (int(environment[index]) - int(environment[first])) // step + 1
        if 1 <= number <= int(environment[total]):
            return number, int(environment[total])
    except (KeyError, ValueError, ZeroDivisionError):
        pass
    values = ", ".join(f"{name}={environment.get(name, '(not set)')}" for name in (index, total))
    raise ValueError(f"auto: expected the number of a machine, and of how many, got {values}")
