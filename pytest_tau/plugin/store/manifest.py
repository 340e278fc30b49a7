"""What a run tells of itself in its folder, ``run.json``: written before its first simulation, ended with the run."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from ..options import Settings
from ..report.run_counts import denominators_of
from ..run.fixtures import case_of
from ..wire import goes_on, known_folder, started

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from pathlib import Path

    from ...runner import RunConfig
    from ..context.run_context import Active, Case

#: How sessions end that were not carried through.
_BROKEN_OFF = (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)


def configure(config: pytest.Config) -> None:
    """Prepare to tell that the run has ended; a worker has its controller do so."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Ending(config), "tau-run-folder")


def describe(session: pytest.Session, active: Active) -> dict[str, Any]:
    """What the run tells of itself, once it is known what will be run."""
    from ...runs.manifest import FORMAT, Commit, hashes, versions

    config, run = session.config, active.config
    cases = [case for item in session.items if (case := case_of(item)) is not None]
    denominators = denominators_of(config)
    return {
        "format": FORMAT,
        "started": started(config),
        "finished": None,
        "versions": versions(),
        **Commit.of(config.rootpath)._asdict(),
        "settings": recorded_settings(run) | _of_plugin(config),
        "hashes": hashes(once(cases), run.simulation),
        "planned": denominators.trials,
        "excluded": denominators.excluded,
    }


def once(cases: Iterable[Case]) -> list[tuple[Any, Any]]:
    """Domain and task of each case, however many trials and tests have it."""
    found = {(case.domain.name, id(case.task)): (case.domain, case.task) for case in cases}
    return list(found.values())


def begin(session: pytest.Session, active: Active, folder: Path) -> None:
    """Tell of the run in its folder; where it is there already, because it goes on, of what has come to it.

    Raises:
        OSError: It cannot be written.
        ConfigurationError: What is there is none of ours.
    """
    from ...runs.manifest import INFO, read_info, resumed, write_info

    if (folder / INFO).is_file() and not goes_on(session.config):
        return  # another worker was first
    then, now = read_info(folder), describe(session, active)
    write_info(folder, resumed(then, now) if then else now)


def begin_elsewhere(config: pytest.Config, folder: Path, info: dict[str, Any]) -> str | None:
    """Write what a worker on another machine tells of the run; returns why that failed, if it did."""
    from ...runs.manifest import INFO, Commit, write_info
    from .writer import make_folder

    if (folder / INFO).is_file():
        return None
    try:
        make_folder(folder)
        # The worker has a copy of the project, without its repository.
        write_info(folder, info | Commit.of(config.rootpath)._asdict())
    except OSError as error:
        return f"what the run tells of itself cannot be kept in {folder}: {error.strerror}"
    return None


def recorded_settings(run: RunConfig) -> dict[str, Any]:
    """Every setting that was not left open, flat and readable, without secrets."""
    from ...chat.requests import is_public, without_login, without_secrets

    simulation, models = run.simulation, run.models
    found: dict[str, Any] = {
        "domains": list(run.domains),
        "data": str(run.data_dir) if run.data_dir else None,
        "split": run.split,
        "tasks": list(run.task_patterns),
        "num_tasks": run.num_tasks,
        "generate": run.generate,
        "difficulty": asdict(run.difficulty) if run.generate else None,
        "trials": run.trials,
        "seed": run.seed,
        "agent": run.agent_spec,
        "user": run.user_spec,
        "judge": run.judge,
        "solo": simulation.solo,
        "policy": simulation.policy,
        "grading": simulation.evaluation.grading.name,
        "max_steps": simulation.limits.max_steps,
        "max_errors": simulation.limits.max_errors,
        "timeout": simulation.limits.timeout,
        "concurrency": run.concurrency,
        "budget": models.budget,
        "tape": models.tape,
    }
    for role in ("agent", "user", "judge"):
        if choice := run.choice(role):
            found[f"{role}_llm"] = choice.name
            # Also without where and how patiently it is asked.
            found[f"{role}_llm_args"] = {name: choice.args[name] for name in choice.args if is_public(name)}
    for side, prompting in simulation.prompting.items():
        if run.choice(side):
            found[f"{side}_prompt"] = prompting.name
            found[f"{side}_context"] = prompting.context_tokens
            found[f"{side}_tool_calls"] = "text" if prompting.text_tools else None
    given = {name: value for name, value in found.items() if value is not None and value is not False and value != []}
    text = json.dumps(given, default=repr)
    public: dict[str, Any] = without_secrets(json.loads(without_login(text)))
    return public


def _of_plugin(config: pytest.Config) -> dict[str, Any]:
    """Settings that are not the runner's business."""
    shard = Settings(config).get("shard")
    return {"shard": shard} if shard else {}


class _Ending:
    """Tells, at the run's end, that it has ended, and what was not run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, exitstatus: int) -> Generator[None, None, None]:
        """The run has ended."""
        yield
        folder = known_folder(self._config)
        if folder is not None and folder.is_dir():
            from ...errors import TauError

            # By now every verdict is told; what is lost where this fails is when the run has ended.
            with contextlib.suppress(OSError, TauError):
                self._end(folder, carried_through=exitstatus not in _BROKEN_OFF)

    def _end(self, folder: Path, *, carried_through: bool) -> None:
        from ...runs.manifest import read_info, write_info

        info = read_info(folder)
        if not info:
            return
        if carried_through:
            info["finished"] = datetime.now(timezone.utc).isoformat(timespec="seconds")
        info["excluded"] = {**info["excluded"], **denominators_of(self._config).excluded}
        write_info(folder, info)
