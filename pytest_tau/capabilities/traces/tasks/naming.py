"""What the names of tools and arguments say: reading, changing, handing over; free text; names that Python can take."""

from __future__ import annotations

import builtins
import keyword
import unicodedata
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel

from ....environment import Toolkit
from ....language import base_name, is_name_of_handover, name_words, plain_name
from .recorded import RecordedTools

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_READS: Final = _set(
    "browse calculate can check compute count describe estimate exists fetch find get has is list load look lookup "
    "preview query read retrieve search show think track validate verify view"
)
_WRITES: Final = _set(
    "activate add apply approve assign buy cancel create deactivate delete deposit disable edit enable exchange insert "
    "modify purchase refund register reject remove reset send set submit subscribe suspend transfer unsubscribe update "
    "upgrade withdraw"
)
#: Words that are verbs at the beginning or the end of a name, and often nouns inside of it.
_OFTEN_NOUNS: Final = _set(
    "book change charge close confirm make open pay place post put return save schedule start write"
)
_PASSES_ON: Final = _set("connect forward redirect route transfer")
_PEOPLE: Final = _set(
    "agent call caller chat colleague conversation department desk human manager operator people person representative "
    "specialist staff supervisor support team"
)
#: What is transferred and is not a conversation.
_MONEY: Final = _set("account amount balance fund funds money payment savings wallet")
#: Words in the names of arguments: texts in the caller's own words, and reasons, which change no result.
_OWN_WORDS: Final = _set(
    "body comment comments content description details explanation feedback justification message note notes remark "
    "remarks subject summary text"
)
_WHY: Final = _set("cause justification motive rationale reason reasoning thought thoughts why")
#: A text of so many words, without a digit, that occurs nowhere else is the caller's own.
_LONG: Final = 4
_LONGEST_NAME: Final = 60
_TAKEN: Final = _set("Any Path RecordedTools Tools db file pytest_tau pytest_tau_domains self").union(
    dir(builtins), dir(Toolkit), dir(RecordedTools), vars(RecordedTools())
)


def kind_of(name: str) -> Literal["read", "write", "generic"] | None:
    """Return what a tool does by its name: ``generic`` hands the conversation over; None if the name does not say."""
    if hands_over(name):
        return "generic"
    words = name_words(base_name(name)) or name_words(name)
    for place, word in enumerate(words):
        if word in _WRITES or (word in _OFTEN_NOUNS and place in (0, len(words) - 1)):
            return "write"
        if word in _READS:
            return "read"
    return None


def hands_over(name: str) -> bool:
    """Return whether a tool hands the conversation over, by its name."""
    words = set(name_words(name))
    if is_name_of_handover(name):
        return True
    if not words & _PASSES_ON or words & _MONEY:
        return False
    return bool(words & _PEOPLE) or len(words) == 1 or "to" in words


def is_free_text(argument: str, *, writes: bool) -> bool:
    """Return whether an argument is a text in the caller's own words, by its name.

    Args:
        argument: The name of the argument.
        writes: The tool is not a reading: what a reading is given decides its result, unless it only says why.
    """
    words = set(name_words(argument))
    return bool(words & (_WHY | _OWN_WORDS if writes else _WHY)) and "id" not in words


def is_own_wording(value: str, known: str) -> bool:
    """Return whether a value is a long text that occurs nowhere else, in folded texts."""
    words = value.casefold().split()
    return len(words) >= _LONG and not any(map(str.isdigit, value)) and " ".join(words) not in known


def folded(texts: Iterable[str]) -> str:
    """Return texts as one, in which values are looked for without regard to case and spaces."""
    return " ".join(" ".join(texts).casefold().split())


def is_plain_tool(name: str) -> bool:
    """Return whether a tool's name can be that of a method of recorded tools."""
    return _is_identifier(name) and name not in _TAKEN


def is_plain_argument(name: str) -> bool:
    """Return whether an argument's name can be that of a parameter, and of a field of a schema."""
    return _is_identifier(name) and name != "self" and not name.startswith("model_") and not hasattr(BaseModel, name)


def method_name(name: str, others: Collection[str]) -> str:
    """Return a name for the method of a tool: its own, else one like it that no other tool has."""
    if is_plain_tool(name) and name not in others:
        return name
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = plain_name(ascii_only)[:_LONGEST_NAME].rstrip("_")
    plain = plain if is_plain_tool(plain) else f"tool_{plain}".rstrip("_")
    number = 1
    while (candidate := plain if number == 1 else f"{plain}_{number}") in others:
        number += 1
    return candidate


def _is_identifier(name: str) -> bool:
    plain = name.isidentifier() and unicodedata.normalize("NFKC", name) == name
    return plain and not name.startswith("_") and not keyword.iskeyword(name) and len(name) <= _LONGEST_NAME


def said_values(arguments: dict[str, Any], path: str = "") -> Iterable[tuple[str, Any]]:
    """Yield the values among arguments, each with its path; an entry of a list has that of the list."""
    for name, value in arguments.items():
        where = f"{path}.{name}" if path else name
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                yield from said_values(part, where)
            else:
                yield where, part
