"""``run.json``: what a run tells of itself: settings, versions, commit, and hashes of what its verdicts hang on."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import shutil
import subprocess
from collections import Counter
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ConfigurationError
from ..evaluation.fingerprint import grading_fingerprint

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from ..environment import Domain
    from ..models import Task
    from ..runner import SimulationSettings

#: The file in a run's folder.
INFO = "run.json"
FORMAT = 1
#: Settings that no verdict hangs on: what is chosen to run, how fast, at what cost, and what hashes tell better.
NEUTRAL = frozenset(
    {
        *("domains", "data", "split", "tasks", "num_tasks", "generate", "difficulty", "trials", "shard"),
        *("agent_prompt", "user_prompt"),
        *("concurrency", "llm_concurrency", "llm_timeout", "budget", "tape", "cassettes"),
    }
)
_DATABASES = ("db.json", "db.toml", "user_db.json", "user_db.toml")
_OTHERS = ("pytest", "pytest-xdist", "pydantic", "litellm")
#: Seconds that git may take, so that a repository on a slow disk holds nobody up.
_PATIENCE = 5.0


class Commit(NamedTuple):
    """The state of the tested project.

    Attributes:
        commit: The hash of its last commit; None where git does not tell.
        dirty: Whether tracked files have changed since; None where git does not tell.
    """

    commit: str | None = None
    dirty: bool | None = None

    @classmethod
    def of(cls, folder: Path) -> Commit:
        """That of the repository that a folder is in; asks git only where there is one."""
        git = shutil.which("git")
        if git is None or not any((each / ".git").exists() for each in (folder, *folder.parents)):
            return cls()
        try:
            commit = _git(git, folder, "rev-parse", "HEAD").strip()
            return cls(commit, bool(_git(git, folder, "status", "--porcelain", "--untracked-files=no").strip()))
        except (OSError, ValueError, subprocess.SubprocessError):
            return cls()


def _git(git: str, folder: Path, *args: str) -> str:
    environment = os.environ | {"GIT_OPTIONAL_LOCKS": "0"}
    done = subprocess.run(  # noqa: S603 - a fixed command, without a shell
        [git, *args], cwd=folder, env=environment, capture_output=True, text=True, timeout=_PATIENCE, check=True
    )
    return done.stdout


@functools.cache
def versions() -> dict[str, str]:
    """The versions of this package, of Python, and of installed packages that a run may depend on."""
    found = {"pytest-tau": own_version(), "python": platform.python_version()}
    for name in _OTHERS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@functools.cache
def own_version() -> str:
    """The version of this package; ``unknown`` where it is not installed."""
    try:
        return version("pytest-tau")
    except PackageNotFoundError:
        return "unknown"


def task_text(domain: Domain, task: Task) -> str:
    """A task as JSON, made once a process."""
    return domain.once_per_task(task, "text", lambda task: model_text(task, exclude_none=True))


def model_text(model: Any, *, exclude_none: bool = False) -> str:
    """A model as JSON in one line, whatever text there is in it.

    Raises:
        ValueError: It holds something that is no JSON value.
    """
    try:
        return str(model.model_dump_json(exclude_none=exclude_none))
    except ValueError:
        # A lone surrogate, which JSON may hold and pydantic does not write down.
        text = json.dumps(model.model_dump(mode="json", exclude_none=exclude_none), ensure_ascii=False)
        return text.encode("utf-8", "backslashreplace").decode("utf-8")


def task_hash(domain: Domain, task: Task) -> str:
    """What tells a task from a changed one."""
    return domain.once_per_task(task, "hash", lambda task: digest(task_text(domain, task)))


def domain_hashes(domain: Domain, settings: SimulationSettings) -> dict[str, str]:
    """What tells a domain from a changed one: its policy, the schemas of its tools, the files of its databases."""
    environment = domain.environment(solo=settings.solo, policy=settings.policy)
    tools = [[tool.openai_schema for tool in environment.tools(side)] for side in ("assistant", "user")]
    files = [file.read_bytes() for name in _DATABASES if (file := domain.folder / name).is_file()]
    return {
        "policy": digest(environment.policy),
        "tools": digest(json.dumps(tools)),
        "database": digest(b"\0".join(files)),
    }


def prompt_hashes(settings: SimulationSettings) -> dict[str, str]:
    """What tells prompts of one's own from changed ones, by side."""
    given = {side: [one.prompt, one.tools_prompt] for side, one in settings.prompting.items() if one.prompt}
    return {side: digest(json.dumps(texts)) for side, texts in given.items()}


def hashes(cases: Iterable[tuple[Domain, Task]], settings: SimulationSettings) -> dict[str, Any]:
    """Everything that a verdict hangs on beside the settings and the participants' code, as hashes.

    Args:
        cases: The tasks, each in its domain.
        settings: What holds for every simulation.
    """
    domains: dict[str, dict[str, str]] = {}
    tasks: dict[str, dict[str, str]] = {}
    for domain, task in cases:
        if domain.name not in domains:
            domains[domain.name] = domain_hashes(domain, settings)
        tasks.setdefault(domain.name, {})[task.id] = task_hash(domain, task)
    found: dict[str, Any] = {"grader": grading_fingerprint(settings.evaluation), "domains": domains, "tasks": tasks}
    prompts = prompt_hashes(settings)
    return found | ({"prompts": prompts} if prompts else {})


