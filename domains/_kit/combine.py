"""Drafts of tasks, several of them in one conversation, and remarks that have nothing to do with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from .formatting import join_sentences
from .transfer import TRANSFER
from .user_script import first_person, open_with

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_tau.models import Request

U = TypeVar("U")
D = TypeVar("D", bound="Draft[Any]")


class Call(NamedTuple):
    """A reference action of the agent."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Draft(Generic[U]):
    """A scenario with people and things chosen.

    Attributes:
        caller: Who writes.
        task_id: The task's id.
        purpose: What the task is for, to be read by people.
        rule: The part of the policy that it is about.
        reason: What the user says at first.
        instructions: What the user wants exactly, and how the user reacts.
        calls: The reference actions.
        communicate: Phrases that the agent has to say.
        known: What the user knows, apart from who it is.
        unknown: What the user does not know.
        requests: What a user without a model says, one after the other; without any, just the reason.
        declines: Offers that such a user turns down.
        persona: A way to write.
    """

    caller: U
    task_id: str
    purpose: str
    rule: str
    reason: str
    instructions: str
    calls: Sequence[Call]
    communicate: Sequence[str] = ()
    known: str = ""
    unknown: str = ""
    requests: Sequence[Request] = ()
    declines: Sequence[str] = ()
    persona: str | None = None

    @property
    def transfers(self) -> bool:
        """Return whether the reference solution hands over to a person."""
        return any(call.name == TRANSFER for call in self.calls)

    @property
    def opened(self) -> list[Request]:
        """Return the requests; the first one says the reason unless it says something else."""
        return open_with(self.reason, self.requests)


def combine(drafts: Sequence[D]) -> D:
    """Return a draft of several, of which each is put once the one before is dealt with."""
    first, *more = drafts
    following = (f"The next matter, once that is dealt with: {draft.reason} {draft.instructions}" for draft in more)
    return replace(
        first,
        task_id=f"{len(drafts)}-matters",
        purpose=" Then: ".join(draft.purpose for draft in drafts),
        rule="; ".join(dict.fromkeys(draft.rule for draft in drafts)),
        reason=f"You have {len(drafts)} matters, the first of which is this: {first.reason}",
        instructions=" ".join([first.instructions, *following]),
        calls=[call for draft in drafts for call in draft.calls],
        communicate=list(dict.fromkeys(phrase for draft in drafts for phrase in draft.communicate)),
        known=join_sentences(draft.known for draft in drafts),
        unknown=join_sentences(draft.unknown for draft in drafts),
        requests=[request for draft in drafts for request in draft.opened],
        declines=list(dict.fromkeys(words for draft in drafts for words in draft.declines)),
    )


class Mentioned(NamedTuple):
    """Remarks that are made with the first message.

    Attributes:
        known: The instruction to make them.
        said: The remarks as a user without a model makes them.
    """

    known: str
    said: str


def mention(remarks: Sequence[str]) -> Mentioned:
    """Return the texts by which a user makes remarks in passing."""
    return Mentioned(
        known="You mention in passing, with your first message, that " + ", and that ".join(remarks) + ".",
        said=first_person(" ".join(f"By the way, {remark}." for remark in remarks)),
    )


def add_remarks(draft: D, remarks: Sequence[str]) -> D:
    """Return the draft with remarks that have nothing to do with it, made with the first request."""
    if not remarks:
        return draft
    mentioned, (first, *more) = mention(remarks), draft.opened
    opening = first.model_copy(update={"say": f"{mentioned.said} {first.say}"})
    return replace(draft, known=join_sentences([draft.known, mentioned.known]), requests=[opening, *more])
