"""Whether a submission is ``standard`` or ``custom``, proposed from what the runs have recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..analysis.comparability import comparability

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..runs.record import TrialRecord

#: Who plays in a run of τ²-bench that has changed nothing. Source: τ²-bench v1.0.1.
STOCK = {"agent_info": "llm_agent", "user_info": "user_simulator"}
#: How the deviations begin by which models were given other prompts.
_PROMPTS = ("protocol tau", "agent ", "agent's prompt", "user ", "user's prompt", "persona")


class Proposal(NamedTuple):
    """The proposed type of a submission.

    Attributes:
        kind: ``standard`` or ``custom``.
        reasons: Why, a text for each.
        modified_prompts: Whether prompts of the benchmark were changed; None if that is not known.
        omitted: What is missing: tasks of the split base, and trials.
    """

    kind: str
    reasons: tuple[str, ...]
    modified_prompts: bool | None
    omitted: tuple[str, ...] = ()


def propose(
    records: Sequence[TrialRecord], headers: Sequence[Mapping[str, Any]], stock: Mapping[str, str] = STOCK
) -> Proposal:
    """Return the type of a submission.

    Args:
        records: The trials of all runs.
        headers: The header of each run.
        stock: Who plays in a run of τ²-bench that has changed nothing, by the entry of the header.
    """
    found = comparability(records)
    if found is None:
        return Proposal("custom", ("no trial is of a domain of τ²-bench",), None)
    if found.kind != "unknown":
        reasons = found.deviations or ("agent, user, texts, data, limits and grading are those of τ²-bench",)
        changed = any(text.startswith(_PROMPTS) for text in found.deviations)
        return Proposal(found.kind, reasons, changed, found.incomplete)
    names = [
        f"{side.removesuffix('_info')} {(header.get(side) or {}).get('implementation')}"
        for header in headers
        for side, name in stock.items()
        if (header.get(side) or {}).get("implementation") != name
    ]
    if names:
        return Proposal("custom", tuple(dict.fromkeys(names)), None)
    return Proposal("standard", ("result files of τ²-bench with its own agent and user",), False)
