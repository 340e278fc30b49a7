"""Trials that passed without what has to come before a change: ``--tau-near-misses``."""

from __future__ import annotations

from ...capability import Capability, Command, FactColumn, declared, deferred, flag, option


@declared(frozen=True)
class NearMissSettings:
    """The settings.

    Off by default: the line about broken rules names most of these trials, and ``tau near-miss`` finds them in stored
    runs.

    Attributes:
        near_misses: Whether passed trials are looked at.
    """

    near_misses: bool = option(
        flag,
        "output",
        default=False,
        rerun=0,
        help="report the passed trials in which what has to be read, verified, stated or confirmed before a change was "
        "not, or a value was guessed; the reward does not depend on it",
    )


capability = Capability(
    name="near_miss",
    title="near misses",
    lint=deferred(f"{__name__}.lint:lint"),
    settings=NearMissSettings,
    trial=deferred(f"{__name__}.summary:NearMissStages"),
    facts=deferred(f"{__name__}.summary:NearMissFacts"),
    columns=(
        FactColumn(
            "near_miss",
            label="Near miss",
            metric=True,
            most=1.0,
            lacking="no trial passed, or --tau-near-misses is not given",
        ),
        FactColumn("omitted", kind="text"),
    ),
    summary=deferred(f"{__name__}.summary:summary"),
    failure=deferred(f"{__name__}.summary:failure"),
    page=deferred(f"{__name__}.summary:page"),
    commands=(
        Command(
            "near-miss",
            "look",
            "show passed trials that were right for the wrong reason",
            deferred(f"{__name__}.command:add_parser"),
        ),
    ),
)
