"""The answers of the plugin to the command ``tau``: domains and evaluators of plugins, the schema of the options."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from ..run_settings.types import difficulty, json_object, model_arguments
from ..settings import flag
from .capabilities import capabilities_of
from .hook_calls import domains_of_plugins, evaluators_of_plugins
from .option_types import outcome_names
from .options import INI_KEYS, named_domains, option_groups, run_options

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..environment import DomainSpec
    from ..evaluation import Evaluator
    from ..settings import Option

    _Provided = tuple[dict[str, DomainSpec], tuple[Evaluator, ...], tuple[str, ...]]

_STRINGS = {"type": ["string", "array"], "items": {"type": "string"}}
#: What TOML has for the values of some types; on the command line they are texts.
_TABLES = {model_arguments: "object", json_object: "object", difficulty: "object", outcome_names: "array"}


@pytest.hookimpl
def pytest_tau_provided(config: pytest.Config) -> _Provided:
    """Return the domains by name, the evaluators, and the names of the selected domains."""
    return domains_of_plugins(config), evaluators_of_plugins(config), named_domains(config)


@pytest.hookimpl
def pytest_tau_options_schema(config: pytest.Config) -> dict[str, Any]:
    """Return the schema of the options that the plugins of a configuration have."""
    return options_schema(run_options(config).values())


@pytest.hookimpl
def pytest_tau_option_groups(config: pytest.Config) -> dict[str, list[Option]]:
    """Return the options that the plugins of a configuration have, by the title of their group."""
    return option_groups(capabilities_of(config))


def options_schema(options: Iterable[Option]) -> dict[str, Any]:
    """Return the schema of options, with a property for each ini key."""
    keys = {option.dest: _option(option) for option in options}
    keys |= {key: {**_STRINGS, "description": described} for key, described in INI_KEYS.items()}
    names = {"anyOf": [{"not": {"pattern": "^tau_"}}, {"enum": list(keys)}]}
    table = {"$ref": "#/definitions/options"}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Options of pytest-tau in pytest.toml and pyproject.toml",
        "type": "object",
        "properties": {
            "pytest": table,
            # pytest reads [tool.pytest] as well as [tool.pytest.ini_options].
            "tool": {"properties": {"pytest": {"allOf": [table], "properties": {"ini_options": table}}}},
        },
        "definitions": {"options": {"type": "object", "properties": keys, "propertyNames": names}},
    }


def _option(option: Option) -> dict[str, Any]:
    described = {"description": option.full_help}
    if option.repeat:
        return {**_STRINGS, **described}
    if option.choices:
        return {"enum": [*option.choices, *([True, False] if option.bare else [])], **described}
    return {"type": _types(option), **described}


def _types(option: Option) -> str | list[str]:
    """Return the JSON types of an option's value. Each may be written as text, as in other ini files."""
    if option.type is flag:
        return "boolean"
    if option.type in _TABLES:
        return [_TABLES[option.type], "string"]
    if option.bare:  # the option without a value
        return ["string", "boolean"]
    # The type of an option is a function; what it makes of a number says what it is for.
    found: Any = None
    with contextlib.suppress(ValueError, TypeError):
        found = option.type("1")
    if isinstance(found, int):
        return ["integer", "string"]
    return ["number", "string"] if isinstance(found, float) else "string"
