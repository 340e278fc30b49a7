"""``tau serve``: environments of a domain over HTTP, and over MCP."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import re
import secrets
from typing import TYPE_CHECKING, Any

from ...commands import Option, add_option, add_options, add_project_options, judge_of, project_of
from ...errors import ConfigurationError
from ...text import printable

if TYPE_CHECKING:
    import argparse

_VARIABLE = "TAU_SERVE_TOKEN"
#: Characters of a token that clients can send in a header.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{16,}")

_ENVIRONMENTS = (
    Option(
        ("--task",),
        "the task whose initial state environments begin with, unless a request names another (default: none)",
        "ID",
    ),
    Option(("--mcp",), "serve MCP, too (streamable HTTP): a session at /mcp has an environment of its own"),
    Option(
        ("--max-environments",),
        "the most environments at a time (default: %(default)s)",
        "N",
        {"type": int, "default": 1000},
    ),
    Option(
        ("--max-per-client",),
        "the most environments of one client at a time, which is named by the header Tau-Client of a request, or else "
        "by its address (default: no limit)",
        "N",
        {"type": int},
    ),
    Option(
        ("--idle",),
        "forget an environment that was not used for so long (default: %(default)g)",
        "SECONDS",
        {"type": float, "default": 3600.0},
    ),
)
_REQUESTS = (
    Option(
        ("--host",),
        "the address to listen on; any but loopback needs the token (default: %(default)s)",
        "ADDRESS",
        {"default": "127.0.0.1"},
    ),
    Option(("--port",), "the port; 0 for a free one (default: %(default)s)", "N", {"type": int, "default": 8004}),
    Option(("--token",), "require a token, which is printed at the start, or that of $TAU_SERVE_TOKEN"),
    Option(
        ("--max-body",),
        "the most bytes of the body of a request (default: %(default)s)",
        "BYTES",
        {"type": int, "default": 1 << 20},
    ),
    Option(
        ("--max-seconds",),
        "the seconds that a request may take (default: %(default)g)",
        "SECONDS",
        {"type": float, "default": 60.0},
    ),
)


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "serve",
        description="Serve environments of a domain over HTTP, and over MCP with --mcp. Each environment has a state "
        "and a trajectory of its own, which can be graded. Needs the extra 'endpoint'.",
        statuses={0: "the server was ended by Ctrl-C or SIGTERM", 2: "the server cannot be started"},
        examples=[
            ("tau serve telecom", "at http://127.0.0.1:8004"),
            ("tau serve telecom --mcp --task ID", "tools of a task for agents that speak MCP"),
        ],
    )
    parser.add_argument("name", metavar="NAME", help="the domain")
    for title, rows in (("environments", _ENVIRONMENTS), ("requests", _REQUESTS)):
        group = parser.add_argument_group(title)
        for row in rows:
            add_option(group, row)
    add_options(parser.add_argument_group("grading"), "grading", "judge", "judge-llm", "judge-llm-args")
    add_project_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    from ...evaluation import Evaluation, profile_named
    from .server import serve
    from .settings import ServingSettings, is_loopback

    _check_numbers(args)
    token, is_new = _token(required=args.token or not is_loopback(args.host))
    project = project_of(args)
    settings = ServingSettings(
        domain=project.load(args.name),
        task=args.task,
        host=args.host,
        port=args.port,
        token=token,
        mcp=args.mcp,
        max_environments=args.max_environments,
        max_per_client=args.max_per_client,
        max_body=args.max_body,
        timeout=args.max_seconds,
        idle=args.idle,
        evaluation=Evaluation(profile_named(args.grading), judge_of(args), project.evaluators),
    )

    def announce(port: int) -> None:
        host = f"[{args.host}]" if ":" in args.host else args.host
        url = f"http://{host}:{port}"
        lines = [f"{args.name}: {url}", f"OpenAPI: {url}/openapi.json"]
        lines += [f"MCP: {url}/mcp"] if args.mcp else []
        lines += [f"token: {token}"] if is_new else []
        # Not wrapped: addresses and tokens are copied.
        print(printable("\n".join([*lines, "Ctrl-C ends the server."])), flush=True)  # noqa: T201 - this is a command

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(settings, announce))
    return 0


def _token(*, required: bool) -> tuple[str | None, bool]:
    """Return the token that requests need, and whether it is a new one, which must be printed."""
    token = os.environ.get(_VARIABLE)
    if token:
        if not _TOKEN.fullmatch(token):
            expected = "expected at least 16 characters, of letters, digits and . _ ~ + / = -"
            raise ConfigurationError(f"${_VARIABLE}: {expected}")
        return token, False
    return (secrets.token_urlsafe(24), True) if required else (None, False)


def _check_numbers(args: argparse.Namespace) -> None:
    """Check the limits."""
    if not 0 <= args.port <= 65535:
        raise ConfigurationError(f"--port: expected 0 to 65535, got {args.port}")
    for name in ("max-environments", "max-per-client", "max-body"):
        value = getattr(args, name.replace("-", "_"))
        if value is not None and value < 1:
            raise ConfigurationError(f"--{name}: expected 1 or more, got {value}")
    for name, value in (("max-seconds", args.max_seconds), ("idle", args.idle)):
        if not 0 < value < math.inf:
            raise ConfigurationError(f"--{name}: expected a number of seconds above 0, got {value:g}")
