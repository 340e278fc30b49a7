"""What the person objected to: nothing of it was right."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ....language import complains, is_objection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ....models import Message


class Objection(NamedTuple):
    """A text in which the person objects.

    Attributes:
        number: The number of its message.
        since: The number of the message after which what it is about was done or said.
        text: The text.
    """

    number: int
    since: int
    text: str


def objections(messages: Sequence[Message], writes: Sequence[int]) -> Iterator[Objection]:
    """Yield the texts in which the person objects to what the agent has done, or to its last answer.

    Args:
        messages: The conversation, oldest first.
        writes: The numbers of the messages that have changed something.
    """
    before = -1
    for number, message in enumerate(messages):
        if message.role != "user" or not message.content:
            continue
        answered = any(m.role == "assistant" for m in messages[before + 1 : number])
        has_written = any(before < write < number for write in writes)
        if answered and is_objection(message.content, done=has_written):
            # What was complained of plainly may be of any time before, a mere "no" is about what was just done.
            plainly = complains(message.content) and not has_written
            yield Objection(number, -1 if plainly else before, message.content)
        before = number
