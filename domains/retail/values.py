"""The values of the shop's policy."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_tau.environment import read_values

if TYPE_CHECKING:
    from pytest_tau.environment import Values

_FOLDER = Path(__file__).parent
#: Those of the bundled policy.
VALUES = read_values(_FOLDER / "values.toml")


def cancel_reasons(values: Values) -> list[str]:
    """Return the reasons for which an order can be cancelled."""
    return re.findall(r'"([^"]+)"', values["cancel_reasons"])


@functools.lru_cache(maxsize=32)
def stated_values(policy: str) -> Values:
    """Return the values that a policy states; of one that words them differently, those of the bundled one."""
    return VALUES.stated_in(policy, (_FOLDER / "policy.md").read_text(encoding="utf-8"))
