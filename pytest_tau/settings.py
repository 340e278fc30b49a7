"""Settings: what is known of an option, and settings that are declared as fields of a class.

Every run of pytest imports this module, which imports nothing heavy.
"""

from __future__ import annotations

import functools
import re
from dataclasses import Field, dataclass, field, is_dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from .plain import json
from .rows import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = [
    "Affects",
    "Option",
    "as_json",
    "as_text",
    "changed_values",
    "check_fields",
    "complete",
    "declared",
    "flag",
    "integer",
    "json_object",
    "model_arguments",
    "model_name",
    "names",
    "object_like",
    "option",
    "options_of",
    "quoted",
    "real",
    "stated",
    "text",
    "texts",
]

#: Arguments of a model call that the request itself sets.
_RESERVED = {"model", "messages", "tools", "tool_choice", "response_format", "stream", "n"}
#: What the value of an option affects. An earlier run is comparable if it has the same values of "verdict".
Affects: TypeAlias = Literal[
    "verdict",  # the verdict of a trial
    "agent",  # which agent is run: a run is resumed with the same one, and runs of others are compared
    "content",  # data, tasks and prompts: their fingerprints are compared instead of the value
    "selection",  # which of the tasks and trials are run
    "calls",  # if model calls are recorded or replayed
    "speed",  # time and cost
    "session",  # which trials are taken from an earlier run or skipped, and how their outcomes count; never recorded
    "output",  # what is written and where; never recorded
]


class Option(Row):
    """An option of the command line and its ini key.

    Attributes:
        name: The name without ``--tau-``.
        type: A function from the text to the value; a :class:`Path` starts from the folder of the ini file, or from the
            current folder if it is from the command line.
        affects: What the value affects.
        metavar: The placeholder of the value in ``--help``.
        help: The text for ``--help``; ``%(default)s`` stands for the default.
        default: The value if there is neither option nor ini key; None if the code that uses it decides.
        choices: The texts that are allowed; empty for all that the type accepts.
        example: The value that a usage error proposes.
        repeat: The option may be repeated; its ini key has a list.
        bare: The text that stands for the option without a value; None if a value is required.
        path: Values may be paths that exist, which pytest's search for its ini file must ignore.
        selects: A run with it has fewer than all tasks and trials.
        rerun: The place of the option in a command that runs a trial again, from 1; 0 if it is not repeated there,
            unless the trial depends on it.
        recorded_as: The key of ``run.json`` if it is not the name.
        stated: ``run.json`` has the value even if it is the default.
        common: Everybody needs it: ``pytest --help`` shows it, the others are shown by ``tau options``.
        field: The field of the settings class; empty for the key.
    """

    name: str
    type: Callable[[Any], Any]
    affects: Affects
    metavar: str | None = None
    help: str = ""
    default: Any = None
    choices: tuple[str, ...] = ()
    example: str | None = None
    repeat: bool = False
    bare: str | None = None
    path: bool = False
    selects: bool = False
    rerun: int = 0
    recorded_as: str | None = None
    stated: bool = False
    common: bool = False
    field: str = ""

    @property
    def key(self) -> str:
        """Return the name as an identifier, by which the code asks for the value."""
        return self.name.replace("-", "_")

    @property
    def dest(self) -> str:
        """Return the ini key, which is also the name of the attribute of ``config.option``."""
        return f"tau_{self.key}"

    @property
    def setting(self) -> str:
        """Return the key of the value in ``run.json``, if it is recorded."""
        return self.recorded_as or self.key

    @property
    def decides_trial(self) -> bool:
        """Return whether a trial depends on the value, so that only one with the same value is the same trial."""
        return self.affects in ("verdict", "agent", "content")

    @property
    def full_help(self) -> str:
        """Return the help with the default in it."""
        default = self.default
        if isinstance(default, float):
            default = f"{default:g}"
        elif isinstance(default, dict):
            default = json.dumps(default)
        return self.help.replace("%(default)s", str(default))

    @property
    def label(self) -> str:
        """Return what reports call the value: ``max steps`` for ``max-steps``."""
        return self.name.replace("-", " ")


