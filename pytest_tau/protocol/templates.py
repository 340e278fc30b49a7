"""Templates of prompts: ``{{name}}`` stands for a value, ``{{open}}`` for two literal braces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_PLACEHOLDER = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}")
#: The placeholder of two literal braces, so that a text with braces can be part of a template.
_BRACES = "open"


def fill(template: str, values: Mapping[str, str], where: str) -> str:
    """Fill in a template's values, in one pass: text that looks like a placeholder in a value stays as it is.

    Raises:
        ConfigurationError: The template lacks a placeholder, or has an unknown one.
    """
    check_template(template, required=values, known=values, where=where)
    all_values = {**values, _BRACES: "{{"}
    return _PLACEHOLDER.sub(lambda found: all_values[found[1]], template)


def literal(text: str) -> str:
    """Escape a text's braces, so that it is unchanged in a filled template."""
    return text.replace("{{", f"{{{{{_BRACES}}}}}")


def placeholders(template: str) -> set[str]:
    """Return the names of the values that a template has."""
    return {*_PLACEHOLDER.findall(template)} - {_BRACES}


def check_template(template: str, *, required: Collection[str], known: Collection[str], where: str) -> None:
    """Check that a template has each required placeholder, and no unknown one.

    Raises:
        ConfigurationError: It lacks one or has another; names it.
    """
    for name in dict.fromkeys(_PLACEHOLDER.findall(template)):
        if name not in known and name != _BRACES:
            hint = f"expected {_listed(known)}; for literal braces write {{{{{_BRACES}}}}}{name}}}}}"
            raise ConfigurationError(f"{where} has an unknown placeholder {_listed([name])}: {hint}")
    missing = [name for name in required if name not in placeholders(template)]
    if missing:
        raise ConfigurationError(f"{where} lacks {_listed(missing)}, which the model needs")


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"{{{{{name}}}}}" for name in names)
