"""A domain that shows the official texts of its tools."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ..text import listed

if TYPE_CHECKING:
    from ..environment import Domain, DomainSpec
    from ..models import Requestor
    from .texts import Texts

_SIDES: tuple[Requestor, ...] = ("assistant", "user")
#: Domains with texts, by the domain and the fingerprint of the texts: each has toolkits of its own.
_MADE: WeakKeyDictionary[Domain, dict[str, Domain]] = WeakKeyDictionary()
#: Names of missing tools that a message shows.
_MOST = 5


def with_texts(domain: Domain, texts: Texts | None) -> Domain:
    """Return a domain that shows the official texts of its tools, hidden ones too; the domain itself without texts.

    Raises:
        ConfigurationError: A tool has no official text; names the tools, and where was looked.
    """
    if texts is None:
        return domain
    twins = _MADE.setdefault(domain, {})
    key = f"{texts.fingerprint} {texts.place}"
    if key not in twins:
        twins[key] = _twin(domain, texts)
    return twins[key]


def _twin(domain: Domain, texts: Texts) -> Domain:
    domain_tools = texts.tool_texts(domain.name, domain.spec.data_name)
    texts_by_side: dict[Requestor, dict[str, tuple[str, dict[str, object]]]] = {}
    for side in _SIDES:
        tools = getattr(domain_tools, side) if domain_tools is not None else []
        texts_by_side[side] = {tool.name: (tool.description, tool.parameters) for tool in tools}
    toolkits = {"assistant": domain.spec.agent_tools, "user": domain.spec.user_tools}
    missing = [
        f"{name} ({side})"
        for side, toolkit in toolkits.items()
        for name in (toolkit.tools() if toolkit else ())
        if name not in texts_by_side[side]  # type: ignore[index]
    ]
    if missing:
        raise texts.missing(f"tools of domain {domain.name!r}: {listed(missing, _MOST)}", f"tools.{domain.name}")
    return domain.showing(_with_hidden_texts(domain.spec, texts), texts_by_side)


def _with_hidden_texts(spec: DomainSpec, texts: Texts) -> DomainSpec:
    """Return a declaration whose toolkits show the official texts of hidden tools."""
    discoverable = texts.discoverable(spec.name, spec.data_name) or {"tools": []}
    known = {(tool["requestor"], tool["name"]) for tool in discoverable["tools"]}
    toolkits = {"assistant": spec.agent_tools, "user": spec.user_tools}
    shown_toolkits = {side: toolkit.with_texts(discoverable) for side, toolkit in toolkits.items() if toolkit}
    missing = [
        f"{name} ({side})"
        for side, toolkit in shown_toolkits.items()
        for name in (toolkits[side].hidden_tools() if toolkit is not toolkits[side] else ())  # type: ignore[union-attr]
        if (side, name) not in known
    ]
    if missing:
        problem = f"hidden tools of domain {spec.name!r}: {listed(missing, _MOST)}"
        raise texts.missing(problem, f"discoverable.{spec.name}")
    return replace(spec, agent_tools=shown_toolkits["assistant"], user_tools=shown_toolkits.get("user"))
