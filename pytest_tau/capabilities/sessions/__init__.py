"""Tasks whose user calls several times: the field ``sessions`` of a task, and ``--tau-fresh-sessions``."""

from __future__ import annotations

from ...capability import Capability, declared, deferred, flag, option


@declared(frozen=True)
class SessionSettings:
    """The settings.

    Attributes:
        fresh_sessions: Whether each session has a new agent.
    """

    fresh_sessions: bool = option(
        flag,
        "verdict",
        default=False,
        help="make a new agent for each session of a task, so that it remembers only what it has stored (default: one "
        "agent object for all sessions)",
    )


capability = Capability(
    name="sessions",
    settings=SessionSettings,
    on=lambda _settings: True,
    trial=deferred(f"{__name__}.stages:make_stages"),
    components=deferred(f"{__name__}.component:components"),
    page=deferred(f"{__name__}.stages:page"),
    facts=deferred(f"{__name__}.stages:SessionFacts"),
)
