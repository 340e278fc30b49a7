"""The file of ``tau matrix``: agents, models, users and domains, of which each combination is a run."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from ...documents import DocumentError, read_toml
from ...errors import ConfigurationError, unknown_name
from ...files import digest
from ...participants import calls_no_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

#: The keys that span the matrix, each with the option of pytest that its values are given to.
AXES = {
    "agents": "agent",
    "models": "agent-llm",
    "users": "user",
    "user_models": "user-llm",
    "domains": "domain",
}
#: The names of the axes in ``[[exclude]]``.
_AXIS = {"agent": "agents", "model": "models", "user": "users", "user_model": "user_models", "domain": "domains"}
#: Further keys, with the type of their values.
_NUMBERS = {"trials": int, "seed": int, "concurrency": int, "workers": int, "budget": float}
_KEYS = (*AXES, *_NUMBERS, "name", "options", "exclude")
#: Options that the matrix sets itself, by their keys in ``[options]``.
_OWN = {
    **dict.fromkeys(("domain", "agent", "agent_llm", "user", "user_llm"), "the keys agents, models, users, domains"),
    **dict.fromkeys(("trials", "seed", "concurrency", "budget"), "the key of the same name outside of [options]"),
    **dict.fromkeys(("results", "run_name", "resume", "dry_run"), "the matrix, which sets it for each cell"),
}
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.]+")


class Cell(NamedTuple):
    """One run of a matrix.

    Attributes:
        agent: The agent; None for the default.
        model: The model of the agent; None if it calls none, or for no model.
        user: The user; None for the default.
        user_model: The model of the user.
        domain: The domain.
    """

    agent: str | None
    model: str | None
    user: str | None
    user_model: str | None
    domain: str

    @property
    def configuration(self) -> str:
        """Return the name of what is compared: agent, model and user, without the domain."""
        parts = [self.agent, self.model, self.user, self.user_model]
        return " · ".join(part for part in parts if part) or "default"

    @property
    def folder(self) -> str:
        """Return the name of the folder of its run, which depends on nothing but the cell."""
        slug = _UNSAFE.sub("-", f"{self.configuration} {self.domain}").strip("-.")[:60]
        return f"{slug}-{digest(json.dumps(self))[:6]}"

    def options(self) -> list[str]:
        """Return the options of pytest that it consists of."""
        return [f"--tau-{name}={value}" for name, value in zip(_OPTIONS, self, strict=True) if value is not None]


_OPTIONS = ("agent", "agent-llm", "user", "user-llm", "domain")


class Matrix(NamedTuple):
    """The content of a file.

    Attributes:
        file: The file.
        name: The name of the folder of the matrix.
        cells: The runs, in order; the configuration of the first one is what others are compared with.
        options: Options of pytest for every cell that verdicts or the selection of trials depend on.
        speed: Options of pytest that verdicts do not depend on: concurrency and workers.
        budget: USD for all cells together; None for no limit.
        gated: Whether cells have gates or a baseline, so that their exit status is a verdict.
    """

    file: Path
    name: str
    cells: list[Cell]
    options: list[str]
    speed: list[str]
    budget: float | None
    gated: bool


def read_matrix(file: Path, schema: Mapping[str, Any]) -> Matrix:
    """Return the content of a file.

    Args:
        file: A TOML file.
        schema: The properties of the JSON Schema of pytest-tau's options, by ini key.

    Raises:
        ConfigurationError: The file cannot be read, or has an error; names file, key and what is allowed.
    """
    try:
        document = read_toml(file)
        return _Reader(file, document, schema).matrix()
    except OSError as error:
        raise ConfigurationError(f"{file}: cannot be read: {error.strerror}") from None
    except (DocumentError, ValueError) as error:
        raise ConfigurationError(f"{file}: {error}") from None


# Not a pydantic model: its errors would have to be translated to these texts, which takes more code than the checks.
class _Reader:
    """Checks a document; each method raises ``ValueError`` for the first error."""

    def __init__(self, file: Path, document: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
        self._file, self._document, self._schema = file, document, schema

    def matrix(self) -> Matrix:
        document = self._document
        for key in document:
            if key not in _KEYS:
                raise ValueError(unknown_name("key", key, _KEYS))
        axes = {key: self._axis(key) for key in AXES}
        if axes["domains"] == [None]:
            raise ValueError("domains: missing: expected a list of domains, such as ['airline', 'retail']")
        numbers = {key: self._number(key, kind) for key, kind in _NUMBERS.items()}
        excluded = self._excluded(axes)
        cells = [cell for cell in _cells(axes) if not any(_fits(cell, each) for each in excluded)]
        if not cells:
            raise ValueError("exclude: excludes every cell: expected at least one cell to run")
        options, gated = self._options()
        for key in ("trials", "seed"):
            options += [f"--tau-{key}={numbers[key]}"] if numbers[key] is not None else []
        speed = [f"--tau-concurrency={numbers['concurrency']}"] if numbers["concurrency"] is not None else []
        speed += ["-n", str(numbers["workers"])] if numbers["workers"] is not None else []
        return Matrix(self._file, self._name(), cells, options, speed, numbers["budget"], gated)

    def _axis(self, key: str) -> list[Any]:
        if key not in self._document:
            return [None]
        values: Any = self._document[key]
        if not isinstance(values, list) or not all(isinstance(each, str) and each.strip() for each in values):
            raise ValueError(f"{key}: expected a list of strings, got {values!r}")
        if not values:
            raise ValueError(f"{key}: expected at least one value; remove the key for the default")
        if twice := [each for each in values if values.count(each) > 1]:
            raise ValueError(f"{key}: {twice[0]!r} is listed twice")
        return list(values)

    def _number(self, key: str, kind: type) -> Any:
        value = self._document.get(key)
        what = {"budget": "a number of USD above 0", "seed": "a whole number"}.get(key, "a whole number from 1")
        whole = isinstance(value, int) and not isinstance(value, bool)
        fits = whole or (kind is float and isinstance(value, float))
        if value is not None and not (fits and (key == "seed" or value > 0)):
            raise ValueError(f"{key}: expected {what}, got {value!r}")
        return value

    def _name(self) -> str:
        name = self._document.get("name", _UNSAFE.sub("-", self._file.stem).strip("-.") or "matrix")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"name: expected letters, digits, '_', '.' and '-', got {name!r}")
        return name

    def _excluded(self, axes: Mapping[str, list[Any]]) -> list[dict[str, str]]:
        tables = self._document.get("exclude", [])
        if not isinstance(tables, list) or not all(isinstance(each, dict) and each for each in tables):
            raise ValueError(f"exclude: expected tables [[exclude]] with {', '.join(_AXIS)}, got {tables!r}")
        for number, table in enumerate(tables, 1):
            for key, value in table.items():
                where = f"exclude {number}: "
                if key not in _AXIS:
                    raise ValueError(where + unknown_name("key", key, _AXIS))
                known = [each for each in axes[_AXIS[key]] if each is not None]
                if value not in known:
                    raise ValueError(f"{where}{key}: {unknown_name('value', str(value), known)}")
        return tables

    def _options(self) -> tuple[list[str], bool]:
        given = self._document.get("options", {})
        if not isinstance(given, dict):
            raise ValueError(f"options: expected a table [options], got {given!r}")  # noqa: TRY004 - the file's fault
        found: list[str] = []
        names = [name.removeprefix("tau_") for name in self._schema if name.startswith("tau_")]
        allowed = [name for name in names if name not in _OWN and name not in ("files", "tasks")]
        for key, value in given.items():
            name = key.replace("-", "_").removeprefix("tau_")
            if name in _OWN:
                raise ValueError(f"options: {key}: is set by {_OWN[name]}")
            if name not in allowed:
                raise ValueError(f"options: {unknown_name('key', key, allowed, sorted(allowed))}")
            found += self._arguments(name, key, value)
        return found, any(name in given for name in ("gate", "baseline", "fail_on", "fail-on"))

    def _arguments(self, name: str, key: str, value: Any) -> Iterator[str]:
        row = self._schema[f"tau_{name}"]
        option = f"--tau-{name.replace('_', '-')}"
        choices = row.get("enum")
        if choices and value not in choices:
            raise ValueError(f"options: {key}: expected {', '.join(map(repr, choices))}, got {value!r}")
        if row.get("type") == "boolean" and not isinstance(value, bool):
            raise ValueError(f"options: {key}: expected true or false, got {value!r}")
        if value is True:
            yield option
        elif isinstance(value, dict):
            yield f"{option}={json.dumps(value)}"
        elif isinstance(value, list):
            yield from (f"{option}={each}" for each in value)
        elif value is not False:
            yield f"{option}={value}"


def _cells(axes: Mapping[str, list[Any]]) -> list[Cell]:
    """Return the cells; those that differ only by a model that is not called are one."""
    found: dict[Cell, None] = {}
    for agent, model, user, user_model, domain in product(*(axes[key] for key in AXES)):
        of_agent = None if agent is not None and calls_no_model(agent) else model
        # The default user of an agent without a model calls none either.
        free = calls_no_model(user) if user is not None else agent is not None and calls_no_model(agent)
        of_user = None if free else user_model
        found[Cell(agent, of_agent, user, of_user, domain)] = None
    return list(found)


def _fits(cell: Cell, table: Mapping[str, str]) -> bool:
    return all(getattr(cell, key) == value for key, value in table.items())
