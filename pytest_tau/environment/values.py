"""Values of a domain: the numbers and closed choices that its policy states, and what each may become."""

from __future__ import annotations

import ast
import functools
import operator
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from ..documents import DocumentError, read_toml
from ..errors import ConfigurationError, TaskFormatError, hides_frames, unknown_name
from ..models import json_copy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

    from ..models import Task

#: pytest omits the frames of this module from the traceback of a wrong declaration.
__tracebackhide__ = hides_frames

#: A value: a whole number, a text, or a list of texts that no policy shows, such as ids that are given out.
Value: TypeAlias = int | str | tuple[str, ...]

_DECLARATION: Final = {"value", "becomes"}
#: ``{fee}``, ``{fee * 2}``, ``{free_bags[gold][economy]}``, and ``{max_passengers:word}`` for a word.
_PLACEHOLDER = re.compile(r"\{([a-z][^{}:]*?)(:word)?\}")
_WORDS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_OPERATORS: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
#: The parts of a task whose values have any type.
_OF_ANY_TYPE: Final = ("arguments", "initialization_data")
_LARGEST: Final = 10**12


class Declared(NamedTuple):
    """The declaration of a value.

    Attributes:
        value: The value in the domain's own policy.
        becomes: What it may become in another edition.
    """

    value: Value
    becomes: tuple[Value, ...]

    def problem_of(self, new: object) -> str | None:
        """Return why the value cannot become this; None if it can.

        A number may be any one between the smallest and the largest that are declared.
        """
        known = (self.value, *self.becomes)
        numbers = [each for each in known if isinstance(each, int)]
        if len(numbers) == len(known):
            if type(new) is int and min(numbers) <= new <= max(numbers):
                return None
            return f"expected a whole number from {min(numbers)} to {max(numbers)}, got {new!r}"
        return None if new in known else f"expected one of {', '.join(map(repr, known))}, got {new!r}"


