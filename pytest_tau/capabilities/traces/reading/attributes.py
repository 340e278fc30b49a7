"""Attributes of spans, looked up by several names each: values, paths into JSON, and lists that are written flat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .messages import decoded, is_cut
from .spans import at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Larger numbers of tokens, and of USD, are none.
_LARGEST: Final = 1e12


class Attributes:
    """The attributes of a span, looked up by several names each."""

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        self._attributes = attributes
        self._lists = {key.partition(".0.")[0] for key in attributes if ".0." in key}
        self._decoded: dict[str, Any] = {}

    def first(self, names: Iterable[str]) -> Any:
        """Return the first value that is there; a name may be a path into JSON."""
        return next((value for name in names if (value := self._at(name)) not in (None, "", [], {})), None)

    def text(self, names: Iterable[str]) -> str:
        """Return the first value that is there as a text."""
        value = decoded_text(self.first(names))
        return value if isinstance(value, str) else "" if isinstance(value, dict | list | None) else str(value)

    def number(self, names: Iterable[str]) -> float:
        """Return the first value that is there as a number; 0 if it is not one."""
        try:
            numeric = float(self.first(names) or 0)
        except (TypeError, ValueError, OverflowError):
            return 0
        return numeric if 0 <= numeric < _LARGEST else 0

    def numbers(self, names: Iterable[str]) -> list[int]:
        """Return the indices that attributes have after these names, the smallest first."""
        rests = (key[len(name) + 1 :] for name in names for key in self._attributes if key.startswith(f"{name}."))
        return sorted({int(head) for rest in rests if (head := rest.partition(".")[0]).isdigit()})

    def whole(self, name: str, cut: list[str]) -> Any:
        """Return a value, or the list or object that attributes below the name make up; note one that was cut."""
        if name not in self._attributes:
            return self._nested(name)
        value = decoded_text(self._value(name))
        if is_cut(value):
            cut.append(name)
            return None
        # A table of spans has lists, whose entries have dotted names.
        return [_undotted(element) for element in value] if isinstance(value, list) else value

    def _value(self, name: str) -> Any:
        """Return the value of an attribute, decoded once."""
        if name not in self._decoded:
            self._decoded[name] = decoded(self._attributes[name])
        return self._decoded[name]

    def _at(self, name: str) -> Any:
        if name in self._attributes:
            return self._attributes[name]
        if name in self._lists:
            return self._nested(name)
        head, dot, rest = name, ".", ""
        while dot:
            head, dot, last = head.rpartition(".")
            rest = f"{last}.{rest}" if rest else last
            if head in self._attributes and isinstance(inner := self._value(head), dict):
                return at(inner, rest)
        return None

    def _nested(self, name: str) -> Any:
        inside = {key[len(name) + 1 :]: value for key, value in self._attributes.items() if key.startswith(f"{name}.")}
        return nested(inside) if inside else None


def nested(flat: Mapping[str, Any]) -> Any:
    """Return the value whose leaves have these dotted names; an object with indices alone is a list in their order."""
    members: dict[str, Any] = {}
    inside: dict[str, dict[str, Any]] = {}
    for key, value in flat.items():
        head, dot, rest = key.partition(".")
        if dot:
            inside.setdefault(head, {})[rest] = value
        else:
            members[head] = value
    members |= {head: nested(inner) for head, inner in inside.items()}
    if members and all(key.isdigit() for key in members):
        return [_unwrapped(members[key]) for key in sorted(members, key=int)]
    return members


def _unwrapped(value: Any) -> Any:
    """Return an entry without the name that OpenInference puts around it."""
    inner = value.get("message") if isinstance(value, dict) and len(value) == 1 else None
    return inner if isinstance(inner, dict) else value


def _undotted(value: Any) -> Any:
    if not isinstance(value, dict) or not any(key.startswith(("message.", "tool_call.")) for key in value):
        return value
    inside = {
        key: [_undotted(element) for element in member] if isinstance(member, list) else member
        for key, member in value.items()
    }
    return _unwrapped(nested(inside))


def decoded_text(value: Any) -> Any:
    """Return a text without the quotation marks that MLflow stores it in."""
    return value[1:-1] if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"' else value
