"""Translators between wire formats and chat requests and answers, one module for each format; without any effects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from . import chat_completions, messages, responses
from .common import EndpointRequest, UnservableRequest
from .responses import ResponseStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...chat.requests import ChatReply

__all__ = ["FORMATS", "EndpointRequest", "Format", "ResponseStore", "UnservableRequest"]


class Format(NamedTuple):
    """A wire format.

    Attributes:
        read: From the body of a request, and the earlier responses, to the request.
        write: From an answer, the body of its request, and the mark of the answer, to the whole answer.
        stream: From a whole answer and the body of its request to the events of a stream.
        error: From the parts of an error to its body.
    """

    read: Callable[[Mapping[str, Any], ResponseStore], EndpointRequest]
    write: Callable[[ChatReply, Mapping[str, Any], str], dict[str, Any]]
    stream: Callable[[Mapping[str, Any], Mapping[str, Any]], list[bytes]]
    error: Callable[..., dict[str, Any]]


#: The formats, by the ends of their paths.
FORMATS: dict[str, Format] = {
    "/v1/chat/completions": Format(
        lambda body, _store: chat_completions.read(body),
        lambda answer, body, mark: chat_completions.write(answer, body["model"], mark),
        chat_completions.stream,
        chat_completions.error,
    ),
    "/v1/responses": Format(
        responses.read,
        responses.write,
        lambda whole, _body: responses.stream(whole),
        chat_completions.error,
    ),
    "/v1/messages": Format(
        lambda body, _store: messages.read(body),
        lambda answer, body, mark: messages.write(answer, body["model"], mark),
        lambda whole, _body: messages.stream(whole),
        messages.error,
    ),
}
