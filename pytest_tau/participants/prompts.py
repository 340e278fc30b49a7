"""System messages: the built-in templates, the user's own files, and the guidelines of official data."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ConfigurationError
from ..models import call_as_text
from .context import Prompting

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ..models import Task
    from .context import ParticipantContext, Side

_PLACEHOLDER = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}")
#: The placeholder of two literal braces, so that a text with braces can be part of a template.
_BRACES = "open"
#: Placeholders that a template may have, by side; the first of them is required.
_PLACEHOLDERS: dict[Side, tuple[str, ...]] = {"agent": ("policy", "steps"), "user": ("scenario",)}


@functools.cache
def built_in(name: str) -> str:
    """Return a built-in template."""
    return (Path(__file__).with_name("prompts") / f"{name}.md").read_text(encoding="utf-8").strip()


def load_prompt(path: Path | str, side: Side) -> str:
    """Read a template from a file: ``{{policy}}`` stands for an agent's policy, ``{{scenario}}`` for a user's scenario.

    ``{{steps}}`` stands for the reference actions of an agent that gets them, ``{{open}}`` for two literal braces.

    Raises:
        ConfigurationError: There is no such file, it is not UTF-8 text, is empty, lacks the required placeholder,
            or has an unknown one.
    """
    text = _read(Path(path))
    known = _PLACEHOLDERS[side]
    _check(text, required=known[:1], known=known, where=str(path))
    return text


def official_guidelines(data_dir: Path | str) -> Prompting | None:
    """Return the user's system messages of official data: the guidelines found there, followed by the scenario.

    Args:
        data_dir: A folder laid out as τ²-bench's ``data/tau2``.

    Returns:
        The prompts for users without and with tools; None if the folder has no such guidelines.

    Raises:
        ConfigurationError: A file of theirs cannot be read, is not UTF-8 text, or is empty.

    Source: τ²-bench v1.0.1, user simulator.
    """
    folder = Path(data_dir) / "user_simulator"
    files = [folder / "simulation_guidelines.md", folder / "simulation_guidelines_tools.md"]
    if not all(file.is_file() for file in files):
        return None
    plain, tools = (f"{literal(_read(file))}\n\n<scenario>\n{{{{scenario}}}}\n</scenario>" for file in files)
    return Prompting(name="official guidelines", prompt=plain, tools_prompt=tools)


def system_message(context: ParticipantContext, template: str, values: Mapping[str, str]) -> str:
    """Return the system message of a model: the run's prompt, or a built-in template, with the values filled in.

    Args:
        context: The side.
        template: The built-in template, for a run without a prompt of its own.
        values: The values of the placeholders. A template has to name them all.

    Raises:
        ConfigurationError: The template lacks a placeholder, or has an unknown one.
    """
    prompting = context.prompting
    given = prompting.tools_prompt if context.tools and prompting.tools_prompt is not None else prompting.prompt
    return fill(template if given is None else given, values, where=f"the {context.side}'s prompt {prompting.name!r}")


def fill(template: str, values: Mapping[str, str], where: str) -> str:
    """Fill in a template's values, in one pass: text that looks like a placeholder in a value stays as it is.

    Raises:
        ConfigurationError: The template lacks a placeholder, or has an unknown one.
    """
    _check(template, required=values, known=values, where=where)
    all_values = {**values, _BRACES: "{{"}
    return _PLACEHOLDER.sub(lambda found: all_values[found[1]], template)


def literal(text: str) -> str:
    """Escape a text's braces, so that it is unchanged in a filled template."""
    return text.replace("{{", f"{{{{{_BRACES}}}}}")


def resolution_steps(task: Task, *, with_arguments: bool) -> str:
    """Return the task's reference actions as a numbered list; the user's are written as requests to the user.

    Raises:
        ConfigurationError: The task has none.
    """
    actions = task.criteria.actions
    if not actions:
        raise ConfigurationError(
            f"task {task.id!r} has no reference actions, which the agent needs; deselect the task, or use another agent"
        )
    lines = []
    for number, action in enumerate(actions, start=1):
        call = call_as_text(action.name, action.arguments) if with_arguments else action.name
        theirs = "on the customer's side, ask them for it: " if action.requestor == "user" else ""
        lines.append(f"{number}. {theirs}{call}")
    return "\n".join(lines)


def _read(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from None
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror or error}") from None
    if not text:
        raise ConfigurationError(f"{path} is empty; expected a prompt")
    return text


def _check(template: str, *, required: Collection[str], known: Collection[str], where: str) -> None:
    found = dict.fromkeys(_PLACEHOLDER.findall(template))
    for name in found:
        if name not in known and name != _BRACES:
            hint = f"expected {_listed(known)}; for literal braces write {{{{{_BRACES}}}}}{name}}}}}"
            raise ConfigurationError(f"{where} has an unknown placeholder {_listed([name])}: {hint}")
    missing = [name for name in required if name not in found]
    if missing:
        raise ConfigurationError(f"{where} lacks {_listed(missing)}, which the model needs")


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"{{{{{name}}}}}" for name in names)
