"""The means of what agents have searched for and read in knowledge bases."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...runs.record import TrialRecord


@dataclass(frozen=True)
class RetrievalStats:
    """What the trials of a domain have searched for and read.

    Attributes:
        trials: The trials whose domain has a knowledge base.
        searches: The mean number of searches.
        with_required: The trials whose task requires documents.
        complete: How many of these have read all of them.
        recall: The mean share of the required documents that were read; None if none is required.
        recall_at: The same if each search had returned at most so many documents.
    """

    trials: int
    searches: float
    with_required: int
    complete: int
    recall: float | None
    recall_at: Mapping[str, float]

    @classmethod
    def of(cls, records: Iterable[TrialRecord]) -> RetrievalStats | None:
        """Return the means over trials; None if none of them has a knowledge base."""
        found = [record for record in records if record.retrieval is not None]
        if not found:
            return None
        recalls = [record.recall for record in found if record.recall is not None]
        at = [each for record in found if (each := (record.retrieval or {}).get("recall_at"))]
        return cls(
            trials=len(found),
            searches=fmean((record.retrieval or {})["searches"] for record in found),
            with_required=len(recalls),
            complete=sum(recall == 1 for recall in recalls),
            recall=fmean(recalls) if recalls else None,
            recall_at={k: fmean(each[k] for each in at) for k in at[0]} if at else {},
        )

    @property
    def parts(self) -> list[str]:
        """Return the text in parts: ``recall 0.50 (at 1: 0.25, at 5: 0.50)``, ``1.3 searches``."""
        shown = [f"{self.searches:.1f} searches"]
        if self.recall is not None:
            at = ", ".join(f"at {k}: {value:.2f}" for k, value in self.recall_at.items())
            complete = f"all required documents read in {self.complete} of {self.with_required} trials"
            shown = [f"recall {self.recall:.2f} ({at})", *shown, complete]
        return shown
