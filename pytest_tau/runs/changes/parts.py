"""Fingerprints of a domain by part: each tool, each section of the policy, each document."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ...files import digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...environment import Domain, Environment
    from ...runner import SimulationSettings

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
#: The name of the text before the first heading.
BEGINNING = "(beginning)"
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


def policy_sections(policy: str) -> dict[str, str]:
    """Return the sections of a policy in Markdown by heading; the second of one name is ``name (2)``."""
    found: dict[str, str] = {}
    seen: Counter[str] = Counter()
    starts = [(each.start(), each[1]) for each in _HEADING.finditer(policy)]
    bounds = [(0, BEGINNING), *starts, (len(policy), "")]
    for (start, name), (end, _) in pairwise(bounds):
        text = policy[start:end].strip()
        if text:
            seen[name] += 1
            found[name if seen[name] == 1 else f"{name} ({seen[name]})"] = " ".join(text.split())
    return found


def _tools(environment: Environment) -> Iterator[Any]:
    for side in ("assistant", "user"):
        yield from environment.shared_tools(side)
    for hidden in environment.hidden_tools():
        yield from hidden


def _tool_sources(environment: Environment) -> Iterator[tuple[str, str]]:
    for toolkit in environment.toolkits:
        for name in toolkit.tool_infos:
            try:
                yield name, inspect.getsource(inspect.unwrap(getattr(type(toolkit), name)))
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
