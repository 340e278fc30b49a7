"""The bundled tasks of conversations in ticks: some of retail and airline, with conditions and scripts of their own."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ...documents import read_json
from ...models import UserScript

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...environment import Domain
    from ...models import Task

_FOLDER = Path(__file__).with_name("data")


def conditions_file(domain: str) -> Path:
    """Return the file with the conditions of a domain's bundled tasks; there is none for most domains."""
    return _FOLDER / f"{domain}.json"


@functools.cache
def _scripts(domain: str) -> Mapping[str, Any]:
    file = conditions_file(domain)
    return read_json(file)["scripts"] if file.is_file() else {}


def bundled_tasks(domain: str, tasks: list[Task]) -> list[Task]:
    """Return those of a domain's tasks that are bundled for conversations in ticks, with their scripts."""
    scripts = _scripts(domain)
    return [_with_script(task, scripts[task.id]) for task in tasks if task.id in scripts]


def _with_script(task: Task, script: Any) -> Task:
    scenario = task.user_scenario.model_copy(update={"script": UserScript.model_validate(script)})
    return task.model_copy(update={"user_scenario": scenario})


def keep_bundled(domain: Domain, tasks: list[Task], mode: str) -> None:
    """Replace the tasks of a domain by those that are bundled for conversations in ticks.

    Raises:
        pytest.UsageError: The domain has none, or the run is not in ticks.
    """
    if mode != "voice":
        raise pytest.UsageError("--tau-voice-tasks needs --tau-mode voice")
    voice_tasks = bundled_tasks(domain.spec.name, tasks)
    if not voice_tasks:
        names = ", ".join(sorted(file.stem for file in _FOLDER.glob("*.json")))
        problem = f"domain {domain.spec.name!r} has no such tasks here; the bundled data of {names} have"
        raise pytest.UsageError(f"--tau-voice-tasks: {problem}")
    tasks[:] = voice_tasks