def digest(content: str | bytes) -> str:
    """16 hex digits."""
    return hashlib.sha256(
        content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    ).hexdigest()[:16]


def read_info(folder: Path) -> dict[str, Any]:
    """What a run tells of itself; empty where it tells nothing.

    Raises:
        ConfigurationError: The file is none of ours, or of a later version.
    """
    file = folder / INFO
    try:
        info = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{file}: cannot be read: {error}") from None
    told = info.get("format") if isinstance(info, dict) else None
    if told != FORMAT:
        raise ConfigurationError(f"{file}: expected format {FORMAT}, got {told!r}")
    return dict(info)


def write_info(folder: Path, info: Mapping[str, Any]) -> None:
    """Write it, whole or not at all.

    Raises:
        OSError: It cannot be written.
    """
    # With the process in its name, as xdist workers may write the same thing at the same time.
    draft = folder / f"{INFO}.{os.getpid()}.draft"
    draft.write_text(json.dumps(info, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", errors="backslashreplace")
    draft.replace(folder / INFO)


def resumed(then: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """What a run tells of itself once it goes on: what was planned either time, and when it went on.

    Args:
        then: What it told before.
        now: What a run of its own would tell now.
    """
    planned: dict[str, dict[str, int]] = {name: dict(tasks) for name, tasks in then["planned"].items()}
    for name, tasks in now["planned"].items():
        before = planned.setdefault(name, {})
        before |= {task: max(trials, before.get(task, 0)) for task, trials in tasks.items()}
    both = {part: {**then["hashes"].get(part, {}), **now["hashes"].get(part, {})} for part in ("domains", "prompts")}
    tasks = {name: {**then["hashes"]["tasks"].get(name, {}), **found} for name, found in now["hashes"]["tasks"].items()}
    known = {**then["hashes"], **{part: found for part, found in both.items() if found}}
    known["tasks"] = {**then["hashes"]["tasks"], **tasks}
    again = {name: now[name] for name in ("started", "commit", "dirty")}
    before = then.get("resumed", [])
    return {
        **then,
        "finished": None,
        "resumed": before if again["started"] in {each["started"] for each in before} else [*before, again],
        "hashes": known,
        "planned": planned,
        "excluded": now["excluded"],
    }


def joined(infos: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """What runs tell of themselves that are parts of one, such as shards; None where they are not of the same kind.

    Args:
        infos: Of each part.
    """
    first, *others = infos
    if not all(infos):
        return None
    if any(differing(first, each) or differing_cases(first["hashes"], each["hashes"]) for each in others):
        return None
    whole = dict(first)
    for each in others:
        whole = resumed(whole, each)
    planned: dict[str, Counter[str]] = {}
    for each in infos:
        for name, tasks in each["planned"].items():
            planned.setdefault(name, Counter()).update(tasks)
    ends = [each["finished"] for each in infos]
    return {
        **whole,
        "started": min(each["started"] for each in infos),
        "finished": max(ends) if all(ends) else None,
        "resumed": first.get("resumed", []),
        "planned": {name: dict(tasks) for name, tasks in planned.items()},
        "excluded": {},
    }


def differing(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Which settings, prompts and rules of grading are not those of an earlier run, each with both values."""
    found = _pairs("", then["settings"], now["settings"], without=NEUTRAL)
    found += _pairs(" prompt", then["hashes"].get("prompts", {}), now["hashes"].get("prompts", {}))
    rules = [each["hashes"]["grader"] for each in (then, now)]
    versions = [each["versions"]["pytest-tau"] for each in (then, now)]
    if rules[0] != rules[1]:
        found.append(
            _told("rules of grading", *(f"{one} of pytest-tau {two}" for one, two in zip(rules, versions, strict=True)))
        )
    return found


def differing_cases(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Which domains and tasks are not those of an earlier run, each with both hashes; new ones are passed over.

    Args:
        then: The ``hashes`` of the earlier run.
        now: Those of what is about to run.
    """
    found: list[str] = []
    for name, parts in now["domains"].items():
        found += _pairs(f" of {name}", then["domains"].get(name, parts), parts)
    for name, tasks in now["tasks"].items():
        before = then["tasks"].get(name, {})
        changed = [task for task, hashed in tasks.items() if before.get(task, hashed) != hashed]
        found += [_told(f"task {task!r} of {name}", before[task], tasks[task]) for task in changed]
    return found


def _pairs(suffix: str, then: Mapping[str, Any], now: Mapping[str, Any], without: Collection[str] = ()) -> list[str]:
    names = [name for name in dict.fromkeys([*then, *now]) if name not in without]
    return [
        _told(f"{name}{suffix}", *(json.dumps(each.get(name), ensure_ascii=False) for each in (then, now)))
        for name in names
        if then.get(name) != now.get(name)
    ]


def _told(what: str, then: str, now: str) -> str:
    return f"{what}: {then} then, {now} now"
