"""Fingerprints of everything that a verdict depends on, apart from settings and participants."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...evaluation import GRADING_RULES
from ...files import digest
from ..jsonl import task_text
from ..manifest import join_hashes
from .parts import domain_parts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...environment import Domain
    from ...evaluation import Evaluation
    from ...models import Task
    from ...runner import SimulationSettings

_DATABASES = ("db.json", "db.toml", "user_db.json", "user_db.toml")


def task_hash(domain: Domain, task: Task) -> str:
    """Return the fingerprint of a task."""
    return domain.once_per_task(task, "hash", lambda task: digest(task_text(domain, task)))


def domain_hashes(domain: Domain, settings: SimulationSettings) -> dict[str, str]:
    """Return the fingerprints of a domain: its policy, the schemas of its tools, its databases and documents."""
    environment = domain.environment(solo=settings.solo, policy=settings.policy, retrieval=settings.retrieval)
    tools = [[tool.openai_schema for tool in environment.tools(side)] for side in ("assistant", "user")]
    tools += [[tool.openai_schema for tool in hidden] for hidden in environment.hidden_tools() if hidden]
    state = environment.agent_db
    files = [file.read_bytes() for name in _DATABASES if (file := domain.folder / name).is_file()]
    documents = {"documents": domain.knowledge.digest} if domain.knowledge else {}
    return {
        "policy": digest(environment.policy),
        "tools": digest(json.dumps(tools)),
        "database": digest(b"\0".join(files)) if state.in_files else state.digest(),
        **documents,
    }


def prompt_hashes(settings: SimulationSettings) -> dict[str, str]:
    """Return the fingerprints of the prompts that were given for the run, by side."""
    given = {side: [one.prompt, one.tools_prompt] for side, one in settings.prompting.items() if one.prompt}
    found = {str(side): digest(json.dumps(texts)) for side, texts in given.items()}
    texts = settings.protocol.texts
    return found | ({"texts": texts.fingerprint} if texts is not None else {})


def grader(evaluation: Evaluation) -> str:
    """Return the number of the grading rules, and the fingerprint of the profile and of the names of evaluators."""
    names = sorted(each.name for each in evaluation.evaluators)
    return f"{GRADING_RULES}-{digest(chr(0).join([repr(evaluation.grading), *names]))}"


def hashes(cases: Iterable[tuple[Domain, Task]], settings: SimulationSettings) -> dict[str, Any]:
    """Return the fingerprints of everything that a verdict depends on, apart from settings and participants' code.

    Args:
        cases: The tasks, each with its domain; different tasks of one id, from several files, have all their
            fingerprints.
        settings: The settings of every simulation.
    """
    domains: dict[str, dict[str, str]] = {}
    tasks: dict[str, dict[str, str]] = {}
    parts: dict[str, Any] = {}
    for domain, task in cases:
        if domain.name not in domains:
            domains[domain.name] = domain_hashes(domain, settings)
            parts[domain.name] = domain_parts(domain, settings)
        known = tasks.setdefault(domain.name, {})
        known[task.id] = join_hashes(known.get(task.id, ""), task_hash(domain, task))
    found: dict[str, Any] = {"grader": grader(settings.evaluation), "domains": domains, "tasks": tasks}
    if parts:
        found["parts"] = parts
    prompts = prompt_hashes(settings)
    return found | ({"prompts": prompts} if prompts else {})
