"""What a suite touches of its domain, and what nothing touches: ``tau coverage``."""

from __future__ import annotations

from ...capability import Capability, Command, deferred

capability = Capability(
    name="coverage",
    lint=deferred(f"{__name__}.lint:lint"),
    commands=(
        Command(
            "coverage",
            "look",
            "show what tasks or runs touch of a domain, and what nothing touches",
            deferred(f"{__name__}.command:add_parser"),
        ),
    ),
)
