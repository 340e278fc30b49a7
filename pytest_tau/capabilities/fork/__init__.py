"""Stored conversations, continued from one of their messages on: ``--tau-fork``, and ``tau fork``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...capability import Capability, Command, declared, deferred, integer, option, quoted, text

if TYPE_CHECKING:
    from collections.abc import Mapping


def _turns(value: str) -> tuple[tuple[int, int], ...] | None:
    from .turns import read_turns

    return read_turns(value)


def _restore(value: str) -> dict[str, str]:
    """Return how sides are restored: ``agent=replay,user=history``."""
    by_side = {}
    for part in value.split(","):
        side, _, how = part.strip().partition("=")
        if side not in ("agent", "user") or how not in ("history", "replay"):
            raise ValueError(f"expected agent=HOW or user=HOW with history or replay, got {quoted(value)}")
        by_side[side] = how
    return by_side


@declared(frozen=True)
class ForkSettings:
    """The settings.

    Attributes:
        fork: The stored run, as it was named.
        fork_turn: The messages from which it is continued, as ranges; None for every message of the agent.
        fork_trial: The stored trial; None for the first failed one, else the first.
        fork_restore: How a side gets the messages so far, by side.
    """

    fork: str | None = option(
        text,
        "session",
        "RUN",
        path=True,
        help="continue conversations of this stored run from a message on, instead of beginning new ones; the model "
        "calls before it are not repeated",
    )
    fork_turn: tuple[tuple[int, int], ...] | None = option(
        _turns,
        "session",
        "TURNS",
        example="each",
        help="with --tau-fork, the messages from which it is continued, by their numbers in tau show: 7, 7,11 or "
        "7-15 (those of the agent in this range), or each, every message of the agent (default: each)",
    )
    fork_trial: int | None = option(
        integer(0),
        "session",
        "N",
        help="with --tau-fork, the stored trial that is continued (default: the first failed one, else the first)",
    )
    fork_restore: Mapping[str, str] = option(
        _restore,
        "session",
        "HOW",
        default={},
        example="agent=replay",
        help="with --tau-fork, how a side gets the messages so far: history (it is created with them), or replay "
        "(it is sent them again), such as agent=replay (default: replay for sides without a model)",
    )


capability = Capability(
    name="fork",
    settings=ForkSettings,
    trial=deferred(f"{__name__}.trial:ForkStages"),
    hooks=deferred(f"{__name__}.plugin:make_fork"),
    facts=deferred(f"{__name__}.trial:ForkFacts"),
    failure=deferred(f"{__name__}.trial:origin"),
    commands=(
        Command(
            "fork",
            "compare",
            "continue a stored conversation from a turn on, several times",
            deferred(f"{__name__}.command:add_parser"),
            runs_pytest=True,
        ),
    ),
)
