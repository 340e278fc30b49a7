"""System messages: the built-in templates, the user's own files, and the guidelines of official data."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ConfigurationError
from ..models import call_as_text
from ..protocol import check_template, fill, placeholders, read_prompt, user_prompts
from .context import Prompting
from .personas import persona_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..models import Task
    from ..protocol import PromptName, Protocol as ModelProtocol
    from .context import ParticipantContext, Side

#: The name of the prompt that consists of official guidelines.
OFFICIAL_GUIDELINES = "official guidelines"
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
    text = read_prompt(Path(path))
    known = _PLACEHOLDERS[side]
    check_template(text, required=known[:1], known=known, where=str(path))
    return text


def official_guidelines(data_dir: Path | str) -> Prompting | None:
    """Return the user's system messages of official data; None if the folder has no guidelines.

    Args:
        data_dir: A folder laid out as τ²-bench's ``data/tau2``.

    Raises:
        ConfigurationError: A file of theirs cannot be read, is not UTF-8 text, or is empty.
    """
    prompts = user_prompts(Path(data_dir))
    if prompts is None:
        return None
    return Prompting(name=OFFICIAL_GUIDELINES, prompt=prompts["user"], tools_prompt=prompts["user_tools"])


def default_template(context: ParticipantContext, name: PromptName) -> str:
    """Return the template of a model's system message in a run without a prompt of its own.

    Raises:
        ConfigurationError: The official texts lack it.
    """
    # The run's own prompt is used instead, so that the official texts need not have one.
    return built_in(name) if context.prompting.prompt is not None else context.protocol.template(name, built_in(name))


def chosen_template(context: ParticipantContext, default: str) -> str:
    """Return the template of a model's system message: the run's prompt, else the default."""
    template = _own_template(context.prompting, tools=bool(context.tools))
    return default if template is None else template


def _own_template(prompting: Prompting, *, tools: bool) -> str | None:
    return prompting.tools_prompt if tools and prompting.tools_prompt is not None else prompting.prompt


def system_message(context: ParticipantContext, template: str, values: Mapping[str, str]) -> str:
    """Return the system message of a model: the run's prompt, or the default template, with the values filled in.

    Args:
        context: The side.
        template: The default template, for a run without a prompt of its own.
        values: The values of the placeholders. A template has to name them all.

    Raises:
        ConfigurationError: The template lacks a placeholder, or has an unknown one.
    """
    where = f"the {context.side}'s prompt {context.prompting.name!r}"
    return fill(chosen_template(context, template), values, where)


def llm_template(context: ParticipantContext) -> str:
    """Return the default template of a model that plays a side as the built-in ``llm`` does.

    Raises:
        ConfigurationError: The official texts lack it.
    """
    if context.side == "agent":
        return default_template(context, "agent_solo" if context.solo else "agent")
    return default_template(context, "user_tools" if context.tools else "user")


def user_templates(prompting: Prompting | None, protocol: ModelProtocol) -> dict[str, str]:
    """Return the templates of a model that plays the user: ``user``, and ``user_tools`` for a user with tools.

    Raises:
        ConfigurationError: The official texts lack one.
    """
    prompting = prompting or Prompting()
    names: tuple[PromptName, ...] = ("user", "user_tools")
    return {
        name: _own_template(prompting, tools=name == "user_tools") or protocol.template(name, built_in(name))
        for name in names
    }


def has_ticket(context: ParticipantContext) -> bool:
    """Return whether the system message of ``llm`` has the ticket of an agent without a user, as official ones do."""
    return context.solo and "ticket" in placeholders(chosen_template(context, llm_template(context)))


def llm_system_message(context: ParticipantContext) -> str:
    """Return the system message of a model that plays a side as the built-in ``llm`` does.

    Raises:
        ConfigurationError: The run's prompt lacks a placeholder, or has an unknown one; or the official texts lack
            the template.
    """
    values = {"policy" if context.side == "agent" else "scenario": context.instructions}
    if has_ticket(context):
        values["ticket"] = str(context.task.ticket)
    text = system_message(context, llm_template(context), values)
    behaviour = context.behaviour.instruction if context.behaviour else ""
    return "\n\n".join(filter(None, (text, persona_text(context.persona), behaviour)))


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
