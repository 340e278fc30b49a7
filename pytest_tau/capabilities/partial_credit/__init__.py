"""How far conversations came, in every report: ``--tau-partial``. The numbers are those of the verdict."""

from __future__ import annotations

from math import inf

from ...capability import Capability, FactColumn, declared, deferred, flag, option

#: The numbers that are columns, in the order of ``pytest_tau.evaluation.partial``: shares, then counts.
SHARES = (
    *("progress", "state", "assertions", "phrases", "statements"),
    *("actions", "actions.read", "actions.write", "selection", "arguments"),
)
COUNTS = ("extra_writes", "extra_reads")


@declared(frozen=True)
class PartialCreditSettings:
    """The settings.

    Attributes:
        partial: Whether partial credit is in the summary and in failure reports.
    """

    partial: bool = option(
        flag,
        "output",
        default=False,
        rerun=0,
        help="show partial credit, such as the share of reference actions that were made, in the summary and in "
        "failure reports",
    )


capability = Capability(
    name="partial_credit",
    settings=PartialCreditSettings,
    on=lambda _settings: True,
    trial=deferred(f"{__name__}.figures:PartialStages"),
    columns=tuple(
        FactColumn(
            name,
            label="Progress" if name == "progress" else "",
            kind="score" if name == "progress" else "number",
            metric=True,
            most=1.0 if name in SHARES else inf,
            lacking="no trial has anything to measure",
        )
        for name in (*SHARES, *COUNTS)
    ),
    summary=deferred(f"{__name__}.figures:summary"),
    comparison=deferred(f"{__name__}.figures:comparison"),
    failure=deferred(f"{__name__}.figures:failure"),
    page=deferred(f"{__name__}.figures:page"),
)
