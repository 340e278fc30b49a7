"""Agents that are programs of their own: a command, or a server that speaks A2A."""
