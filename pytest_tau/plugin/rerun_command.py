"""The command line that runs one trial again."""

from __future__ import annotations

import json
import os
import shlex
from typing import Any

from ..chat import without_login, without_secrets

#: Options without which the rerun would not be the same trial.
_REPEATED = (
    *("domain", "data", "generate", "difficulty", "seed", "agent", "user", "solo", "policy", "judge", "grading"),
    *("agent_llm", "agent_llm_args", "user_llm", "user_llm_args", "judge_llm", "judge_llm_args"),
    *("agent_prompt", "user_prompt", "agent_context", "agent_tool_calls", "user_tool_calls"),
    *("max_steps", "max_errors", "timeout", "cassettes", "replay"),
)


def rerun_command(item: Any, record: str | None = None, *, recorded: bool = False) -> str:
    """The command line that runs exactly this trial.

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
    for name in _REPEATED:
        value = getattr(item.config.option, f"tau_{name}", None)
        option = f"--tau-{name.replace('_', '-')}"
        if name == "domain" and item.nodeid.split("::")[0] in (value or []):
            continue  # the node id says it
        if name == "replay" and record is not None:
            continue
        if value is True:
            parts.append(option)
        elif value not in (None, False, []):
            for one in value if isinstance(value, list) else [value]:
                parts += [option, _public(one) if name.endswith("_args") else without_login(str(one))]
    if record is not None:
        parts.append(f"--tau-record={record}")
    elif recorded and item.config.option.tau_record is not None:
        parts.append("--tau-replay")
    return " ".join(shlex.quote(part) for part in parts)


def _public(args: str) -> str:
    """Arguments of a model without its keys: the command is shown in reports."""
    return without_login(json.dumps(without_secrets(json.loads(args))))
