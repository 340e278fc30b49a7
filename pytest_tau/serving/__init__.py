"""Environments of a domain outside of a test run, over HTTP and over MCP."""

from .server import EnvironmentServer, serve
from .settings import ServingSettings, is_loopback

__all__ = ["EnvironmentServer", "ServingSettings", "is_loopback", "serve"]