#: The key of a field's metadata under which its option is.
_OPTION = "option"
#: The attribute of a declared class that is not a dataclass yet: the arguments of ``dataclass``.
_HOW = "_declared"


def option(type: Callable[[Any], Any], affects: Affects, metavar: str | None = None, **row: Any) -> Any:  # noqa: A002
    """Declare a field of a settings class as an option, which has the name of the field.

    Args:
        type: A function from the text to the value.
        affects: What the value affects (:data:`Affects`).
        metavar: The placeholder of the value in ``--help``.
        row: Further attributes of :class:`Option`, such as ``help``; ``name`` if it is not that of the field. The
            command that runs a trial again has the option unless ``rerun`` is 0.
    """
    declared = Option(**{"name": "", "type": type, "affects": affects, "metavar": metavar, "rerun": 1, **row})
    if declared.default == {}:  # dataclasses refuse a mutable default
        return field(default_factory=dict, metadata={_OPTION: declared})
    return field(default=declared.default, metadata={_OPTION: declared})


if TYPE_CHECKING:
    from dataclasses import dataclass as declared
else:

    def declared(**how: bool) -> Callable[[type], type]:
        """Make a class a dataclass when an object of it is first made, or by :func:`complete` before it has a subclass.

        Every run of pytest imports many settings for ``--help``, and the methods of a dataclass take time to generate.

        Args:
            how: The arguments of ``dataclasses.dataclass``.
        """

        def decorate(cls: type) -> type:
            def begin(self: Any, *values: Any, **named: Any) -> None:
                complete(cls)
                self.__init__(*values, **named)

            cls.__init__ = begin
            setattr(cls, _HOW, how)
            return cls

        return decorate


def complete(settings: type) -> None:
    """Make a declared class a dataclass, unless it is one."""
    if (how := vars(settings).get(_HOW)) is not None:
        del settings.__init__  # type: ignore[misc]
        delattr(settings, _HOW)
        dataclass(**how)(settings)


def options_of(settings: Any) -> tuple[Option, ...]:
    """Return the options of a settings class, or of an object of one, in the order of its fields."""
    return _options(settings if isinstance(settings, type) else type(settings))


@functools.cache
def _options(settings: type) -> tuple[Option, ...]:
    return tuple(
        row.replaced(name=row.name or name.replace("_", "-"), field=name)
        for name, dataclass_field in _fields(settings).items()
        if (row := dataclass_field.metadata.get(_OPTION))
    )


def _fields(settings: type) -> dict[str, Field[Any]]:
    """Return the fields of a class, which may not be a dataclass yet."""
    declared: dict[str, Field[Any]] | None = getattr(settings, "__dataclass_fields__", None)
    return declared or {name: member for name, member in vars(settings).items() if isinstance(member, Field)}


def check_fields(settings: type) -> None:
    """Check that a settings class is a dataclass, each of whose fields is an option.

    Raises:
        TypeError: It is not, or a field was not declared with :func:`option`, or not as it is to be.
    """
    if _HOW not in vars(settings) and not is_dataclass(settings):
        raise TypeError(f"{settings}: expected a dataclass: add @dataclass(frozen=True)")
    for row in options_of(settings):
        if row.affects not in get_args(Affects):
            expected = f"expected one of {', '.join(get_args(Affects))}"
            raise TypeError(f"{settings}: {row.field}: what it affects: {expected}, got {row.affects!r}")
    declared = _fields(settings)
    for name in settings.__annotations__:
        if name not in declared or _OPTION not in declared[name].metadata:
            raise TypeError(f"{settings}: declare the field {name!r} with pytest_tau.option()")


def changed_values(settings: Any) -> Iterable[tuple[Option, Any]]:
    """Yield the options of a settings object whose values are not their defaults, each with its value as JSON."""
    for row in options_of(settings):
        value = getattr(settings, row.field)
        if value != row.default:
            yield row, as_json(value)


