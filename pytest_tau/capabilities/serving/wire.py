"""Requests and replies as the handlers of routes see them, without the HTTP library."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...documents import DocumentError, parse_json
from ...endpoint import WireReply
from ...plain import json

if TYPE_CHECKING:
    from collections.abc import Mapping


class RequestError(Exception):
    """A request that is refused.

    Attributes:
        status: The HTTP status.
        detail: What was wrong, and what would be right; a text, or JSON data.
    """

    def __init__(self, status: int, detail: Any) -> None:
        self.status, self.detail = status, detail
        super().__init__(detail if isinstance(detail, str) else json.dumps(detail))


@dataclass(frozen=True)
class Request:
    """An HTTP request.

    Attributes:
        method: The method.
        path: The path, decoded.
        body: The body, whole.
        headers: The headers; names in lower case.
        query: The parameters of the query.
        parts: The parts of the path that its route leaves open, by name.
        address: The address that it comes from.
    """

    method: str
    path: str
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    query: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)
    address: str = ""

    @property
    def client(self) -> str:
        """The client: the name in the header ``Tau-Client``, or the address."""
        return self.headers.get("tau-client") or self.address

    def json_object(self, *known: str) -> dict[str, Any]:
        """Return the JSON object in the body; empty if there is no body.

        Args:
            known: The fields that it may have; none for any.

        Raises:
            RequestError: The body is something else, or has another field.
        """
        try:
            value = parse_json(self.body) if self.body.strip() else {}
        except DocumentError as error:
            raise RequestError(400, f"the body of the request is {error}") from None
        if not isinstance(value, dict):
            raise RequestError(422, f"the body of the request: expected a JSON object, got {_kind(value)}")
        for name in value if known else ():
            if name not in known:
                raise RequestError(422, f"{name[:80]}: unknown field (known: {', '.join(known)})")
        return value


def json_reply(value: Any, status: int = 200, **headers: str) -> WireReply:
    """Return a reply with a JSON value; NaN and infinity, which JSON does not have, are null."""
    try:
        text = json.dumps(value, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), allow_nan=False)
    return WireReply(status, text.encode(), headers=headers)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def error_reply(error: RequestError) -> WireReply:
    """Return a refusal as a reply: ``{"detail": …}``, as clients of FastAPI's servers know it."""
    headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else {}
    return json_reply({"detail": error.detail}, error.status, **headers)


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
