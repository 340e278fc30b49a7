"""A domain over a tool server. Run it in this folder: pytest --tau-agent gold."""

import sys

import pytest_tau


def pytest_tau_domains():
    notes = pytest_tau.mcp_domain(
        "notes",
        command=[sys.executable, "server.py"],
        state="notes://all",
        functions={"note_exists"},
        policy="Manage the user's notes. Delete a note only if the user asks for it.",
        tasks="tasks.json",
    )
    return [notes]
