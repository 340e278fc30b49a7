"""Domains over tool servers that speak MCP (extra ``mcp``), and a trial's tools for programs that use the SDK.

The SDK is imported when the first server is started, or when a trial's tools are asked for.
"""

from .domain import MCPDomainSpec, mcp_domain
from .trial_tools import TrialSession, mcp_tools

__all__ = ["MCPDomainSpec", "TrialSession", "mcp_domain", "mcp_tools"]
