"""The attacks that a run names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ...errors import unknown_name
from ..hook_calls import attacks_of_plugins
from ..options import OptionValues

if TYPE_CHECKING:
    from ...attacks import Attack

#: The name that stands for all attacks.
ALL = "all"


def named_attacks(config: pytest.Config) -> tuple[Attack, ...]:
    """Return the attacks that ``--tau-attack`` names, each once.

    Raises:
        pytest.UsageError: There is no attack of a name, or ``--tau-attack-only`` is given without an attack.
    """
    values = OptionValues(config)
    names: tuple[str, ...] = values.get("attack")
    if not names:
        if values.get("attack_only"):
            raise pytest.UsageError(f"{values.label('attack_only')}: no attack is named; add --tau-attack NAME")
        return ()
    from ...attacks import BUILT_IN_ATTACKS

    known = BUILT_IN_ATTACKS | attacks_of_plugins(config)
    for name in names:
        if name != ALL and name not in known:
            raise pytest.UsageError(f"{values.label('attack')}: {unknown_name('attack', name, [*known, ALL])}")
    return tuple(known.values()) if ALL in names else tuple(known[name] for name in names)
