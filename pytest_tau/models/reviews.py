"""A model's review of a conversation: the errors of agent and user that it has found, and whose fault a failure is."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .problems import first_problem

if TYPE_CHECKING:
    from .simulations import Simulation

ReviewMode: TypeAlias = Literal["full", "user"]
ReviewStatus: TypeAlias = Literal["done", "unusable", "failed"]

__all__ = [
    "FAULT_OWNERS",
    "FAULT_TYPES",
    "REVIEW_KEYS",
    "SEVERITIES",
    "TAGS",
    "Review",
    "ReviewFinding",
    "ReviewJudge",
    "ReviewMode",
    "add_review",
    "any_review",
    "mark_unknown",
    "review_of",
]

#: The key of a simulation's facts that has reviews.
FACTS = "reviews"
#: The field of a simulation for the review of each mode. Source: τ²-bench v1.0.1.
REVIEW_KEYS: dict[ReviewMode, str] = {"full": "review", "user": "user_only_review"}
#: The severities of the errors of each side. Source: τ²-bench v1.0.1.
SEVERITIES: dict[str, tuple[str, ...]] = {
    "agent": ("critical", "minor"),
    "user": ("critical_helped", "critical_hindered", "minor"),
}
#: The tags of errors. Source: τ²-bench v1.0.1; those of tool calls are not for the reviews of the user alone.
TAGS = (
    *("hallucination", "incorrect_interpretation", "guideline_violation", "revealed_info_early"),
    *("inconsistent_behavior", "tool_call_schema_error", "tool_call_argument_error", "irrelevant_tool_call"),
    *("premature_termination", "missed_required_action", "wrong_sequence", "other"),
)
#: Who may be at fault for a failure, and the kinds of an agent's fault. Source of the kinds: τ-bench.
FAULT_OWNERS = ("agent", "user", "environment", "task")
FAULT_TYPES = ("called_wrong_tool", "used_wrong_tool_argument", "goal_partially_completed", "other")


class ReviewFinding(BaseModel):
    """An error of one side in a conversation.

    Attributes:
        source: The side that made it; ``unknown`` in reviews of others.
        error_type: What it is, in a few words.
        error_tags: Its tags.
        unknown_tags: Those of them that are not in ``TAGS``.
        severity: One of ``SEVERITIES`` of the side; None if it is not known.
        turn_idx: The number of the message, from 0, with results of tools counted; None for something omitted.
        reasoning: Why it is an error.
        correct_behavior: What would have been right.
        user_message: The text of the user in question, in a review of the user alone.
    """

    model_config = ConfigDict(extra="ignore")

    source: Literal["agent", "user", "unknown"]
    error_type: str = ""
    error_tags: list[str] = []
    unknown_tags: list[str] = []
    severity: str | None = None
    turn_idx: int | None = None
    reasoning: str = ""
    correct_behavior: str | None = None
    user_message: str | None = None

    @property
    def critical(self) -> bool:
        """Return whether it is the cause of a failure, or as severe."""
        return (self.severity or "").startswith("critical")


class ReviewJudge(BaseModel):
    """The reviewer: its name, the model that it calls, and the digest of its prompt; None without a model."""

    model_config = ConfigDict(extra="ignore")

    name: str
    model: str | None = None
    prompt_hash: str | None = None


class Review(BaseModel):
    """The review of one conversation.

    Attributes:
        mode: ``full``, or ``user`` for the user alone.
        status: ``done``, ``unusable`` (no answer could be read) or ``failed`` (there was no answer).
        error: Why there is no review; None if it is done.
        summary: The review in a few sentences.
        errors: The errors, in the order of the answer; empty if it is not done.
        fault_owner: The party at fault for a failure: one of ``FAULT_OWNERS``. None in a review of the user alone, and
            if the reviewer names none.
        fault_type: The kind of an agent's fault: one of ``FAULT_TYPES``.
        judge: The reviewer; None if it is not known.
        cost: USD of the calls of its model; None if the price is unknown or there were none.
        answer: The beginning of the last answer, if no answer could be read.
    """

    model_config = ConfigDict(extra="ignore")

    mode: ReviewMode = "full"
    status: ReviewStatus = "done"
    error: str | None = None
    summary: str = ""
    errors: list[ReviewFinding] = Field(default=[])
    fault_owner: str | None = None
    fault_type: str | None = None
    judge: ReviewJudge | None = None
    cost: float | None = None
    answer: str | None = None

    @property
    def done(self) -> bool:
        """Return whether the reviewer has answered."""
        return self.status == "done"

    @property
    def first_critical(self) -> str | None:
        """The side that made the first critical error, ``agent`` or ``user``; ``none``. None if it is not done.

        Errors without a turn come after all others.
        """
        if not self.done:
            return None
        critical = [error for error in self.errors if error.critical and error.source != "unknown"]
        first = min(critical, key=lambda error: (error.turn_idx is None, error.turn_idx or 0), default=None)
        return first.source if first else "none"

    def of_side(self, side: str) -> list[ReviewFinding]:
        """Return the errors of a side."""
        return [error for error in self.errors if error.source == side]

    def as_info(self) -> dict[str, Any]:
        """Return the review as it is stored, with τ²-bench's flags, which are null if it is not done."""
        flags = {
            "agent_error": bool(self.of_side("agent")),
            "user_error": bool(self.of_side("user")),
            "critical_user_error": any(error.critical for error in self.of_side("user")),
            "has_errors": bool(self.errors),
        }
        if not self.done:
            return self.model_dump(mode="json") | dict.fromkeys(flags)
        return self.model_dump(mode="json") | flags

    def facts(self) -> dict[str, Any]:
        """Return what summaries, columns and comparisons need, as JSON."""
        tags = Counter(tag for error in self.errors for tag in error.error_tags)
        return {
            "mode": self.mode,
            "status": self.status,
            "error": self.error,
            "first_critical": self.first_critical,
            "fault_owner": self.fault_owner,
            "fault_type": self.fault_type,
            "agent_errors": len(self.of_side("agent")),
            "user_errors": len(self.of_side("user")),
            "tags": dict(tags),
            "tag_names": "; ".join(tags) or None,
            "unknown_tags": sorted({tag for error in self.errors for tag in error.unknown_tags}),
            "judge": self.judge.name if self.judge else None,
            "cost": self.cost,
        }


