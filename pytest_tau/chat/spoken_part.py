"""A model that thinks before it speaks: the thought is kept, and not sent to the other side."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .requests import ChatReply
    from .trial_models import TrialModel

#: Added to the system message.
SPOKEN_PART = """\
# The form of your messages

Write two parts, each time. The other side reads only the second one:

Thought:
<one or two sentences: what was asked, what the scenario says about it, and what you will answer>
User Response:
<the message>

A message that ends the conversation stands in the second part, too."""
_HEADING = re.compile(r"^\s*(?:\*\*)?(?:User )?Response:(?:\*\*)?", re.MULTILINE | re.IGNORECASE)
_THOUGHT = re.compile(r"^\s*(?:\*\*)?Thought:(?:\*\*)?", re.IGNORECASE)


class SpokenPart:
    """A model of which only the part after ``User Response:`` is sent; it has the ``complete`` of ``TrialModel``.

    The message of a reply has the model's own text as ``written``, and the part before as ``thought``. A reply that
    has a thought and no response is empty, so that it cannot be used. One with neither heading is sent as it is.

    Attributes:
        name: The model's name.
        args: Arguments of each call.
    """

    def __init__(self, model: TrialModel) -> None:
        self.name, self.args, self._model = model.name, model.args, model

    async def complete(self, messages: list[dict[str, Any]], *args: Any, **options: Any) -> ChatReply:
        """Call the model; see ``TrialModel.complete``."""
        sent = [_as_written(message) for message in messages]
        sent[0] = sent[0] | {"content": f"{sent[0].get('content') or ''}\n\n{SPOKEN_PART}"}
        reply = await self._model.complete(sent, *args, **options)
        thought, said = split_thought(reply.text)
        if not thought:
            return (
                reply if said == reply.text else reply.model_copy(update={"message": reply.message | {"content": said}})
            )
        message = reply.message | {"content": said, "thought": thought, "written": reply.text}
        return reply.model_copy(update={"message": message})


def split_thought(text: str) -> tuple[str, str]:
    """Return the thought and the response of a text; a text without headings is a response."""
    heading = _HEADING.search(text)
    if heading is not None:
        return _THOUGHT.sub("", text[: heading.start()]).strip(), text[heading.end() :].strip()
    return (_THOUGHT.sub("", text).strip(), "") if _THOUGHT.match(text) else ("", text)


def _as_written(message: dict[str, Any]) -> dict[str, Any]:
    written = message.get("written")
    rest = {key: value for key, value in message.items() if key not in ("written", "thought")}
    return rest | {"content": written} if written else rest
