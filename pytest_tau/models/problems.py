"""What pydantic finds wrong with JSON values, in the words of the errors of this package."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel, ValidationError

from ..errors import unknown_name
from ..plain import json
from ..text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The names of JSON's types, for pydantic's kinds of problems that name classes of Python.
_JSON_TYPES = {"dict_type": "an object", "model_type": "an object", "list_type": "an array"}
#: The reason that pydantic adds to what it expects, which the value shows.
_REASON = re.compile(r", (?:unable to|got a number with) .*")
#: The problems of an error that are named.
_MOST = 4


def error_text(error: Exception) -> str:
    """Return the text of an exception of any code; one of pydantic in the words of this package."""
    if not isinstance(error, ValidationError):
        return str(error)
    place, problems = place_and_problems(error)
    return f"{error.title}: {place}: {problems}" if place else f"{error.title}: {problems}"


def problem_text(error: Exception) -> str:
    """Return what an exception says, on one line; with its class if the text alone is not clear, as of ``KeyError``."""
    text = " ".join(error_text(error).split())
    return f"{type(error).__name__}: {text}".removesuffix(": ") if isinstance(error, KeyError) or not text else text


def json_text(value: Any) -> str:
    """Return a JSON value as JSON, so that its type is seen: texts have quotes, numbers have none."""
    return shorten(json.dumps(value, ensure_ascii=False, default=str))


def first_problem(error: ValidationError, whole: str) -> str:
    """Return the path of the first problem's field and pydantic's text; ``whole`` names the value without a path."""
    problem = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, problem['loc'])) or whole}: {problem['msg']}"


def place_and_problems(
    error: ValidationError, separator: str = ".", model: type[BaseModel] | None = None
) -> tuple[str, str]:
    """Return the path of the first problem's field, and what is wrong there and at up to three other places.

    Args:
        error: The error.
        separator: What separates the parts of a path.
        model: The model of the value. Its fields, and those of its parts, are named if there is an unknown one.
    """
    problems = [(_path(problem["loc"], separator), _text(problem, model)) for problem in error.errors()]
    first, text = problems[0]
    return first, text + "".join(f"; {path}: {problem}" for path, problem in problems[1:_MOST])


def _path(location: tuple[int | str, ...], separator: str) -> str:
    # A union adds the name of the tried branch to the path; it is not a field.
    return separator.join(str(part) for part in location if part not in ("Instructions", "str"))


def _text(problem: Any, model: type[BaseModel] | None) -> str:
    kind, text = problem["type"], problem["msg"]
    if kind in ("extra_forbidden", "no_such_attribute"):
        *path, name = problem["loc"]
        part = _part(model, path)
        return "unknown field" if part is None else unknown_name("field", str(name), part.model_fields)
    if kind in ("missing", "missing_argument", "missing_keyword_only_argument"):
        return "missing"
    if kind == "unexpected_keyword_argument":
        return "unknown argument"
    if kind == "json_invalid":
        return str(text)
    if kind in _JSON_TYPES:
        text = f"expected {_JSON_TYPES[kind]}"
    text = _REASON.sub("", text)
    return f"{text[:1].lower()}{text[1:]}, got {json_text(problem['input'])}".replace("input should be", "expected", 1)


def _part(model: type[BaseModel] | None, path: list[int | str]) -> type[BaseModel] | None:
    """Return the model of the part at a path; None if it is not known, as one of several may be there."""
    for name in path:
        field = model.model_fields.get(str(name)) if model else None
        if field is not None:  # else a position, a key, or the branch of a union that was tried
            models = set(_models_in(field.annotation))
            model = models.pop() if len(models) == 1 else None
    return model


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)
