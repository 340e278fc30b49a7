"""Parts of the tools' answers."""

import json
from typing import Any


def titled(value: str) -> str:
    """Return the name of a choice as people write it: ``goodwill_adjustment`` as ``Goodwill Adjustment``."""
    return value.replace("_", " ").title()


def lines(*parts: str | None) -> str:
    """Return lines joined to a text; without those that are None."""
    return "\n".join(part for part in parts if part is not None)


def executed(head: str, tool: str, *parts: str, arguments: dict[str, Any] | None = None) -> str:
    """Return the answer of a tool that names itself and, if any are given, its arguments."""
    given = (
        [] if arguments is None else [f"Arguments: {json.dumps(arguments, indent=2) if arguments else NO_ARGUMENTS}"]
    )
    return "\n".join([head, "", f"Executed: {tool}", *given, *parts])


NO_ARGUMENTS = "(no arguments)"
