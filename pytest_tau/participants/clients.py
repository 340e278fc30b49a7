"""What the module of a participant imports, by its source."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from pathlib import Path
from typing import Any

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
    while isinstance(target, functools.partial):
        target = target.func
    code = target if inspect.isclass(target) or inspect.isroutine(target) else type(target)
    file = getattr(sys.modules.get(getattr(code, "__module__", None) or ""), "__file__", None)
    return list(_clients_in(Path(file))) if isinstance(file, str) else []


@functools.lru_cache(maxsize=64)
def _clients_in(file: Path) -> tuple[str, ...]:
    names = imported_names(file)
    return tuple(client for client in CLIENTS if any(f"{name}.".startswith(f"{client}.") for name in names))


def imported_names(file: Path) -> tuple[str, ...]:
    """Return the full names of what a Python file imports, also inside functions; none if it cannot be read."""
    found: dict[str, None] = {}
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= dict.fromkeys(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= dict.fromkeys(f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(found)
