"""Attacks by texts in results of tools, each with a goal that calls and texts decide: ``--tau-attack``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...capability import Capability, FactColumn, declared, deferred, flag, names, option

if TYPE_CHECKING:
    import pytest

    from .attack import Attack, AttackContext, Place
    from .fields import Field
    from .goals import Evidence, ForbiddenWrite, Goal, Leak
    from .targets import TargetContext

#: What own attacks are made of, by the module that has it.
_HOMES = {
    **dict.fromkeys(("Attack", "AttackContext", "Place"), "attack"),
    **dict.fromkeys(("Evidence", "ForbiddenWrite", "Goal", "Leak"), "goals"),
    "Field": "fields",
    "TargetContext": "targets",
}
__all__ = [
    "Attack",
    "AttackContext",
    "Evidence",
    "Field",
    "ForbiddenWrite",
    "Goal",
    "Leak",
    "Place",
    "TargetContext",
]
#: The beginning of the parameter of items under attack: ``task[attack.important-message-trial-0]``.
PARAMETER = "attack."


@declared(frozen=True)
class AttackSettings:
    """The settings.

    Attributes:
        attack: The names of the attacks, or ``all``.
        attack_only: The tasks are not run without an attack as well.
    """

    attack: tuple[str, ...] = option(
        names,
        "selection",
        "NAME",
        default=(),
        repeat=True,
        help="run each task also under this attack by a text in tool results, such as important-message; may be "
        "repeated, a comma-separated list, or all",
    )
    attack_only: bool = option(
        flag,
        "selection",
        default=False,
        rerun=0,
        help="with --tau-attack, do not run the tasks without an attack as well",
    )


class HookSpecs:
    """The hook of own attacks, which a ``conftest.py`` has whatever the settings are."""

    @staticmethod
    def pytest_tau_attacks(config: pytest.Config) -> list[Attack] | None:
        """Add attacks; collect-all. Called once in each process, if ``--tau-attack`` is given.

        Args:
            config: pytest's configuration.

        Returns:
            Attacks, or None: objects of classes that derive from ``pytest_tau.capabilities.attacks.Attack``. They take
            precedence over built-in ones of the same name.
        """


class _Declares:
    def pytest_addhooks(self, pluginmanager: pytest.PytestPluginManager) -> None:
        pluginmanager.add_hookspecs(HookSpecs)


capability = Capability(
    name="attacks",
    title="attack",
    settings=AttackSettings,
    trial=deferred(f"{__name__}.injection:stages"),
    hooks=deferred(f"{__name__}.plugin:make_attacks"),
    fixtures=_Declares,
    facts=deferred(f"{__name__}.facts:AttackFacts"),
    columns=(
        FactColumn("attack", "name", label="Attack", kind="text"),
        FactColumn("attack_style", "style"),
        FactColumn("attack_place", "place"),
        FactColumn("attack_goal", "goal"),
        FactColumn("attack_delivered", "read"),
        FactColumn("attack_success", "success", label="Success", kind="score", metric=True, most=1.0, apart=PARAMETER),
        FactColumn("attack_evidence", "evidence"),
        FactColumn("utility_under_attack", "utility", metric=True, most=1.0, apart=PARAMETER),
    ),
    summary=deferred(f"{__name__}.rates:summary"),
    comparison=deferred(f"{__name__}.rates:comparison"),
    failure=deferred(f"{__name__}.facts:failure"),
    page=deferred(f"{__name__}.facts:page"),
)


def __getattr__(name: str) -> Any:
    """Import what is public when it is asked for: this module is imported for its options."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
