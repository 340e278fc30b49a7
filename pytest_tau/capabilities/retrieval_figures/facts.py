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
        report: dict[str, Any] = view.retriever.report(simulation.messages, view.task)
        required, read_ids = {*report["required"]}, {*report["read"]}
        numbers = {"number": len(report["searches"]), "documents_read": len(report["read"])}
        numbers |= {"required_documents": len(required), "required_read": len(required & read_ids)}
        return report | numbers | {f"recall_at_{k}": share for k, share in (report["recall_at"] or {}).items()}


def summary(trials: Sequence[Measured]) -> Iterator[str]:
    """Yield the means: ``recall 0.50 (at 1: 0.25, at 5: 0.50)``, ``1.3 searches``."""
    ran = [trial.facts for trial in trials if trial.record.ran]
    if not ran:
        return
    parts = [f"{fmean(facts['number'] for facts in ran):.1f} searches"]
    recalls = [facts["recall"] for facts in ran if facts["recall"] is not None]
    if recalls:
        at = [facts["recall_at"] for facts in ran if facts["recall_at"]]
        shares = ", ".join(f"at {k}: {fmean(recall_at[k] for recall_at in at):.2f}" for k in at[0])
        complete = sum(recall == 1 for recall in recalls)
        parts.insert(0, f"recall {fmean(recalls):.2f} ({shares})")
        parts.append(f"all required documents read in {complete} of {len(recalls)} trials")
    yield ", ".join(parts)


def failure(facts: dict[str, Any], _simulation: Simulation) -> Iterator[str]:
    """Yield the searches, and what the task requires and was not read."""
    required, read_ids, searches = facts["required"], {*facts["read"]}, facts["searches"]
    parts = ["1 search" if len(searches) == 1 else f"{len(searches)} searches"]
    if required:
        parts.append(f"{len(read_ids & set(required))} of {len(required)} required documents read")
        parts.append(f"recall {facts['recall']:.2f}")
    yield f"{facts['variant']}: {', '.join(parts)}"
    for search in searches[:_SEARCHES]:
        query = one_line(search["query"], _QUERY)
        yield f'message {search["message_idx"]}: {search["tool"]} "{query}": {_hits(search, required)}'
    if len(searches) > _SEARCHES:
        yield f"and {len(searches) - _SEARCHES} more"
    if unread := [name for name in required if name not in read_ids]:
        yield f"required and never read: {listed(unread, _SEARCHES)}"


def page(facts: dict[str, Any], _simulation: Simulation) -> Iterator[PageBlock]:
    """Yield the searches with their documents, and what was never read."""
    required = {*facts["required"]}
    items = [
        PageItem(
            ", ".join(f"{name} (required)" if name in required else name for name in search["found"])
            or "nothing found",
            head=f"{search['tool']}: {search['query']}",
            message_idx=search["message_idx"],
            met=True if required.intersection(search["found"]) else None,
        )
        for search in facts["searches"]
    ]
    if unread := [name for name in facts["required"] if name not in facts["read"]]:
        items.append(PageItem(", ".join(unread), head="Required and never read", met=False))
    note = facts["variant"] + ("" if facts["recall"] is None else f", recall {facts['recall']:.2f}")
    text = "" if facts["searches"] else "The agent did not search."
    yield PageBlock("Knowledge base", note, text, items=items)


def _hits(search: dict[str, Any], required: Sequence[str]) -> str:
    """Return the documents of a search, the required ones with their places first."""
    documents = search["found"]
    if not documents:
        return "nothing found"
    ranked = [(document, place) for place, document in enumerate(documents, 1)]
    required_texts = [
        f"{one_line(document, _QUERY)} (required, place {place})" for document, place in ranked if document in required
    ]
    others = [one_line(document, _QUERY) for document in documents if document not in required]
    return listed([*required_texts, *others], max(_DOCUMENTS, len(required_texts)))
