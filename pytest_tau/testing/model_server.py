"""A model server for tests: the formats of OpenAI and Anthropic over HTTP on loopback, answered by a script."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from ..documents import json_or_none, parse_json
from ..endpoint.formats import FORMATS, ResponseStore, UnservableRequest
from ..endpoint.formats.common import CREATED
from ..plain import json
from .completions import CHAT, Reply, completion, refusal, reply_of, written
from .faults import Fault, Unauthorized
from .listener import Listener

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType
    from typing import TypeAlias

    from .faults import Faults
    from .listener import Connection, HTTPRequest

    #: From the body of a request to a text, an assistant message, a whole chat completion, or a fault.
    Script: TypeAlias = Callable[[dict[str, Any]], str | dict[str, Any] | Fault]

__all__ = ["ModelServer"]

_MODELS = "/v1/models"
_EMBEDDINGS = "/v1/embeddings"


class ModelServer:
    """Answers requests to a model by a script, over real HTTP; a context manager.

    ``POST {base_url}/chat/completions`` takes any model's name, with tools, streamed or not.
    ``POST {base_url}/responses`` and ``POST {base_url}/messages`` are the formats of OpenAI's Responses and Anthropic's
    messages. They are translated, so that one script serves all three.
    ``GET {base_url}/models`` names one model, ``scripted``.
    ``POST {base_url}/embeddings`` answers with what ``embeddings`` returns, if it is given.

    Args:
        script: Called with the body of each request, as that of a chat completion, from several threads at once. It
            returns a text; an assistant message in OpenAI's chat format, where the arguments of a tool call may be an
            object and its id may be missing; a whole chat completion (an object with ``choices``), sent as it is; or a
            fault, which is played. Its exceptions are kept in ``errors`` and sent to the client as HTTP 500.
        latency: Seconds before each answer, also before faults, or a function of the request that returns them.
        faults: Requests that are answered by a fault instead of the script: ``Faults``, or a mapping from numbers of
            requests, counted from 1.
        embeddings: Called with each text of a request for embeddings; returns its embedding.
        api_key: If it is given, a request without it as ``Authorization: Bearer …`` is refused with 401.

    Attributes:
        script: The script; another one may change its answers.
    """

    def __init__(
        self,
        script: Script,
        latency: float | Callable[[dict[str, Any]], float] = 0.0,
        faults: Faults | Mapping[int, Fault] | None = None,
        api_key: str | None = None,
        embeddings: Callable[[str], Sequence[float]] | None = None,
    ) -> None:
        self._embeddings = embeddings
        self.script, self._latency, self._faults, self._api_key = script, latency, faults, api_key
        self._listener: Listener | None = None
        self._port: int | None = None
        self._lock = threading.Lock()
        self._requests: list[dict[str, Any]] = []
        self._bodies: list[tuple[str, Any]] = []
        self._errors: list[BaseException] = []
        self._served = 0
        self._responses = ResponseStore()

    # Starting and stopping

    def start(self) -> None:
        """Listen on a free port.

        Raises:
            RuntimeError: It is running.
        """
        if self._listener is not None:
            raise RuntimeError("the model server is already running")
        self._listener = Listener(self._serve, self._remember_error)
        self._port = self._listener.port

    def close(self) -> None:
        """Stop, and disconnect every client that still waits."""
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.close()

    def __enter__(self) -> ModelServer:  # noqa: PYI034 - the standard library has Self from 3.11 on
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # For tests

    @property
    def base_url(self) -> str:
        """The base URL for clients: ``http://127.0.0.1:PORT/v1``; kept after ``close``.

        Raises:
            RuntimeError: It was never started.
        """
        if self._port is None:
            raise RuntimeError("the model server has no address before it is started")
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The bodies of all requests so far, as those of chat completions, in the order of their arrival."""
        with self._lock:
            return list(self._requests)

    @property
    def bodies(self) -> list[tuple[str, Any]]:
        """The path and the body of each request so far as it was sent, in the order of their arrival."""
        with self._lock:
            return list(self._bodies)

    @property
    def served(self) -> int:
        """The number of answers by the script; faults are not counted."""
        with self._lock:
            return self._served

    @property
    def errors(self) -> list[BaseException]:
        """The exceptions of the script, oldest first."""
        with self._lock:
            return list(self._errors)

    # Serving

    def _serve(self, request: HTTPRequest, connection: Connection) -> None:
        if request.method == "POST" and request.path in FORMATS:
            self._serve_model(request, connection)
        elif not self._is_authorized(request):
            Unauthorized().play({}, connection)
        elif self._embeddings is not None and (request.method, request.path) == ("POST", _EMBEDDINGS):
            connection.send(self._embedded(json_or_none(request.body), self._embeddings))
        elif (request.method, request.path) == ("GET", _MODELS):
            model = {"id": "scripted", "object": "model", "created": CREATED, "owned_by": "pytest-tau"}
            connection.send(Reply(200, [json.dumps({"object": "list", "data": [model]}).encode()]))
        else:
            served = ", ".join(f"POST {path}" for path in FORMATS)
            text = f"{request.method} {request.path} is not served: expected {served} or GET {_MODELS}"
            connection.send(refusal(404, text, code="unknown_url"))

    def _embedded(self, sent: Any, embed: Callable[[str], Sequence[float]]) -> Reply:
        given = sent.get("input") if isinstance(sent, dict) else None
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            return refusal(400, "input: expected a text or a list of texts")
        with self._lock:
            self._requests.append(sent)
        try:
            vectors = [list(map(float, embed(text))) for text in texts]
        except BaseException as error:  # noqa: BLE001 - as for scripts
            self._remember_error(error)
            return _script_failed(error)
        with self._lock:
            self._served += 1
        data = [{"object": "embedding", "index": place, "embedding": each} for place, each in enumerate(vectors)]
        tokens = sum(len(text.split()) for text in texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        body = {"object": "list", "model": sent.get("model"), "data": data, "usage": usage}
        return Reply(200, [json.dumps(body).encode()])

    def _serve_model(self, request: HTTPRequest, connection: Connection) -> None:
        sent = json_or_none(request.body)
        body, problem = self._translated(request.path, sent)
        with self._lock:
            if isinstance(body, dict):
                self._requests.append(body)
                self._bodies.append((request.path, sent))
            number = len(self._requests)
        if not self._is_authorized(request):
            Unauthorized().play(body, connection)
        elif problem:
            connection.send(refusal(400, problem))
        else:
            answer, seconds = self._answer(request.path, sent, body, number)
            if not connection.pause(seconds):
                return
            if isinstance(answer, Fault):
                answer.play(body, connection)
            else:
                connection.send(answer)

    def _is_authorized(self, request: HTTPRequest) -> bool:
        return self._api_key is None or request.authorization == f"Bearer {self._api_key}"

    def _translated(self, path: str, body: Any) -> tuple[Any, str | None]:
        """Return the body of a request as that of a chat completion, and what is wrong with it, if anything is."""
        if path == CHAT or not isinstance(body, dict):
            return body, _problem(body)
        try:
            with self._lock:
                asked = FORMATS[path].read(body, self._responses)
        except UnservableRequest as error:
            return body, str(error)
        return asked.as_chat() | ({"stream": True} if body.get("stream") else {}), None

    def _answer(
        self, path: str, sent: dict[str, Any], request: dict[str, Any], number: int
    ) -> tuple[Reply | Fault, float]:
        """Return the answer, and the seconds before it; ``request`` is the body as that of a chat completion."""
        try:
            seconds = self._latency(request) if callable(self._latency) else self._latency
            answer: Any = self._faults.get(number) if self._faults else None
            if answer is None:
                # A copy: the script may change its argument.
                answer = self.script(parse_json(json.dumps(request)))
            if isinstance(answer, Fault):
                return answer, seconds
            whole = written(path, sent, completion(request, answer))
            reply = reply_of(path, sent, whole)
        except BaseException as error:  # noqa: BLE001 - also what pytest.fail raises, which would end this thread unseen
            self._remember_error(error)
            return _script_failed(error), 0.0
        with self._lock:
            self._served += 1
            if whole.get("object") == "response":
                self._responses.add(sent, whole)
        return reply, seconds

    def _remember_error(self, error: BaseException) -> None:
        with self._lock:
            self._errors.append(error)


def _problem(request: Any) -> str | None:
    if not isinstance(request, dict):
        return "The body of the request is not a JSON object."
    if not isinstance(request.get("model"), str):
        return "You must provide a model parameter: a string."
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(message, dict) for message in messages):
        return "You must provide a messages parameter: a list of at least one object."
    return None


def _script_failed(error: BaseException) -> Reply:
    text = f"The script of the model server raised {type(error).__name__}: {error}"
    # OpenAI's clients obey this header; a retry would only raise again.
    return refusal(500, text, kind="script_error", code="script_error", headers={"x-should-retry": "false"})
