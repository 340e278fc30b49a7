"""The texts of a checkout of τ²-bench, read from its sources and its data; nothing of it is imported or executed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..documents import DocumentError, read_text
from ..errors import ConfigurationError
from .annotations import Annotations, UnreadableAnnotationError
from .prompt_texts import DONE_FUNCTION, MissingTextError, find_done, read_judge, read_prompts
from .sources import Checkout
from .text_values import UnreadableTextError
from .texts import Texts, literal
from .tool_texts import read_tools, tool_text

if TYPE_CHECKING:
    from pathlib import Path

    from .texts import JudgeTexts, PromptName, ToolText

#: Where a checkout may have its data: the folder with ``domains/``.
DATA_FOLDERS = ("data/tau2", "data")


def read_checkout(root: Path) -> Texts:
    """Return the texts of a checkout, with what was not found.

    Raises:
        ConfigurationError: It has no Python sources, or no tools.
    """
    checkout = Checkout(root)
    tools, discoverable, problems = read_tools(checkout)
    if not tools:
        raise ConfigurationError(
            f"{root}: no tools: looked for methods with a decorator such as @is_tool(…), in modules below a folder "
            "domains/<name>/"
        )
    prompts, not_found = read_prompts(checkout)
    problems += not_found
    prompts |= _user_prompts(root, problems)
    return Texts(
        source=str(root),
        tools=tools,
        discoverable=discoverable,
        prompts=prompts,
        done=_done(checkout, problems),
        judge=_judge(checkout, problems),
        not_found=problems,
    )


def not_data(path: Path) -> str:
    """Return what is wrong with a folder that has no data, and what would be right."""
    expectation = f"expected a folder with domains/<name>/ in it, got {path}"
    return f"{expectation}; it is data/tau2 of a checkout of τ²-bench, and without it bundled tasks are run"


def data_folder(root: Path) -> Path | None:
    """Return the folder with ``domains/<name>/``: the given one, or that of a checkout; None if there is none."""
    if (root / "domains").is_dir():
        return root
    for name in DATA_FOLDERS:
        folder = root / name
        if (folder / "domains").is_dir():
            return folder
    return None


def user_prompts(data: Path) -> dict[PromptName, str] | None:
    """Return the user's system messages of official data: the guidelines found there, followed by the scenario.

    Args:
        data: A folder laid out as τ²-bench's ``data/tau2``.

    Returns:
        The templates for users without and with tools; None if the folder has no such guidelines.

    Raises:
        ConfigurationError: A file of theirs cannot be read, is not UTF-8 text, or is empty.

    Source: τ²-bench v1.0.1, user simulator: the guidelines are sent as the file has them, white space included.
    """
    folder = data / "user_simulator"
    files = [folder / "simulation_guidelines.md", folder / "simulation_guidelines_tools.md"]
    if not all(file.is_file() for file in files):
        return None
    plain, tools = (f"{literal(_read(file))}\n\n<scenario>\n{{{{scenario}}}}\n</scenario>" for file in files)
    return {"user": plain, "user_tools": tools}


def read_prompt(path: Path) -> str:
    """Return the prompt in a file, without white space at its ends.

    Raises:
        ConfigurationError: It cannot be read, is not UTF-8 text, or is empty.
    """
    return _read(path).strip()


def _read(path: Path) -> str:
    try:
        text = read_text(path)
    except DocumentError as error:
        raise ConfigurationError(f"{path} is {error}") from None
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror or error}") from None
    if not text.strip():
        raise ConfigurationError(f"{path} is empty; expected a prompt")
    return text


def _user_prompts(root: Path, problems: list[str]) -> dict[PromptName, str]:
    for name in DATA_FOLDERS:
        prompts = user_prompts(root / name)
        if prompts is not None:
            return prompts
    problems.append("prompts.user: looked for user_simulator/simulation_guidelines.md and _tools.md in data/tau2")
    return {}


def _judge(checkout: Checkout, problems: list[str]) -> JudgeTexts | None:
    try:
        return read_judge(checkout)
    except (MissingTextError, UnreadableTextError) as error:
        problems.append(f"judge: {error}")
        return None


def _done(checkout: Checkout, problems: list[str]) -> ToolText | None:
    definition = find_done(checkout)
    if definition is not None:
        try:
            return tool_text(definition[1], definition[0], Annotations(checkout))
        except UnreadableAnnotationError as error:
            problems.append(f"done: {definition[0].path}: {error}")
            return None
    problems.append(f"done: looked for a function {DONE_FUNCTION}() with a docstring, in the module of LLMSoloAgent")
    return None