def as_json(value: Any) -> Any:
    """Return a value of an option as JSON; what JSON has no form for is the text of it."""
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(part) for part in value]
    if isinstance(value, dict):
        return {str(name): as_json(part) for name, part in value.items()}
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def as_text(value: Any) -> str:
    """Return a value that ``as_json`` has made in one line: ``get_*:0.1 user:*:0.2``; a flag is ``on``."""
    if isinstance(value, list):
        return " ".join(map(as_text, value))
    if value is True:
        return "on"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) if not isinstance(value, dict) else json.dumps(value)


def stated(values: Mapping[str, str]) -> list[str]:
    """Return settings by label, with their values as texts, for a line of a report: ``solo``, ``max steps 5``."""
    return [name if value == "on" else f"{name} {value}" for name, value in values.items()]


# Types of values. Each takes the text of an option (of a repeated option, the list of its texts) and raises a
# ValueError whose text follows the name of the option in the usage error.


def quoted(value: str) -> str:
    """Return what was written, for a message."""
    from .text import shorten

    return repr(shorten(value))


def flag(value: bool) -> bool:
    """Return the value of an option that takes none."""
    return value


def text(value: str) -> str:
    """Return a text as it is."""
    return value


def texts(values: Iterable[str]) -> tuple[str, ...]:
    """Return the texts of a repeated option as they are."""
    return tuple(values)


def integer(least: int | None = None, most: int = 2**63 - 1) -> Callable[[str], int]:
    """Return the type of whole numbers from ``least`` to ``most``; without ``least``, from ``-most``."""
    return _number(int, "a whole number", least, most)


def real(least: float) -> Callable[[str], float]:
    """Return the type of numbers that are not below ``least``."""
    return _number(float, "a number", least, inf)


def _number(convert: Callable[[str], Any], kind: str, least: float | None, most: float) -> Callable[[str], Any]:
    expected = kind if least is None else f"{kind} of at least {least:g}"
    smallest = -most if least is None else least

    def number(value: str) -> Any:
        try:
            parsed = convert(value)
        except ValueError:
            # Python converts no integer of thousands of digits.
            parsed = inf if re.fullmatch(r"[0-9]{100,}", value) else None
        # Not ``found < smallest``, which is false for a NaN.
        if parsed is None or not parsed >= smallest:
            raise ValueError(f"expected {expected}, got {quoted(value)}")
        if parsed > most:
            raise ValueError(f"expected {kind} of at most {most:,}, got {quoted(value)}")
        return parsed

    return number


def names(values: Iterable[str]) -> tuple[str, ...]:
    """Return the names in comma-separated lists, each once."""
    every_name = (name.strip() for value in values for name in value.split(","))
    return tuple(dict.fromkeys(name for name in every_name if name))


def model_name(value: str) -> str:
    """Return the name of a model."""
    if not value.strip():
        raise ValueError("expected the name of a model")
    return value


def model_arguments(value: str) -> dict[str, Any]:
    """Return the arguments of model calls in a JSON object.

    Not a pydantic model, whose errors would have to be translated to these texts.
    """
    arguments = object_like(value, '{"temperature": 0}')
    for name in sorted(_RESERVED & set(arguments)):
        raise ValueError(f"{name!r} cannot be set here: pytest-tau sets it")
    return arguments


def json_object(value: str) -> dict[str, Any]:
    """Return a JSON object."""
    return object_like(value, '{"top_k": 5}')


def object_like(value: str, example: str) -> dict[str, Any]:
    """Return a JSON object, for whose errors there is an example."""
    from .documents import DocumentError, parse_json

    try:
        document = parse_json(value)
    except DocumentError as error:
        # The value is not quoted: it may contain a key.
        raise ValueError(f"expected a JSON object, got text that is {error}") from None
    if not isinstance(document, dict):
        kind = type(document).__name__
        # Not a TypeError: the text has the wrong content.
        raise ValueError(f"expected a JSON object such as {example}, got a {kind}")  # noqa: TRY004
    return document
