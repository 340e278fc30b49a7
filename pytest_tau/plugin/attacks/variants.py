"""The variants of tasks under attack."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ...errors import ConfigurationError
from ...text import plural
from ..context.attacks import ALL
from ..items import item_state, spec_of
from ..options import OptionValues
from ..run.attacks import is_not_attacked, not_attacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...attacks import Attack
    from ...runner import RunConfig
    from ..items import TaskSpec


def register(config: pytest.Config) -> None:
    """Register the skipping of tasks that an attack cannot be used on."""
    config.pluginmanager.register(NotAttackedTasks(), "tau-not-attacked")


def with_attacks(specs: Sequence[TaskSpec], config: pytest.Config, run: RunConfig) -> list[TaskSpec]:
    """Return tasks with their variants under attack, each after its task.

    Args:
        specs: The selected tasks of a domain, a file or a marked test.
        config: pytest's configuration.
        run: The settings of the run.

    Raises:
        ConfigurationError: An attack can be used on none of the tasks; with ``all``, none of the attacks can.
    """
    if not run.attacks or not specs:
        return list(specs)
    attacked = {attack.name: [_under(attack, spec) for spec in specs] for attack in run.attacks}
    everything = ALL in OptionValues(config).get("attack")
    unusable = [name for name, found in attacked.items() if all(map(not_attacked, found))]
    if unusable and (not everything or len(unusable) == len(attacked)):
        reason = not_attacked(attacked[unusable[0]][0])
        raise ConfigurationError(
            f"--tau-attack: it can be used on none of {plural(len(specs), 'task')} of {specs[0].domain.name}: {reason}"
        )
    plain = [] if run.attack_only else [list(specs)]
    return [spec for row in zip(*plain, *attacked.values(), strict=True) for spec in row]


def _under(attack: Attack, spec: TaskSpec) -> TaskSpec:
    return spec._replace(config=replace(spec.config, simulation=replace(spec.config.simulation, attack=attack)))


class NotAttackedTasks:
    """Skips the trials of tasks that their attack cannot be used on."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Skip such a trial, with the attack and the reason."""
        if spec_of(item) is not None and is_not_attacked(item):
            pytest.skip(f"not attacked: {item_state(item).report.not_attacked}")