@dataclass(frozen=True)
class Values:
    """The values of a domain, for reading only; ``values["extra_bag_fee"]``.

    Attributes:
        declared: The declarations by name, such as ``free_bags[gold][economy]``.
        changed: The values that differ from their declarations, by name.
    """

    declared: Mapping[str, Declared] = field(default_factory=dict)
    changed: Mapping[str, Value] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((tuple(self.declared), tuple(sorted(self.changed.items(), key=repr))))

    def __bool__(self) -> bool:
        return bool(self.declared)

    def __getitem__(self, name: str) -> Any:
        """Return a value; of a name with keys in brackets, a mapping by the first key."""
        return self.by_first_name[name]

    def of(self, name: str) -> Value:
        """Return a value by its whole name."""
        return self.changed.get(name, self.declared[name].value)

    @functools.cached_property
    def by_first_name(self) -> dict[str, Any]:
        """The values by name; those of a name with keys as mappings by the first key."""
        nested: dict[str, Any] = {}
        for name in self.declared:
            *keys, last = re.findall(r"[^\[\]]+", name)
            place = nested
            for key in keys:
                place = place.setdefault(key, {})
            place[last] = self.of(name)
        return nested

    def as_json(self) -> dict[str, Any]:
        """Return the values by name, as JSON data."""
        values: dict[str, Any] = json_copy(self.by_first_name)
        return values

    def with_changes(self, changes: Mapping[str, object], source: str = "") -> Values:
        """Return these values with some changed.

        Args:
            changes: New values by name.
            source: Where they are from, for the error.

        Raises:
            ConfigurationError: A name is unknown, or a value out of its range.
        """
        where = f"{source}: " * bool(source)
        kept = dict(self.changed)
        for name, given in changes.items():
            if name not in self.declared:
                raise ConfigurationError(f"{where}{unknown_name('value', name, self.declared)}")
            new = _frozen(given)
            if problem := self.declared[name].problem_of(new):
                raise ConfigurationError(f"{where}value {name}: {problem}")
            kept[name] = new
            if new == self.declared[name].value:
                del kept[name]
        return Values(self.declared, kept)

    def fill(self, text: str, where: str) -> str:
        """Return a text with values instead of its placeholders.

        Braces around anything but names, keys and arithmetic are left as they are.

        Raises:
            ConfigurationError: A placeholder names a value that is not declared, or cannot be calculated.
        """
        return _PLACEHOLDER.sub(lambda found: self._shown(found, where), text) if "{" in text else text

    def fill_all(self, document: Any, where: str, numbers: Collection[str] | None = None) -> Any:
        """Return a JSON document with filled texts.

        Args:
            document: The document.
            where: Where it is, for errors.
            numbers: The keys below which a text that is one placeholder becomes the value itself; None for everywhere.

        Raises:
            ConfigurationError: A placeholder names a value that is not declared, or cannot be calculated.
        """
        if isinstance(document, str):
            only = _PLACEHOLDER.fullmatch(document) if numbers is None else None
            if only is not None and only[2] is None and (tree := _parsed(only[1])) is not None:
                return self._calculated(tree, only[1], where)
            return self.fill(document, where)
        if isinstance(document, list):
            return [self.fill_all(part, where, numbers) for part in document]
        if not isinstance(document, dict):
            return document
        made = {}
        for key, part in document.items():
            below = None if numbers is None or key in numbers else numbers
            made[key] = self.fill_all(part, f"{where}.{key}" if where else key, below)
        return made

    def _shown(self, found: re.Match[str], where: str) -> str:
        tree = _parsed(found[1])
        if tree is None:
            return found[0]
        value = self._calculated(tree, found[1], where)
        if not found[2]:
            return str(value)
        if type(value) is not int or not 0 <= value < len(_WORDS):
            problem = f"expected a number from 0 to {len(_WORDS) - 1}, got {value!r}"
            raise ConfigurationError(f"{where}: {found[0]}: {problem}")
        return number_word(value)

    def _calculated(self, tree: ast.expr, text: str, where: str) -> Any:
        try:
            value = self._value_of(tree)
        except KeyError as error:
            problem = unknown_name("value", str(error.args[0]), self.declared)
            raise ConfigurationError(f"{where}: {{{text}}}: {problem}: declare it in the domain's values") from None
        except (ArithmeticError, TypeError) as error:
            raise ConfigurationError(f"{where}: {{{text}}}: cannot be calculated: {error}") from None
        if isinstance(value, int | str):
            return value
        raise ConfigurationError(f"{where}: {{{text}}}: expected a number or a text, got {value!r}")

    def _value_of(self, tree: ast.expr) -> Any:
        match tree:
            case ast.Constant(value=number):
                return number
            case ast.BinOp(left=left, op=sign, right=right):
                value = _OPERATORS[type(sign)](self._number(left), self._number(right))
                if abs(value) > _LARGEST:
                    raise OverflowError(f"the result is above {_LARGEST}")
                return value
            case ast.UnaryOp(operand=operand):
                return -self._number(operand)
        name = _name_of(tree)
        if name not in self.declared:
            raise KeyError(name)
        return self.of(name)

    def _number(self, tree: ast.expr) -> int:
        value = self._value_of(tree)
        if type(value) is not int:
            raise TypeError(f"{value!r} is not a number")
        return value

    def stated_in(self, policy: str, template: str) -> Values:
        """Return these values with those that a policy states instead, by the lines of its text with placeholders.

        A line that the policy words differently states nothing: its values stay.
        """
        read: dict[str, Value] = {}
        lines = policy.splitlines()
        for pattern, shown in _lines_of(template):
            said = next(filter(None, map(pattern.fullmatch, lines)), None)
            for (name, is_word), text in zip(shown, said.groups() if said else (), strict=False):
                new = _read(text, self.declared.get(name), is_word=is_word)
                if new is not None:
                    read[name] = new
        changed = {name: new for name, new in read.items() if name in self.declared}
        return Values(self.declared, {n: new for n, new in changed.items() if new != self.declared[n].value})

    def differing(self, other: Values) -> list[str]:
        """Return the names of values that differ from those of others."""
        return [name for name in self.declared if self.of(name) != other.of(name)]


def named_in(text: str) -> list[str]:
    """Return what the placeholders of a text name, once each."""
    found = (place[1] for place in _PLACEHOLDER.finditer(text))
    trees = (tree for each in found if (tree := _parsed(each)) is not None)
    return list(dict.fromkeys(name for tree in trees for name in _names_in(tree)))


def number_word(number: int) -> str:
    """Return a small number as a word."""
    return _WORDS[number]


def filled(task: Task, values: Values) -> Task:
    """Return a task with values instead of its placeholders.

    Raises:
        TaskFormatError: A placeholder names a value that is not declared, or cannot be calculated.
    """
    document = task.model_dump(mode="json", exclude_unset=True)
    try:
        shown = values.fill_all(document, "", _OF_ANY_TYPE)
    except ConfigurationError as error:
        field, _, problem = str(error).partition(": ")
        raise TaskFormatError(problem, task_id=task.id, field=field) from None
    return task if shown == document else type(task).model_validate(shown)


