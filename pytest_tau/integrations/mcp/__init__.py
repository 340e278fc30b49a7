"""Domains over tool servers that speak MCP (extra ``mcp``). The SDK is imported when the first server is started."""

from .domain import MCPDomainSpec, mcp_domain

__all__ = ["MCPDomainSpec", "mcp_domain"]
