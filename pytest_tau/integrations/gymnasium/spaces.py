"""The spaces of conversations: texts, chats and actions, of any length and any characters."""

from __future__ import annotations

from typing import Any

from gymnasium import Space

#: Words of sampled texts, in which nothing looks like a call.
_WORDS = ("hello", "please", "help", "me", "with", "my", "order", "account", "phone", "trip", "thank", "you")


class _Unbounded(Space[Any]):
    """Base of the spaces: two of one class are equal, so that vectors can be made of them."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Return that an element cannot be an array."""
        return False

    def sample(self, mask: None = None, probability: None = None) -> Any:
        """Return a text of some words; masks do not apply."""
        return " ".join(_WORDS[int(number)] for number in self.np_random.integers(len(_WORDS), size=5))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class TextSpace(_Unbounded):
    """All texts."""

    def contains(self, x: Any) -> bool:
        """Return whether a value is a text."""
        return isinstance(x, str)


class ChatSpace(_Unbounded):
    """All lists of messages in OpenAI chat format."""

    def contains(self, x: Any) -> bool:
        """Return whether a value is a list of dicts with a role."""
        return isinstance(x, list | tuple) and all(isinstance(message, dict) and "role" in message for message in x)

    def sample(self, mask: None = None, probability: None = None) -> list[dict[str, Any]]:
        """Return a message of some words; masks do not apply."""
        return [{"role": "user", "content": super().sample(mask, probability)}]


class ActionSpace(_Unbounded):
    """All actions: texts, and messages as dicts in OpenAI chat format. Samples are texts without calls."""

    def contains(self, x: Any) -> bool:
        """Return whether a value is a text or a message."""
        return isinstance(x, str) or (isinstance(x, dict) and bool({"content", "tool_calls"} & set(x)))
