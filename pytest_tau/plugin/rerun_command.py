"""The command line that runs one trial again."""

from __future__ import annotations

import os
import shlex
from operator import attrgetter
from typing import Any

from ..chat.requests import shown_arguments
from ..documents import parse_json
from ..masking import is_secret, mask_secrets, masked
from ..plain import json
from ..settings import json_object, model_arguments
from .items import is_of_domain
from .options import run_options
from .options_table import OPTIONS


def rerun_command(item: Any, record: str | None = None, *, recorded: bool = False) -> str:
    """Return the command line that runs exactly this trial.

    Args:
        item: The test item.
        record: Have the command record the trial's model calls, ``missing`` or ``all``.
        recorded: The trial has a verdict, so that a run that recorded it has its cassette now.
    """
    nodeid = item.nodeid
    if not is_of_domain(item):  # the id begins with a path, which may be none from here
        _, separator, rest = nodeid.partition("::")
        nodeid = os.path.relpath(item.path, item.config.invocation_params.dir) + separator + rest
    parts, options = ["pytest", nodeid, *_of_pytest(item.config.option)], run_options(item.config)
    repeated = [option for option in options.values() if option.rerun or option.decides_trial]
    for option in sorted(repeated, key=attrgetter("rerun")):
        value = getattr(item.config.option, option.dest, None)
        if option.key == "domain" and item.nodeid.split("::")[0] in (value or []):
            continue  # the node id has it
        if option.key == "replay" and record is not None:
            continue
        name = f"--tau-{option.name}"
        if value is True:
            parts.append(name)
        elif value not in (None, False, []):
            for part in value if isinstance(value, list) else [value]:
                text = _public(part) if option.type in (model_arguments, json_object) else mask_secrets(str(part))
                # Written apart, pytest takes a path for one of tests.
                parts += [f"{name}={text}"] if option.path else [name, text]
    if record is not None:
        parts.append(f"--tau-record={record}")
    elif recorded and item.config.option.tau_record is not None:
        parts.append("--tau-replay")
    return " ".join(shlex.quote(part) for part in parts)


def _of_pytest(option: Any) -> list[str]:
    """Return pytest's own options that decide what a trial is: the configuration, and the plugins that are named."""
    parts = ["-c", str(option.inifilename)] if option.inifilename else []
    parts += [part for name in option.plugins if not name.startswith("no:") for part in ("-p", name)]
    settings = [setting for setting in option.override_ini or [] if setting.startswith("tau_")]
    return [*parts, *(part for setting in settings for part in ("-o", _public_setting(setting)))]


def _public_setting(setting: str) -> str:
    name, _, value = setting.partition("=")
    option = OPTIONS.get(name.removeprefix("tau_"))
    is_json = option is not None and option.type in (model_arguments, json_object)
    return f"{name}={_public(value)}" if is_json else mask_secrets(setting)


def _public(args: str) -> str:
    """Return the arguments of model calls as reports show the command: without an account, a key to be filled in."""
    arguments = parse_json(args)
    keys = {name: "***" for name, value in arguments.items() if is_secret(name) and isinstance(value, str)}
    return json.dumps(masked(shown_arguments(arguments)) | keys)