def read_values(path: Path) -> Values:
    """Return the values that a TOML file declares: ``extra_bag_fee = {value = 50, becomes = [45, 65]}``.

    Tables of declarations are values with a key: ``[free_bags.gold]`` makes ``free_bags[gold][economy]``.

    Raises:
        ConfigurationError: The file cannot be read, or a declaration has another form; names file and value.
    """
    try:
        content = read_toml(path)
    except (OSError, DocumentError) as error:
        raise ConfigurationError(f"{path}: cannot be read: {error}") from None
    return declare_values(content, str(path))


def declare_values(content: Mapping[str, Any], source: str = "values") -> Values:
    """Return the values that a mapping declares.

    Raises:
        ConfigurationError: A declaration has another form.
    """
    return Values(dict(_declarations(content, "", source)))


def flat_values(table: Mapping[str, Any]) -> dict[str, object]:
    """Return the values of a table by name; tables in it are the keys of a name."""
    return dict(_flat(table, ""))


def _flat(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, object]]:
    for key, value in table.items():
        name = f"{prefix}[{key}]" if prefix else key
        if isinstance(value, dict):
            yield from _flat(value, name)
        else:
            yield name, value


def _declarations(table: Mapping[str, Any], prefix: str, source: str) -> Iterator[tuple[str, Declared]]:
    for key, part in table.items():
        name = f"{prefix}[{key}]" if prefix else key
        if not re.fullmatch(r"[a-z]\w*", key):
            raise ConfigurationError(f"{source}: value {name!r}: expected lower-case letters, figures and underscores")
        if isinstance(part, dict) and part.keys() != _DECLARATION:
            yield from _declarations(part, name, source)
            continue
        known = [_frozen(part["value"]), *map(_frozen, part["becomes"])] if _has_lists(part) else []
        if not known or len({type(each) for each in known}) > 1 or not isinstance(known[0], int | str | tuple):
            problem = "expected {value = V, becomes = [V, …]} with whole numbers, texts or lists of texts"
            raise ConfigurationError(f"{source}: value {name}: {problem}, got {part!r:.80}")
        yield name, Declared(known[0], tuple(known[1:]))


def _has_lists(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part["becomes"], list)


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value) if all(isinstance(each, str) for each in value) else None
    return value if type(value) in (int, str, tuple) else None


@functools.lru_cache(maxsize=1024)
def _parsed(text: str) -> ast.expr | None:
    """Return what is between braces as an expression of names, keys and arithmetic; None if it is anything else."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree if _is_arithmetic(tree) else None


def _is_arithmetic(tree: ast.expr) -> bool:
    match tree:
        case ast.Constant(value=number):
            return type(number) is int
        case ast.BinOp(left=left, op=sign, right=right):
            return type(sign) in _OPERATORS and _is_arithmetic(left) and _is_arithmetic(right)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_arithmetic(operand)
        case ast.Subscript(value=value, slice=ast.Name()):
            return isinstance(value, ast.Name | ast.Subscript) and _is_arithmetic(value)
    return isinstance(tree, ast.Name)


def _names_in(tree: ast.expr) -> Iterator[str]:
    match tree:
        case ast.BinOp(left=left, right=right):
            yield from (*_names_in(left), *_names_in(right))
        case ast.UnaryOp(operand=operand):
            yield from _names_in(operand)
        case ast.Name() | ast.Subscript():
            yield _name_of(tree)


def _name_of(tree: ast.expr) -> str:
    return re.sub(r"\s", "", ast.unparse(tree))


@functools.lru_cache(maxsize=32)
def _lines_of(template: str) -> list[tuple[re.Pattern[str], list[tuple[str, bool]]]]:
    """Return the lines of a text that have placeholders, as patterns, with the names and whether they are words."""
    found = []
    for line in template.splitlines():
        places = [place for place in _PLACEHOLDER.finditer(line) if _parsed(place[1]) is not None]
        if places:
            ends = [0, *(place.end() for place in places)]
            literal = [line[end : place.start()] for end, place in zip(ends, places, strict=False)]
            pattern = "(.+?)".join(map(re.escape, [*literal, line[ends[-1] :]]))
            names = [(re.sub(r"\s", "", place[1]), bool(place[2])) for place in places]
            found.append((re.compile(pattern), names))
    return found


def _read(text: str, declared: Declared | None, *, is_word: bool) -> Value | None:
    if _PLACEHOLDER.search(text):
        return None  # the text has not been filled
    if declared is None or isinstance(declared.value, str):
        return text
    if is_word:
        return _WORDS.index(text) if text in _WORDS else None
    return int(text) if re.fullmatch(r"\d{1,12}", text) else None
