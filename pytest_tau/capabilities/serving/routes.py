"""The routes of the server, and their handlers."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ...endpoint import WireReply
from ...environment import misfits
from ...evaluation import ask_judge
from . import grading, mcp
from .openapi import document
from .store import DEFAULT
from .wire import RequestError, json_reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import TypeAlias

    from ...models import Requestor, TerminationReason
    from .store import EnvironmentStore
    from .wire import Request

    Handler: TypeAlias = Callable[[EnvironmentStore, Request], Awaitable[WireReply]]


async def _describe(store: EnvironmentStore, request: Request) -> WireReply:
    del request
    served = {"tasks": "/tasks", "environments": "/environments", "openapi": "/openapi.json"}
    served |= {"mcp": "/mcp"} if store.settings.mcp else {}
    return json_reply({"domain": store.domain.name, "task": store.settings.task, "open": len(store), **served})


async def _openapi(store: EnvironmentStore, request: Request) -> WireReply:
    del request
    return json_reply(document(store.settings, store.sample))


async def _make(store: EnvironmentStore, request: Request) -> WireReply:
    body = request.json_object("task", "lease")
    lease, idle = body.get("lease", store.settings.idle), store.settings.idle
    if not isinstance(lease, int | float) or isinstance(lease, bool) or not 0 < lease <= idle:
        raise RequestError(422, f"lease: expected a number of seconds above 0, at most {idle:g}")
    entry = await store.make(body.get("task"), request.client, default_task="task" not in body, lease=lease)
    return json_reply({"id": entry.id, "task": entry.task.id if entry.task else None}, 201)


async def _list_tasks(store: EnvironmentStore, request: Request) -> WireReply:
    return json_reply({"tasks": store.task_ids(request.query.get("split"))})


async def _show(store: EnvironmentStore, request: Request) -> WireReply:
    entry = await store.find(request.parts["id"])
    task = entry.task.id if entry.task else None
    description: dict[str, Any] = {"id": entry.id, "domain": store.domain.name, "task": task}
    description["policy"] = entry.environment.policy
    description["tools"] = [tool.openai_schema for tool in entry.tools("assistant")]
    description["user_tools"] = [tool.openai_schema for tool in entry.tools("user")]
    return json_reply(description)


async def _delete(store: EnvironmentStore, request: Request) -> WireReply:
    await store.delete(request.parts["id"])
    return WireReply(204, content_type="")


async def _call(side: Requestor, store: EnvironmentStore, request: Request) -> WireReply:
    """Make a call, as in a trial: a failed call is a result, too, also that of a tool which the side does not have."""
    entry = await store.find(request.parts["id"])
    call = functools.partial(entry.call, request.parts["tool"], request.json_object(), side)
    return json_reply((await store.use(entry, call))._asdict())


async def _say(store: EnvironmentStore, request: Request) -> WireReply:
    entry = await store.find(request.parts["id"])
    body = request.json_object("role", "content")
    role, content = body.get("role"), body.get("content")
    if role not in ("assistant", "user"):
        raise RequestError(422, "role: expected 'assistant' or 'user'")
    if not isinstance(content, str) or not content.strip():
        raise RequestError(422, "content: expected a text that is not empty")
    await store.use(entry, functools.partial(entry.say, role, content))
    return WireReply(204, content_type="")


async def _read(part: str, store: EnvironmentStore, request: Request) -> WireReply:
    entry = await store.find(request.parts["id"])
    if part == "trajectory":
        entry.check_recorded()
    content = await store.use(entry, getattr(entry, part))
    return json_reply(content if part == "state" else {part: content})


async def _grade(store: EnvironmentStore, request: Request) -> WireReply:
    entry = await store.find(request.parts["id"])
    reason = request.json_object("termination_reason").get("termination_reason", "user_stop")
    if reason not in grading.REASONS:
        raise RequestError(422, f"termination_reason: expected one of {', '.join(grading.REASONS)}")
    evaluation = replace(store.settings.evaluation, judge_seconds=store.settings.timeout)
    task = grading.check_gradable(entry, evaluation)
    messages = await store.use(entry, entry.conversation)
    reason = cast("TerminationReason", reason)
    judged = await ask_judge(task, messages, reason, evaluation)
    grade = functools.partial(grading.grade, task, store.domain, messages, reason, evaluation, judged)
    return json_reply(await store.in_thread(grade, "grading"))


async def _call_default(side: Requestor, store: EnvironmentStore, request: Request) -> WireReply:
    """Make a call in the default environment, and answer as the reference's server does."""
    entry, name = await store.find(DEFAULT), request.parts["tool"]
    tool = next((tool for tool in entry.tools(side) if tool.name == name), None)
    if tool is None:
        raise RequestError(404, f"the {'agent' if side == 'assistant' else side} has no tool {name[:80]!r}")
    arguments = request.json_object()
    wrong = misfits(arguments, tool.parameters)
    if wrong:
        raise RequestError(422, [{"loc": ["body"], "msg": misfit, "type": "value_error"} for misfit in wrong])
    outcome = await store.use(entry, functools.partial(entry.call, name, arguments, side))
    if outcome.error:
        raise RequestError(400, outcome.content.removeprefix("Error: "))
    return json_reply(outcome.result)


