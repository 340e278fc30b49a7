"""An agent behind a server that speaks the events of OpenAI's Realtime API over a websocket.

The conversation is in simulated time, so that the server is asked for each answer: its own detection of turns is off.
What the user says is sent as text, or, if there is sound, as sound. It answers with text, or with sound and its
transcript, and calls functions.

Source: OpenAI's documentation of the Realtime API, the events of its general availability.
"""

from __future__ import annotations

import base64
import functools
import os
from typing import TYPE_CHECKING, Any, Literal

from ....documents import DocumentError, parse_json
from ....errors import ConfigurationError, ParticipantError, install_extra
from ....models import GREETING, MultiToolMessage, ToolMessage
from ....text import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ....environment import Tool

#: Bytes of sound in a second: PCM, 16 bit, mono, 24 kHz.
_BYTES_A_SECOND = 48_000
#: The deltas of what the agent says, by the modality.
_DELTAS = {"text": "response.output_text.delta", "audio": "response.output_audio_transcript.delta"}


def realtime_agent(
    url: str, *, modality: Literal["text", "audio"] = "text", key: str | None = None, greeting: str = GREETING
) -> Callable[..., RealtimeAgent]:
    """Return an agent for ``--tau-agent``, such as a variable ``agent`` of a module.

    Args:
        url: The address of the websocket, with the model if the server wants one.
        modality: ``text``, or ``audio`` for sound, of which the transcript is taken.
        key: The name of the environment variable with the key; None for a server without one.
        greeting: What the agent says first; it is an item of the session.
    """
    return functools.partial(RealtimeAgent, url=url, modality=modality, key=key, greeting=greeting)


