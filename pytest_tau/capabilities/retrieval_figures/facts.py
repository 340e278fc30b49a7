"""What an agent has searched for and read in a trial, and how it is reported."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from ...capability import PageBlock, PageItem, TrialStages
from ...text import listed, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...capability import Measured, TrialView
    from ...models import Simulation

#: Searches, and documents of each, that the report of a failure shows.
_SEARCHES, _DOCUMENTS = 8, 3
_QUERY = 60


class RetrievalStages(TrialStages):
    """Measures the searches of a trial."""

    def __init__(self, view: TrialView) -> None:
        self._view = view

    def graded(self, simulation: Simulation) -> dict[str, Any] | None:
        """Return what was searched for and read, and the numbers of it; None without a knowledge base."""
        view = self._view
        if view.retriever is None:
            return None
        found: dict[str, Any] = view.retriever.report(simulation.messages, view.task)
        required, read = {*found["required"]}, {*found["read"]}
        numbers = {"number": len(found["searches"]), "documents_read": len(found["read"])}
        numbers |= {"required_documents": len(required), "required_read": len(required & read)}
        return found | numbers | {f"recall_at_{k}": share for k, share in (found["recall_at"] or {}).items()}


def summary(trials: Sequence[Measured]) -> Iterator[str]:
    """Yield the means: ``recall 0.50 (at 1: 0.25, at 5: 0.50)``, ``1.3 searches``."""
    ran = [each.facts for each in trials if each.record.ran]
    if not ran:
        return
    parts = [f"{fmean(each['number'] for each in ran):.1f} searches"]
    recalls = [each["recall"] for each in ran if each["recall"] is not None]
    if recalls:
        at = [each["recall_at"] for each in ran if each["recall_at"]]
        shares = ", ".join(f"at {k}: {fmean(each[k] for each in at):.2f}" for k in at[0])
        complete = sum(each == 1 for each in recalls)
        parts.insert(0, f"recall {fmean(recalls):.2f} ({shares})")
        parts.append(f"all required documents read in {complete} of {len(recalls)} trials")
    yield ", ".join(parts)


def failure(facts: dict[str, Any], _simulation: Simulation) -> Iterator[str]:
    """Yield the searches, and what the task requires and was not read."""
    required, read, searches = facts["required"], {*facts["read"]}, facts["searches"]
    parts = ["1 search" if len(searches) == 1 else f"{len(searches)} searches"]
    if required:
        parts.append(f"{len(read & set(required))} of {len(required)} required documents read")
        parts.append(f"recall {facts['recall']:.2f}")
    yield f"{facts['variant']}: {', '.join(parts)}"
    for each in searches[:_SEARCHES]:
        query = one_line(each["query"], _QUERY)
        yield f'message {each["message_idx"]}: {each["tool"]} "{query}": {_hits(each, required)}'
    if len(searches) > _SEARCHES:
        yield f"and {len(searches) - _SEARCHES} more"
    if unread := [each for each in required if each not in read]:
        yield f"required and never read: {listed(unread, _SEARCHES)}"


def page(facts: dict[str, Any], _simulation: Simulation) -> Iterator[PageBlock]:
    """Yield the searches with their documents, and what was never read."""
    required = {*facts["required"]}
    items = [
        PageItem(
            ", ".join(f"{name} (required)" if name in required else name for name in each["found"]) or "nothing found",
            head=f"{each['tool']}: {each['query']}",
            message_idx=each["message_idx"],
            met=True if required.intersection(each["found"]) else None,
        )
        for each in facts["searches"]
    ]
    if unread := [each for each in facts["required"] if each not in facts["read"]]:
        items.append(PageItem(", ".join(unread), head="Required and never read", met=False))
    note = facts["variant"] + ("" if facts["recall"] is None else f", recall {facts['recall']:.2f}")
    text = "" if facts["searches"] else "The agent did not search."
    yield PageBlock("Knowledge base", note, text, items=items)


def _hits(search: dict[str, Any], required: Sequence[str]) -> str:
    """Return the documents of a search, the required ones with their places first."""
    found = search["found"]
    if not found:
        return "nothing found"
    ranked = [(each, place) for place, each in enumerate(found, 1)]
    wanted = [f"{one_line(each, _QUERY)} (required, place {place})" for each, place in ranked if each in required]
    others = [one_line(each, _QUERY) for each in found if each not in required]
    return listed([*wanted, *others], max(_DOCUMENTS, len(wanted)))
