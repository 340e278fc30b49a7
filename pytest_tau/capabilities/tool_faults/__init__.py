"""Tools that fail on purpose: ``--tau-tool-faults``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...capability import Capability, FactColumn, declared, deferred, option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .rules import FaultRule


def _rules(values: Iterable[str]) -> tuple[FaultRule, ...]:
    from .rules import parse_rule

    return tuple(map(parse_rule, values))


@declared(frozen=True)
class ToolFaultSettings:
    """The settings.

    Attributes:
        tool_faults: The rules; the first one that is about a tool decides.
    """

    tool_faults: tuple[FaultRule, ...] = option(
        _rules,
        "verdict",
        "RULE",
        default=(),
        repeat=True,
        example="get_*:0.1,timeout=0.02",
        help="make tools fail on purpose, seeded: PATTERN:RATE[,KIND=RATE…], kinds: error, timeout, delay, stale, "
        "partial; 'user:PATTERN:…' for tools of the user; may be repeated",
    )


capability = Capability(
    name="tool_faults",
    settings=ToolFaultSettings,
    check=deferred(f"{__name__}.rules:check_rules"),
    trial=deferred(f"{__name__}.rules:ToolFaults"),
    facts=deferred(f"{__name__}.facts:ToolFaultFacts"),
    columns=(FactColumn("tool_faults", "count", label="Tool faults"),),
    summary=deferred(f"{__name__}.facts:summary"),
    failure=deferred(f"{__name__}.facts:failure"),
)
