"""What is known of the approvals of a trial, and how it is reported."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, computed_field

from ...capability import Detail, Finding, PageBlock, PageItem
from ...text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...capability import Measured
    from ...models import Simulation

_WORDS = {"approved": "approved", "rejected": "rejected", "question": "asked back", "not_needed": "not needed"}


class MadeRequest(BaseModel):
    """A request for an approval: its message, the call that it is about, the approver's decision and its text."""

    message_idx: int
    call: str
    decision: str | None = None
    text: str = ""

    @property
    def answer(self) -> str:
        """Return the answer in words."""
        return _WORDS.get(self.decision or "", "no answer") + (f": {self.text}" if self.text else "")


class MadeAct(BaseModel):
    """A call that needs an approval: its message, that of the request for it, and the rule that it breaks."""

    message_idx: int
    call: str
    request_idx: int | None = None
    broke: str | None = None
    evidence: str = ""


class ApprovalFacts(BaseModel):
    """The approvals of a trial.

    Attributes:
        approver: The specification of the approver.
        requests: The requests, in order.
        calls: The calls that need an approval, in order.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    approver: str
    requests: list[MadeRequest] = []
    calls: list[MadeAct] = []

    @computed_field  # type: ignore[prop-decorator] # as pydantic documents it
    @property
    def asked(self) -> int:
        """The number of requests."""
        return len(self.requests)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def rejected(self) -> int:
        """The number of requests that were rejected."""
        return sum(request.decision == "rejected" for request in self.requests)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def unapproved(self) -> int:
        """The number of calls that lack their approval."""
        return sum(call.broke is not None for call in self.calls)


def summary(trials: Sequence[Measured]) -> Iterator[str]:
    """Yield how requests were answered, and how many calls lack their approval."""
    answers = Counter(_WORDS.get(request.decision or "", "no answer") for t in trials for request in t.facts.requests)
    calls = [call for trial in trials for call in trial.facts.calls]
    breaches = Counter(call.broke for call in calls if call.broke)
    parts = [plural(answers.total(), "request")]
    if answers:
        parts[0] += f" ({', '.join(f'{number} {answer}' for answer, number in answers.most_common())})"
    parts.append(f"{breaches.total()} of {plural(len(calls), 'call')} without the approval that it needs")
    if breaches:
        parts[-1] += f" ({', '.join(f'{rule} {number}' for rule, number in breaches.most_common())})"
    yield Finding("; ".join(parts)) if breaches else "; ".join(parts)


def failure(facts: ApprovalFacts, _simulation: Simulation) -> Iterator[str]:
    """Yield the calls that lack their approval; the requests as details."""
    for call in facts.calls:
        if call.broke:
            yield f"message {call.message_idx} {call.call}: {call.evidence}"
    for request in facts.requests:
        yield Detail(f"message {request.message_idx} asked for {request.call}: {request.answer}")


def page(facts: ApprovalFacts, _simulation: Simulation) -> Iterator[PageBlock]:
    """Yield the requests and the calls, each with a link to its message."""
    good = {"approved": True, "rejected": False}
    items = [
        PageItem(request.call, "asked", request.answer, request.message_idx, good.get(request.decision or ""))
        for request in facts.requests
    ]
    items += [
        PageItem(call.call, "made", call.evidence or "as approved", call.message_idx, call.broke is None)
        for call in facts.calls
    ]
    if items:
        ordered = sorted(items, key=lambda item: item.message_idx or 0)
        yield PageBlock("Approvals", note=f"by {facts.approver}", items=ordered, place="box")
