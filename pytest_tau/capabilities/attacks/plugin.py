"""Trials under attack: which there are, and which tasks an attack cannot be used on."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from ...errors import CapabilityError, ConfigurationError, unknown_name
from ...plugin.hook_calls import call_listed
from ...plugin.items import item_state, spec_of, variant_of
from ...plugin.options import OptionValues
from ...plugin.seams import SummaryLine
from ...text import plural
from . import PARAMETER
from .attack import Attack
from .plan import Attacked, NotAttacked, plan_attack
from .reads import Mode
from .styles import BUILT_IN_ATTACKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...plugin.items import TaskSpec
    from . import AttackSettings

#: The name of the capability, and the name that stands for all attacks.
_CAPABILITY, _ALL = "attacks", "all"
#: How the reason of a skipped trial begins.
_SKIPPED = "not attacked: "
_NAME = re.compile(r"[A-Za-z0-9_+-]{1,60}")


def make_attacks(config: pytest.Config, settings: AttackSettings) -> Attacks:
    """Return what runs tasks under the attacks that ``--tau-attack`` names.

    Raises:
        pytest.UsageError: There is no attack of a name, or ``--tau-attack-only`` is given without an attack.
    """
    values = OptionValues(config)
    if not settings.attack:
        raise pytest.UsageError(f"{values.label('attack_only')}: no attack is named; add --tau-attack NAME")
    known = BUILT_IN_ATTACKS | _attacks_of_plugins(config)
    for name in settings.attack:
        if name != _ALL and name not in known:
            raise pytest.UsageError(f"{values.label('attack')}: {unknown_name('attack', name, [*known, _ALL])}")
    every = _ALL in settings.attack
    return Attacks([*known.values()] if every else [known[name] for name in settings.attack], settings)


def _attacks_of_plugins(config: pytest.Config) -> dict[str, Attack]:
    """Return the attacks of plugins and conftest.py files, by name."""
    found: dict[str, Attack] = {}
    expected = "a list of objects of classes that derive from Attack"
    for call, attack in call_listed(config, config.hook.pytest_tau_attacks, Attack, expected):
        if not isinstance(attack.name, str) or not _NAME.fullmatch(attack.name) or attack.name == _ALL:
            expected = "a name of letters, digits and _+- other than 'all'"
            raise pytest.UsageError(call.mistake(f"an attack called {attack.name!r}", expected))
        for kind in attack.goals:
            if kind not in ("write", "leak"):
                problem = f"the attack {attack.name!r} with the goal {kind!r}"
                raise pytest.UsageError(call.mistake(problem, "goals of the kinds 'write' and 'leak'"))
        found[attack.name] = attack
    return found


class Attacks:
    """Runs tasks under attacks.

    Args:
        attacks: The attacks.
        settings: The settings.
    """

    def __init__(self, attacks: list[Attack], settings: AttackSettings) -> None:
        self._attacks, self._settings = attacks, settings
        self._not_attacked: dict[str, str] = {}

    def pytest_report_header(self) -> str:
        """Show the attacks."""
        return f"tau: attack {', '.join(attack.name for attack in self._attacks)}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_tau_plan(self, specs: list[TaskSpec]) -> None:
        """Add the variants of tasks under attack, each after its task.

        Raises:
            ConfigurationError: An attack can be used on none of the tasks; with ``all``, none of the attacks can.
        """
        if not specs:
            return
        attacked = {attack.name: [_under(attack, spec) for spec in specs] for attack in self._attacks}
        unusable = [name for name, found in attacked.items() if all(map(_not_attacked, found))]
        if unusable and (_ALL not in self._settings.attack or len(unusable) == len(attacked)):
            reason = _not_attacked(attacked[unusable[0]][0])
            tasks = f"{plural(len(specs), 'task')} of {specs[0].domain.name}"
            raise ConfigurationError(f"--tau-attack: it can be used on none of {tasks}: {reason}")
        plain = [] if self._settings.attack_only else [list(specs)]
        specs[:] = [spec for row in zip(*plain, *attacked.values(), strict=True) for spec in row]

    def pytest_tau_is_skipped(self, item: pytest.Item) -> bool:
        """Return whether the attack of an item cannot be used on its task."""
        return self._reason(item) is not None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Skip such a trial, with the attack and the reason."""
        if (reason := self._reason(item)) is not None:
            pytest.skip(f"{_SKIPPED}{reason}")

    def _reason(self, item: pytest.Item) -> str | None:
        spec = spec_of(item)
        return None if spec is None or item_state(item).restored else _not_attacked(spec)

    def pytest_tau_phase_reported(self, report: pytest.TestReport) -> None:
        """Note why a trial was skipped, also of an xdist worker."""
        text = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else ""
        if report.skipped and _SKIPPED in text:
            self._not_attacked[report.nodeid] = text.partition(_SKIPPED)[2]

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return how many trials were not attacked, and why."""
        for reason, number in Counter(self._not_attacked.values()).items():
            yield SummaryLine(f"tau: {_SKIPPED}{plural(number, 'trial')}: {reason}", {"yellow": True})


def _under(attack: Attack, spec: TaskSpec) -> TaskSpec:
    settings = spec.config.simulation
    mode = Mode(settings.solo, settings.policy, settings.retrieval)
    return variant_of(spec, f"{PARAMETER}{attack.name}", _CAPABILITY, Attacked(attack, mode))


def _not_attacked(spec: TaskSpec) -> str | None:
    """Return why the attack of a task cannot be used on it; None if it can, or there is no attack."""
    active = spec.config.simulation.capabilities
    variant = next((each.variant for each in active if isinstance(each.variant, Attacked)), None)
    if variant is None:
        return None
    try:
        plan = plan_attack(variant.attack, spec.task, spec.domain, variant.mode)
    except CapabilityError:
        return None  # the trial reports it
    return plan.text if isinstance(plan, NotAttacked) else None
