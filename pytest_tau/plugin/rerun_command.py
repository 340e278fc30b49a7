"""The command line that runs one trial again."""

from __future__ import annotations

import json
import os
import shlex
from operator import attrgetter
from typing import Any

from ..chat.requests import shown_arguments, without_login
from ..documents import parse_json
from .option_types import json_object, model_arguments
from .options_table import OPTIONS


def rerun_command(item: Any, record: str | None = None, *, recorded: bool = False) -> str:
    """Return the command line that runs exactly this trial.

    Args:
        item: The test item.
        record: Have the command record the trial's model calls, ``missing`` or ``all``.
        recorded: The trial has a verdict, so that a run that recorded it has its cassette now.
    """
    nodeid = item.nodeid
    if not hasattr(item.parent, "selected"):  # not a domain's: the id begins with a path from the root directory
        path, separator, rest = nodeid.partition("::")
        nodeid = os.path.relpath(item.config.rootpath / path, item.config.invocation_params.dir) + separator + rest
    parts = ["pytest", nodeid]
    for option in sorted((each for each in OPTIONS.values() if each.rerun), key=attrgetter("rerun")):
        value = getattr(item.config.option, option.dest, None)
        if option.key == "domain" and item.nodeid.split("::")[0] in (value or []):
            continue  # the node id has it
        if option.key == "replay" and record is not None:
            continue
        name = f"--tau-{option.name}"
        if value is True:
            parts.append(name)
        elif value not in (None, False, []):
            for one in value if isinstance(value, list) else [value]:
                shown = _public(one) if option.type in (model_arguments, json_object) else without_login(str(one))
                # Written apart, pytest takes a path for one of tests.
                parts += [f"{name}={shown}"] if option.path else [name, shown]
    if record is not None:
        parts.append(f"--tau-record={record}")
    elif recorded and item.config.option.tau_record is not None:
        parts.append("--tau-replay")
    return " ".join(shlex.quote(part) for part in parts)


def _public(args: str) -> str:
    """Return the arguments of model calls without keys and account, as the command is shown in reports."""
    return without_login(json.dumps(shown_arguments(parse_json(args))))
