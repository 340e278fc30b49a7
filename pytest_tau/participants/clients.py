"""The source of a participant's module: what it imports, and whether it asks for the endpoint of its trial."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from pathlib import Path
from typing import Any

#: Attributes of a trial that need the endpoint.
_OF_ENDPOINT = frozenset({"base_url", "api_key", "mcp_url", "anthropic_base_url", "environ"})
#: Packages by which code calls a model or a server, by the first part of their name.
CLIENTS = (
    *("openai", "anthropic", "litellm", "httpx", "httpx2", "requests", "aiohttp", "urllib3", "mistralai", "cohere"),
    *("groq", "ollama", "together", "boto3", "google.genai", "google.generativeai"),
    "agents.Runner",  # the OpenAI Agents SDK, whose package has a common name
    *("langchain", "langchain_openai", "langchain_anthropic", "langchain_google_genai", "langgraph", "pydantic_ai"),
    *("agent_framework", "smolagents", "google.adk", "llama_index", "dspy", "crewai", "autogen_agentchat"),
    "semantic_kernel",
)


def imported_clients(target: Any) -> list[str]:
    """Return the clients of models that the module of a participant imports, anywhere in it.

    Args:
        target: The participant: a class, a function, a partial or an instance.
    """
    file = _file_of(_code_of(target))
    return list(_clients_in(file)) if file is not None else []


def asks_for_endpoint(factory: Any) -> bool:
    """Return whether the module of an agent that runs its own loop asks for an address of the trial.

    Found are the name of the factory's parameter and attributes of that name: ``trial.base_url``,
    ``self.trial.base_url``, ``self._trial.base_url``.

    Args:
        factory: The factory, of the parameter ``trial``.
    """
    code = _code_of(factory)
    file = _file_of(code)
    try:
        names = list(inspect.signature(code).parameters)
    except (TypeError, ValueError):
        return False
    return file is not None and any(name.lstrip("_") in names for name in _asked_trials(file))


def _code_of(target: Any) -> Any:
    while isinstance(target, functools.partial):
        target = target.func
    return target if inspect.isclass(target) or inspect.isroutine(target) else type(target)


def _file_of(code: Any) -> Path | None:
    file = getattr(sys.modules.get(getattr(code, "__module__", None) or ""), "__file__", None)
    return Path(file) if isinstance(file, str) else None


@functools.lru_cache(maxsize=64)
def _asked_trials(file: Path) -> frozenset[str]:
    """Return the names whose attributes with addresses a Python file uses."""
    owners = [
        node.value
        for node in _nodes(file)
        if isinstance(node, ast.Attribute) and node.attr in _OF_ENDPOINT and isinstance(node.ctx, ast.Load)
    ]
    names = {owner.id for owner in owners if isinstance(owner, ast.Name)}
    return frozenset(names | {owner.attr for owner in owners if isinstance(owner, ast.Attribute)})


@functools.lru_cache(maxsize=64)
def _clients_in(file: Path) -> tuple[str, ...]:
    names = imported_names(file)
    return tuple(client for client in CLIENTS if any(f"{name}.".startswith(f"{client}.") for name in names))


def imported_names(file: Path) -> tuple[str, ...]:
    """Return the full names of what a Python file imports, also inside functions; none if it cannot be read."""
    found: dict[str, None] = {}
    for node in _nodes(file):
        if isinstance(node, ast.Import):
            found |= dict.fromkeys(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= dict.fromkeys(f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(found)


def _nodes(file: Path) -> list[ast.AST]:
    """Return the syntax nodes of a Python file; none if it cannot be read."""
    try:
        return list(ast.walk(ast.parse(file.read_bytes())))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
