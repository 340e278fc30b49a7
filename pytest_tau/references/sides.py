"""The tools of both sides of a conversation, also those that are found out in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..environment import Toolkit

if TYPE_CHECKING:
    from ..environment import Domain, Tool
    from ..models import Requestor


def tools_of(domain: Domain, requestor: Requestor) -> dict[str, Tool]:
    """Return a side's tools by name, also those that are not offered, which can be found out."""
    toolkit = toolkit_of(domain, requestor)
    return toolkit.tools() | toolkit.hidden_tools()


def toolkit_of(domain: Domain, requestor: Requestor) -> type[Toolkit[Any]]:
    """Return a side's toolkit; one without tools if the side has none."""
    return (domain.spec.agent_tools if requestor == "assistant" else domain.spec.user_tools) or Toolkit
