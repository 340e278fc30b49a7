"""Mutants of an agent: small faults of which a good set of tasks notices each (``tau mutants``)."""

from __future__ import annotations

from ...capability import Capability, Command, deferred

capability = Capability(
    name="mutants",
    lint=deferred(f"{__name__}.lint:lint"),
    commands=(
        Command(
            "mutants",
            "look",
            "show the faults of an agent that no task notices",
            deferred(f"{__name__}.command:add_parser"),
        ),
    ),
)
