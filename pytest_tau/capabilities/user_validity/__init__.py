"""Checks of what the simulated user has done in a conversation: ``--tau-user-fault``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ...capability import Capability, Command, FactColumn, declared, deferred, option, quoted


@dataclass(frozen=True)
class UserFault:
    """What is done with trials in which the simulated user makes a fault.

    Attributes:
        mode: ``count`` reports it, ``exclude`` excludes the trial from rates, ``rerun`` runs the trial again.
        reruns: How often a trial is run again at most.
    """

    mode: Literal["count", "exclude", "rerun"] = "count"
    reruns: int = 0

    def __str__(self) -> str:
        return f"{self.mode}:{self.reruns}" if self.mode == "rerun" else self.mode

    @classmethod
    def parse(cls, value: str) -> UserFault:
        """Return what ``count``, ``exclude`` or ``rerun:N`` stands for.

        Raises:
            ValueError: It is something else.
        """
        if value in ("count", "exclude"):
            return cls("count" if value == "count" else "exclude")
        name, colon, number = value.partition(":")
        if name != "rerun" or (colon and re.fullmatch(r"[1-9][0-9]?", number) is None):
            raise ValueError(f"expected count, exclude, rerun, or rerun:N with N from 1 to 99, got {quoted(value)}")
        return cls("rerun", int(number) if colon else 1)


@declared(frozen=True)
class UserValiditySettings:
    """The settings.

    Attributes:
        user_fault: What is done with trials in which the simulated user makes a fault.
    """

    user_fault: UserFault = option(
        UserFault.parse,
        "verdict",
        "WHAT",
        default=UserFault(),
        example="exclude",
        help="trials in which the simulated user makes a fault: count (default) only reports them, exclude excludes "
        "them from rates, rerun[:N] runs such a trial again, up to N times (1)",
    )


capability = Capability(
    name="user_validity",
    title="user faults",
    settings=UserValiditySettings,
    on=lambda _settings: True,
    check=deferred(f"{__name__}.trial:check_run"),
    attempts=lambda settings: settings.user_fault.reruns + 1,
    trial=deferred(f"{__name__}.trial:UserStages"),
    facts=deferred(f"{__name__}.facts:UserFacts"),
    columns=(
        FactColumn("user_faults", "faults", label="User faults", kind="text"),
        FactColumn("user_valid", "valid", metric=True, most=1.0, every=True),
    ),
    summary=deferred(f"{__name__}.summary:summary"),
    comparison=deferred(f"{__name__}.summary:comparison"),
    failure=deferred(f"{__name__}.facts:failure"),
    commands=(
        Command(
            "users", "look", "show how the simulated users of runs behave", deferred(f"{__name__}.command:add_parser")
        ),
    ),
)
