"""Trials under attack: which there are, and which tasks an attack cannot be used on."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from ...capability import run_of
from ...errors import CapabilityError, ConfigurationError, unknown_name
from ...text import plural
from . import PARAMETER
from .attack import Attack
from .plan import Attacked, NotAttacked, plan_attack
from .reads import Mode
from .styles import BUILT_IN_ATTACKS

if TYPE_CHECKING:
    from ...capability import RunHandle, RunTask
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
    run = run_of(config)
    if not settings.attack:
        raise pytest.UsageError(f"{run.label('attack_only')}: no attack is named; add --tau-attack NAME")
    known = BUILT_IN_ATTACKS | _attacks_of_plugins(run)
    for name in settings.attack:
        if name != _ALL and name not in known:
            raise pytest.UsageError(f"{run.label('attack')}: {unknown_name('attack', name, [*known, _ALL])}")
    every = _ALL in settings.attack
    return Attacks(run, [*known.values()] if every else [known[name] for name in settings.attack], settings)


def _attacks_of_plugins(run: RunHandle) -> dict[str, Attack]:
    """Return the attacks of plugins and conftest.py files, by name."""
    expected = "a list of objects of classes that derive from Attack"
    return {attack.name: attack for attack in run.provided("pytest_tau_attacks", Attack, expected, _check_attack)}


def _check_attack(attack: Attack) -> None:
    """Check the name and the goals of an attack.

    Raises:
        ValueError: They cannot be used.
    """
    if not isinstance(attack.name, str) or not _NAME.fullmatch(attack.name) or attack.name == _ALL:
        expected = "a name of letters, digits and _+- other than 'all'"
        raise ValueError(f"got an attack called {attack.name!r}, expected {expected}")
    for kind in attack.goals:
        if kind not in ("write", "leak"):
            problem = f"the attack {attack.name!r} with the goal {kind!r}"
            raise ValueError(f"got {problem}, expected goals of the kinds 'write' and 'leak'")


class Attacks:
    """Runs tasks under attacks.

    Args:
        run: The run.
        attacks: The attacks.
        settings: The settings.
    """

    def __init__(self, run: RunHandle, attacks: list[Attack], settings: AttackSettings) -> None:
        self._run, self._attacks, self._settings = run, attacks, settings
        self._not_attacked: dict[str, str] = {}

    def pytest_report_header(self) -> str:
        """Show the attacks."""
        return f"tau: attack {', '.join(attack.name for attack in self._attacks)}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_tau_plan(self, specs: list[RunTask]) -> None:
        """Add the variants of tasks under attack, each after its task.

        Raises:
            ConfigurationError: An attack can be used on none of the tasks; with ``all``, none of the attacks can.
        """
        if not specs:
            return
        attacked = {attack.name: [_under(attack, spec) for spec in specs] for attack in self._attacks}
        unusable = [attack for attack in self._attacks if all(_not_attacked(attack, spec) for spec in specs)]
        if unusable and (_ALL not in self._settings.attack or len(unusable) == len(attacked)):
            reason = _not_attacked(unusable[0], specs[0])
            tasks = f"{plural(len(specs), 'task')} of {specs[0].domain.name}"
            raise ConfigurationError(f"--tau-attack: it can be used on none of {tasks}: {reason}")
        plain = [] if self._settings.attack_only else [list(specs)]
        specs[:] = [spec for row in zip(*plain, *attacked.values(), strict=True) for spec in row]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note why a trial was skipped, also of an xdist worker."""
        text = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else ""
        if report.skipped and _SKIPPED in text:
            self._not_attacked[report.nodeid] = text.partition(_SKIPPED)[2]

    def pytest_sessionfinish(self) -> None:
        """Add to the summary how many trials were not attacked, and why."""
        for reason, number in Counter(self._not_attacked.values()).items():
            self._run.line(f"{_SKIPPED}{plural(number, 'trial')}: {reason}", yellow=True)


def _under(attack: Attack, spec: RunTask) -> RunTask:
    def skipped() -> str | None:
        reason = _not_attacked(attack, spec)
        return None if reason is None else f"{_SKIPPED}{reason}"

    return spec.variant(f"{PARAMETER}{attack.name}", _CAPABILITY, Attacked(attack, _mode(spec)), skipped=skipped)


def _mode(spec: RunTask) -> Mode:
    settings = spec.config.simulation
    return Mode(settings.solo, settings.policy, settings.retrieval)


def _not_attacked(attack: Attack, spec: RunTask) -> str | None:
    """Return why an attack cannot be used on a task; None if it can."""
    try:
        plan = plan_attack(attack, spec.task, spec.domain, _mode(spec))
    except CapabilityError:
        return None  # the trial reports it
    return plan.text if isinstance(plan, NotAttacked) else None
