"""Fingerprints of everything that a verdict depends on but settings and participants, and what of it has changed."""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

from ..evaluation import GRADING_RULES
from ..files import digest
from ..plain import json
from ..policy import policy_sections
from .jsonl import task_text
from .manifest import join_hashes, recorded_settings
from .provenance import own_version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..environment import Domain, Environment
    from ..evaluation import Evaluation
    from ..models import Task
    from ..runner import RunConfig, SimulationSettings


_DATABASES = ("db.json", "db.toml", "user_db.json", "user_db.toml")


def comparable_part(run: RunConfig, cases: Iterable[tuple[Domain, Task]]) -> dict[str, Any]:
    """Return the part of a run's manifest that is compared with that of an earlier one.

    Args:
        run: The settings of the run.
        cases: Its tasks, each with its domain.
    """
    recorded = {"settings": recorded_settings(run), "versions": {"pytest-tau": own_version()}}
    return {**recorded, "hashes": hashes(cases, run.simulation)}


def task_hash(task: Task) -> str:
    """Return the fingerprint of a task."""
    return digest(task_text(task))


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
    prompts = {
        side: [prompting.prompt, prompting.tools_prompt]
        for side, prompting in settings.prompting.items()
        if prompting.prompt
    }
    fingerprints = {str(side): digest(json.dumps(texts)) for side, texts in prompts.items()}
    texts = settings.protocol.texts
    return fingerprints | ({"texts": texts.fingerprint} if texts is not None else {})


def grader(evaluation: Evaluation) -> str:
    """Return the number of the grading rules, and the fingerprint of the profile and of the names of evaluators."""
    names = sorted(evaluator.name for evaluator in evaluation.evaluators)
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
        known[task.id] = join_hashes(known.get(task.id, ""), task_hash(task))
    fingerprints: dict[str, Any] = {"grader": grader(settings.evaluation), "domains": domains, "tasks": tasks}
    if parts:
        fingerprints["parts"] = parts
    prompts = prompt_hashes(settings)
    return fingerprints | ({"prompts": prompts} if prompts else {})


#: The module whose classes toolkits are derived from.
_BASES = "pytest_tau."


def domain_parts(domain: Domain, settings: SimulationSettings) -> dict[str, Any]:
    """Return the fingerprints of the parts of a domain, as ``run.json`` has them.

    Returns:
        ``tools``: by name, of the schema and, where it can be read, the source of the tool. ``code``: of the modules of
        the toolkits without the tools; None if it cannot be read. ``policy``: by heading, of each section.
        ``documents``: by id.
    """
    environment = domain.environment(solo=settings.solo, policy=settings.policy, retrieval=settings.retrieval)
    sources = dict(_tool_sources(environment))
    schemas = {tool.name: tool.openai_schema for tool in _tools(environment)}
    return {
        "tools": {name: digest(json.dumps([schema, sources.get(name)])) for name, schema in schemas.items()},
        "code": _code(environment, [*sources.values()]),
        "policy": {heading: digest(text) for heading, text in policy_sections(environment.policy).items()},
        "documents": dict(domain.knowledge.digests) if domain.knowledge else {},
    }


def _tools(environment: Environment) -> Iterator[Any]:
    for side in ("assistant", "user"):
        yield from environment.shared_tools(side)
    for hidden in environment.hidden_tools():
        yield from hidden


def _tool_sources(environment: Environment) -> Iterator[tuple[str, str]]:
    for toolkit in environment.toolkits:
        for name in toolkit.tool_infos:
            try:
                yield (
                    name,
                    inspect.getsource(inspect.unwrap(type(toolkit).function(name) or getattr(type(toolkit), name))),
                )
            except (OSError, TypeError, AttributeError):
                continue  # a tool of a server, or of a function that was made at run time


def _code(environment: Environment, tools: list[str]) -> str | None:
    """Return the fingerprint of the toolkits' modules, without the tools in them."""
    kinds = [kind for toolkit in environment.toolkits for kind in type(toolkit).__mro__]
    names = sorted(
        {kind.__module__ for kind in kinds if not kind.__module__.startswith((_BASES, "builtins", "typing"))}
    )
    texts = []
    for name in names:
        try:
            text = inspect.getsource(sys.modules[name])
        except (OSError, TypeError, KeyError):
            continue
        for source in tools:
            text = text.replace(source, "")
        texts.append(text)
    return digest("\0".join(texts)) if texts else None
