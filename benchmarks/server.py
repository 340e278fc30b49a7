"""The model server in a process of its own, until its input ends: ``python -m benchmarks.server SECONDS``."""

from __future__ import annotations

import sys
from typing import Any

from pytest_tau.testing import ModelServer

from .conversations import said


def main() -> None:
    """Print the address, and answer."""

    def script(request: dict[str, Any]) -> dict[str, Any]:
        return said(request["model"], request["messages"])

    with ModelServer(script, latency=float(sys.argv[1])) as server:
        print(server.base_url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
