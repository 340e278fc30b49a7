"""Environments of a domain outside of a test run, over HTTP and over MCP: ``tau serve``."""

from __future__ import annotations

from ...capability import Capability, Command, deferred

capability = Capability(
    name="serving",
    commands=(
        Command(
            "serve",
            "serve",
            "serve environments of a domain over HTTP and MCP",
            deferred(f"{__name__}.command:add_parser"),
        ),
    ),
)