class RealtimeAgent:
    """One session with a server.

    Raises:
        ConfigurationError: The packages of the extra ``endpoint`` are missing, or the key is not set.
    """

    def __init__(
        self,
        tools: list[Tool],
        policy: str,
        url: str = "",
        modality: Literal["text", "audio"] = "text",
        key: str | None = None,
        greeting: str = GREETING,
    ) -> None:
        try:
            import aiohttp
        except ImportError:
            problem = f"an agent of the Realtime API needs aiohttp: {install_extra('endpoint')}"
            raise ConfigurationError(problem) from None
        self._aiohttp, self._url, self._modality, self.greeting = aiohttp, url, modality, greeting
        self._tools, self._policy = tools, policy
        self._headers = _headers(key)
        self._http: Any = None
        self._socket: Any = None
        self._call_ids: list[str] = []
        self._item: str | None = None
        self._sound, self._heard = 0, b""

    async def respond(self, message: Any) -> dict[str, Any]:
        """Return the server's answer to a text or to the results of its calls.

        Raises:
            ParticipantError: The server has sent an error, has closed the connection, or has not finished its answer.
        """
        if self._socket is None:
            await self._begin()
        sound, self._heard = self._heard, b""
        if sound:
            await self._send("input_audio_buffer.append", audio=base64.b64encode(sound).decode())
            await self._send("input_audio_buffer.commit")
        else:
            for item in self._items(message):
                await self._send("conversation.item.create", item=item)
        await self._send("response.create")
        return await self._answer()

    def hear_sound(self, sound: bytes) -> None:
        """Keep the sound of the user's turn, which is sent instead of its text.

        Args:
            sound: G.711's μ-law, 8,000 bytes a second.
        """
        self._heard = sound

    async def interrupted(self, said: str, seconds: float) -> None:
        """Report to the server how much of its last answer the user has heard."""
        if self._item is None:
            return
        if self._modality == "audio":
            end = min(int(seconds * 1000), self._sound * 1000 // _BYTES_A_SECOND)
            await self._send("conversation.item.truncate", item_id=self._item, content_index=0, audio_end_ms=end)
            return
        # Only sound can be truncated: what was said takes the place of a text.
        await self._send("conversation.item.delete", item_id=self._item)
        await self._send("conversation.item.create", item=_message("assistant", said))
        self._item = None

    async def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            await self._socket.close()
        if self._http is not None:
            await self._http.close()

    async def _begin(self) -> None:
        self._http = self._aiohttp.ClientSession()
        try:
            self._socket = await self._http.ws_connect(self._url, headers=self._headers, max_msg_size=0)
        except self._aiohttp.ClientError as error:
            raise ParticipantError(f"{self._url.partition('?')[0]}: {error}", side="agent") from None
        await self._receive("session.created")
        functions = [{"type": "function", **tool.openai_schema["function"]} for tool in self._tools]
        session = {
            "type": "realtime",
            "instructions": self._policy,
            "tools": functions,
            "output_modalities": [self._modality],
            "audio": {
                "input": {"format": {"type": "audio/pcmu"}, "turn_detection": None},
                "output": {"format": {"type": "audio/pcm", "rate": 24_000}},
            },
        }
        await self._send("session.update", session=session)
        await self._receive("session.updated")
        await self._send("conversation.item.create", item=_message("assistant", self.greeting))

    def _items(self, message: Any) -> list[dict[str, Any]]:
        """Return the items of the conversation that a message is: the user's text, or the results of calls."""
        results = message.tool_messages if isinstance(message, MultiToolMessage) else [message]
        if not isinstance(results[0], ToolMessage):
            return [_message("user", message.content or "")]
        calls, self._call_ids = self._call_ids, []
        return [
            {"type": "function_call_output", "call_id": call, "output": result.content or ""}
            for call, result in zip(calls, results, strict=True)
        ]

    async def _answer(self) -> dict[str, Any]:
        text, calls = "", list[dict[str, Any]]()
        self._sound, self._item = 0, None
        while True:
            event = await self._receive()
            kind = event["type"]
            if kind == _DELTAS[self._modality]:
                text, self._item = text + event["delta"], event["item_id"]
            elif kind == "response.output_audio.delta":
                self._sound += len(base64.b64decode(event["delta"]))
            elif kind == "response.output_item.done" and event["item"]["type"] == "function_call":
                item = event["item"]
                calls.append({"id": item["call_id"], "function": {name: item[name] for name in ("name", "arguments")}})
            elif kind == "response.done":
                status = event["response"].get("status", "completed")
                if status != "completed":
                    detail = shorten(str(event["response"].get("status_details") or ""), 200)
                    raise ParticipantError(f"the server's answer is {status}: {detail}", side="agent")
                self._call_ids = [call["id"] for call in calls]
                return {"role": "assistant", "content": text or None, "tool_calls": calls or None}

    async def _send(self, kind: str, **fields: Any) -> None:
        await self._socket.send_json({"type": kind, **fields})

    async def _receive(self, expected_type: str | None = None) -> Mapping[str, Any]:
        """Return the next event; with a type, the next one of that type."""
        while True:
            received = await self._socket.receive()
            if received.type is not self._aiohttp.WSMsgType.TEXT:
                raise ParticipantError("the server has closed the connection", side="agent")
            try:
                event = parse_json(received.data)
            except DocumentError as error:
                raise ParticipantError(f"the server has sent no event: {error}", side="agent") from None
            kind = event.get("type") if isinstance(event, dict) else None
            if kind == "error":
                problem = shorten(str((event.get("error") or {}).get("message") or "unknown"), 300)
                raise ParticipantError(f"the server's error: {problem}", side="agent")
            if kind is not None and expected_type in (None, kind):
                return event  # type: ignore[no-any-return]


def _message(role: Literal["user", "assistant"], text: str) -> dict[str, Any]:
    kind = "input_text" if role == "user" else "output_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _headers(key: str | None) -> dict[str, str]:
    if key is None:
        return {}
    value = os.environ.get(key)
    if not value:
        raise ConfigurationError(f"the environment variable {key}, which has the key of the agent's server, is not set")
    return {"Authorization": f"Bearer {value}"}
