"""Several matters in one conversation, and remarks that have nothing to do with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from .formatting import join_sentences
from .user_script import first_person

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class MatterTexts:
    """The texts of a matter.

    Attributes:
        purpose: What its task is for.
        rule: The part of the policy that it is about.
        reason: The user's reason for the conversation.
        instructions: What the user wants exactly, and how the user reacts.
        known: What the user knows, apart from who it is.
        unknown: What the user does not know.
    """

    purpose: str
    rule: str
    reason: str
    instructions: str
    known: str = ""
    unknown: str = ""


def combine_texts(matters: Sequence[MatterTexts]) -> MatterTexts:
    """Return the texts of a conversation in which each matter is put once the one before is dealt with."""
    first, *more = matters
    following = (f"The next matter, once that is dealt with: {one.reason} {one.instructions}" for one in more)
    return MatterTexts(
        purpose=" Then: ".join(one.purpose for one in matters),
        rule="; ".join(dict.fromkeys(one.rule for one in matters)),
        reason=f"You have {len(matters)} matters, the first of which is this: {first.reason}",
        instructions=" ".join([first.instructions, *following]),
        known=join_sentences(one.known for one in matters),
        unknown=join_sentences(one.unknown for one in matters),
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