def mark_unknown(tags: list[str]) -> list[str]:
    """Return the tags that are not in ``TAGS``."""
    return [tag for tag in tags if tag not in TAGS]


def review_of(simulation: Simulation, mode: ReviewMode) -> Review | None:
    """Return the review of a mode that a simulation has; None if it has none.

    An entry of another program that is not a review is returned as one that is unusable.
    """
    stored = (simulation.facts.get(FACTS) or {}).get(mode)
    if stored is None:
        return None
    try:
        return Review.model_validate(stored)
    except ValidationError as error:
        text = f"the stored review cannot be read: {first_problem(error, 'the entry')}"
        return Review(mode=mode, status="unusable", error=text)


def any_review(simulation: Simulation) -> Review | None:
    """Return the full review of a simulation, or else that of the user alone; None without either."""
    full = review_of(simulation, "full")
    return full if full is not None else review_of(simulation, "user")


def add_review(simulation: Simulation, review: Review) -> bool:
    """Add a review to a simulation; return whether it was added: one that is not done does not replace one that is."""
    there = review_of(simulation, review.mode)
    if there is not None and there.done and not review.done:
        return False
    review_facts = {**(simulation.facts.get(FACTS) or {}), review.mode: review.as_info()}
    simulation.facts = {**simulation.facts, FACTS: review_facts}
    if (current := any_review(simulation)) is not None:
        review_facts |= current.facts()
    return True


def read_tau2_review(raw: Any, mode: ReviewMode) -> Review | None:
    """Return a review of a τ²-bench file; None if there is none.

    τ²-bench stores a review whose answer it could not read as one without errors, with the answer in an entry at turn
    -1. Such a review is unusable here.
    """
    if not isinstance(raw, dict) or not isinstance(raw.get("errors"), list):
        return None
    findings = [finding for finding in raw["errors"] if isinstance(finding, dict)]
    if any(finding.get("turn_idx") == -1 for finding in findings):
        return Review(mode=mode, status="unusable", error="the answer of the reviewer was not read by τ²-bench")
    try:
        errors = [_tau2_finding(finding, mode) for finding in findings]
        cost = raw.get("cost") if isinstance(raw.get("cost"), int | float) else None
        return Review(mode=mode, summary=str(raw.get("summary") or ""), errors=errors, cost=cost)
    except ValidationError as error:
        return Review(mode=mode, status="unusable", error=f"the review cannot be read: {error.errors()[0]['msg']}")


def _tau2_finding(raw: dict[str, Any], mode: ReviewMode) -> ReviewFinding:
    tags = [str(tag) for tag in raw.get("error_tags") or []]
    source = "user" if mode == "user" else raw.get("source")
    fields = {name: value for name, value in raw.items() if value is not None}
    fields |= {"source": source if source in SEVERITIES else "unknown", "error_tags": tags}
    return ReviewFinding.model_validate(fields | {"unknown_tags": mark_unknown(tags)})


def tau2_review(review: Review) -> dict[str, Any] | None:
    """Return a review in τ²-bench's fields; None if it is not done, as τ²-bench would take it for one without errors.

    In its reviews of the user alone, a critical error has one severity: ``critical``.
    """
    if not review.done:
        return None
    info = review.as_info()
    names = ["summary", "user_error", "critical_user_error", "has_errors", "cost"]
    names += ["agent_error"] if review.mode == "full" else []
    document: dict[str, Any] = {name: info[name] for name in names}
    document["errors"] = [_as_tau2(error, review.mode) for error in review.errors]
    return document


def _as_tau2(finding: ReviewFinding, mode: ReviewMode) -> dict[str, Any]:
    names = ("error_type", "error_tags", "severity", "turn_idx", "reasoning", "correct_behavior")
    document: dict[str, Any] = {name: getattr(finding, name) for name in names} | {"tick_start": None, "tick_end": None}
    if mode == "full":
        return {"source": finding.source, **document}
    severity = "critical" if finding.critical else finding.severity
    return {**document, "severity": severity, "user_message": finding.user_message}