async def _mcp(side: Requestor, store: EnvironmentStore, request: Request) -> WireReply:
    return await mcp.serve_environment(store, request, side)


class Route(NamedTuple):
    """A route: method, pattern of the path, handler, and whether it is served only with MCP."""

    method: str
    pattern: str
    handler: Handler
    only_mcp: bool = False


def _sides(handler: Callable[[Requestor, EnvironmentStore, Request], Awaitable[WireReply]]) -> tuple[Handler, Handler]:
    return functools.partial(handler, "assistant"), functools.partial(handler, "user")


_CALL, _USER_CALL = _sides(_call)
_DEFAULT_CALL, _USER_DEFAULT_CALL = _sides(_call_default)
_MCP, _USER_MCP = _sides(_mcp)
_ENVIRONMENT = "/environments/{id}"

ROUTES = (
    Route("GET", "/", _describe),
    Route("GET", "/openapi.json", _openapi),
    Route("GET", "/api/openapi.json", _openapi),
    Route("GET", "/tasks", _list_tasks),
    Route("POST", "/environments", _make),
    Route("GET", _ENVIRONMENT, _show),
    Route("DELETE", _ENVIRONMENT, _delete),
    Route("POST", f"{_ENVIRONMENT}/tools/{{tool}}", _CALL),
    Route("POST", f"{_ENVIRONMENT}/user_tools/{{tool}}", _USER_CALL),
    Route("POST", f"{_ENVIRONMENT}/messages", _say),
    Route("GET", f"{_ENVIRONMENT}/state", functools.partial(_read, "state")),
    Route("GET", f"{_ENVIRONMENT}/diff", functools.partial(_read, "diff")),
    Route("GET", f"{_ENVIRONMENT}/trajectory", functools.partial(_read, "trajectory")),
    Route("POST", f"{_ENVIRONMENT}/grade", _grade),
    Route("POST", "/tools/{tool}", _DEFAULT_CALL),
    Route("POST", "/user_tools/{tool}", _USER_DEFAULT_CALL),
    Route("POST", "/mcp", mcp.serve_session, only_mcp=True),
    Route("DELETE", "/mcp", mcp.end_session, only_mcp=True),
    Route("POST", f"{_ENVIRONMENT}/mcp", _MCP, only_mcp=True),
    Route("POST", f"{_ENVIRONMENT}/user_mcp", _USER_MCP, only_mcp=True),
)
_PATTERNS = [(route, route.pattern.split("/")) for route in ROUTES]


def find_route(method: str, path: str, *, with_mcp: bool) -> tuple[Handler, dict[str, str]]:
    """Return the handler of a path, and the parts of the path that its route leaves open.

    Raises:
        RequestError: The path or the method is not served.
    """
    segments, methods = path.split("/"), []
    for route, pattern in _PATTERNS:
        if len(segments) != len(pattern):
            continue
        pairs = list(zip(pattern, segments, strict=True))
        if not all(mine == theirs or (mine[:1] == "{" and theirs) for mine, theirs in pairs):
            continue
        if route.only_mcp and not with_mcp:
            raise RequestError(404, "MCP is not served: start the server with --mcp")
        if route.method == method:
            return route.handler, {mine[1:-1]: theirs for mine, theirs in pairs if mine[:1] == "{"}
        methods.append(route.method)
    if methods:
        raise RequestError(405, f"{method} {path[:80]} is not served: expected {' or '.join(methods)}")
    raise RequestError(404, f"{method} {path[:80]} is not served: GET /openapi.json lists what is")
