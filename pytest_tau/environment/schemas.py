"""Tool schemas: JSON schema of a method's signature and its Google-style docstring; arguments as annotated."""

from __future__ import annotations

import functools
import inspect
import warnings
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from pydantic import Field, PydanticUserError, TypeAdapter, ValidationError, create_model

from ..errors import ConfigurationError, ToolError, hides_frames, unknown_name
from ..models.problems import place_and_problems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from docstring_parser import Docstring

#: pytest omits the frames of this module from the traceback of a wrong declaration.
__tracebackhide__ = hides_frames


def describe(function: Callable[..., Any]) -> tuple[str, dict[str, Any]]:
    """Return a tool's description and the JSON schema of its parameters.

    Args:
        function: An undecorated method; the schema is without ``self``. A schema of its own (``tau_parameters``) is
            taken with the whole docstring.

    Returns:
        The docstring's summary and body, and an object schema with a description for each parameter.

    Raises:
        ConfigurationError: A ``Literal`` of members of an ``Enum``, which a call cannot pass.
    """
    own = getattr(function, "tau_parameters", None)
    if own is not None:
        return inspect.cleandoc(function.__doc__ or ""), own
    doc = _parsed(function.__doc__ or "")
    descriptions = {parameter.arg_name: parameter.description for parameter in doc.params}
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name == "self":
            continue
        _check_literals(function, name, hints.get(name))
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (hints.get(name, Any), Field(default, description=descriptions.get(name)))
    schema = create_model("parameters", **fields).model_json_schema()
    description = "\n\n".join(part for part in (doc.short_description, doc.long_description) if part)
    return description, schema


@functools.lru_cache(maxsize=1024)
def _parsed(text: str) -> Docstring:
    from docstring_parser import DocstringStyle, parse

    return parse(inspect.cleandoc(text), style=DocstringStyle.GOOGLE)


def check_docstring(function: Callable[..., Any]) -> None:
    """Refuse a tool whose docstring describes a parameter that it does not have.

    Raises:
        ConfigurationError: It does, or the docstring cannot be read; names the tool and similar parameters.
    """
    from docstring_parser import ParseError

    parameters = inspect.signature(function).parameters
    # A tool made of a function has the other parameters; the first of the function may be the state.
    known = {*parameters, *inspect.signature(inspect.unwrap(function)).parameters}
    try:
        entries = _parsed(function.__doc__ or "").params
    except ParseError as error:
        raise ConfigurationError(f"tool {function.__qualname__}: its docstring cannot be read: {error}") from None
    for entry in entries:
        name = entry.arg_name
        if entry.args[0] == "param" and name.isidentifier() and name not in known:
            unknown = unknown_name("parameter", name, parameters.keys() - {"self"})
            raise ConfigurationError(f"tool {function.__qualname__}: its docstring describes the {unknown}")


@functools.lru_cache(maxsize=1024)
def arguments_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the JSON schema of the arguments of any function, which need not be declared as a tool.

    Args:
        function: A method; the schema is without ``self``.

    Returns:
        An object schema; without types if the annotations cannot be described, and with ``additionalProperties`` if
        the function accepts any name.
    """
    try:
        parameters = [each for each in inspect.signature(function).parameters.values() if each.name != "self"]
    except ValueError:  # a function of an extension module that does not state its parameters
        return {"additionalProperties": True}
    named = [each for each in parameters if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    if named == parameters:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # names and defaults that a function may have, and a schema may not
                return describe(function)[1]
        except Exception:  # noqa: BLE001, S110 - annotations can be anything
            pass
    return {
        "properties": {each.name: {} for each in named},
        "required": [each.name for each in named if each.default is each.empty],
        "additionalProperties": any(each.kind is each.VAR_KEYWORD for each in parameters),
    }


def impossible_values(function: Callable[..., Any], arguments: dict[str, Any]) -> Iterator[str]:
    """Yield the arguments that cannot be converted to the annotated types, such as a date that does not exist.

    Args:
        function: A toolkit's method.
        arguments: JSON values that fit the schema, by parameter.
    """
    adapters = _adapters(function)
    for name in arguments if adapters else ():
        if name not in adapters:
            continue
        try:
            adapters[name].validate_python(arguments[name])
        except ValidationError as error:
            place, problems = place_and_problems(error)
            yield f"{name}.{place}: {problems}" if place else f"{name}: {problems}"


@functools.lru_cache(maxsize=1000)
def _adapters(function: Callable[..., Any]) -> dict[str, TypeAdapter[Any]]:
    """Return what converts each argument whose type is not one of JSON, if its annotation can be used."""
    found: dict[str, TypeAdapter[Any]] = {}
    with suppress(Exception):  # annotations can be anything
        hints = get_type_hints(function, include_extras=True)
        for name in inspect.signature(function).parameters.keys() & hints.keys() - {"self"}:
            if hints[name] not in _OF_JSON:
                with suppress(PydanticUserError):
                    adapter = TypeAdapter(hints[name])
                    adapter.json_schema()  # a type without one is not made of JSON: only the function knows its values
                    found[name] = adapter
    return found


#: Types whose values the schema describes completely.
_OF_JSON = (str, int, float, bool, dict, list, Any)


def with_members(function: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call with members of each ``Enum`` that the signature names, also inside of a list.

    All other arguments stay the JSON values that the caller passed, as in the reference.

    Args:
        function: A toolkit's method.
        arguments: JSON values by parameter.

    Raises:
        ToolError: A value that the ``Enum`` does not have; names the parameter and the values.
    """
    parameters = _enum_parameters(function)
    if not parameters:
        return arguments
    converted = {}
    for name, adapter in parameters.items():
        if name in arguments:
            try:
                converted[name] = adapter.validate_python(arguments[name])
            except ValidationError as error:
                first = error.errors()[0]
                # Positions in lists and keys of objects; not the names of alternatives, which a caller does not know.
                places = [str(each) for each in first["loc"] if isinstance(each, int)]
                raise ToolError(f"{'.'.join([name, *places])}: {first['msg']}, got {first['input']!r}") from None
    return arguments | converted


def converts(function: Callable[..., Any] | None) -> bool:
    """Return whether a function of a toolkit, or the server that it calls, converts its arguments itself."""
    return bool(getattr(function, "tau_converts", False))


@functools.cache
def _enum_parameters(function: Callable[..., Any]) -> dict[str, TypeAdapter[Any]]:
    """Return how to convert the parameters whose annotation names an ``Enum``.

    Functions that convert their arguments themselves (``tau_converts``) have none.
    """
    if converts(function):
        return {}
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError):  # a name for type checkers only: a tool with it is an error of ``describe``
        return {}
    found = {}
    for name, hint in hints.items():
        if name != "return" and _names_enum(hint):
            try:
                found[name] = TypeAdapter(hint)
            except PydanticUserError:  # another part of the annotation is a type of which no schema exists
                continue
    return found


def _names_enum(hint: Any) -> bool:
    return (isinstance(hint, type) and issubclass(hint, Enum)) or any(_names_enum(part) for part in get_args(hint))


def _check_literals(function: Callable[..., Any], name: str, hint: Any) -> None:
    for part in get_args(hint):
        if isinstance(part, Enum):  # only a ``Literal`` has a member as an argument; no call could pass it
            raise ConfigurationError(
                f"tool {function.__qualname__}: parameter {name!r}: a Literal of {part} cannot be passed as JSON: "
                f"annotate {type(part).__name__}, or Literal[{part.value!r}]"
            )
        _check_literals(function, name, part)
