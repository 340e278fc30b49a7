"""A server of the Realtime API on loopback, whose answers follow a script; it refuses what the documentation forbids."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import threading
from typing import TYPE_CHECKING, Any

from aiohttp import WSMsgType, web

if TYPE_CHECKING:
    from collections.abc import Iterator


class RealtimeServer:
    """Keeps the items of its last session.

    Args:
        answers: In order: a text to say, a dict of a function call (``name``, ``arguments``), or an exception's text
            as ``{"error": …}``.
    """

    def __init__(self, answers: list[Any]) -> None:
        self._answers = iter(answers)
        self.session: dict[str, Any] = {}
        self.items: dict[str, dict[str, Any]] = {}
        self.received: list[dict[str, Any]] = []
        self.buffer, self.sounds = b"", list[bytes]()
        self.headers: dict[str, str] = {}
        self._made = 0

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        self.headers = dict(request.headers)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await self._send(socket, "session.created", session={"type": "realtime"})
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                event = json.loads(message.data)
                self.received.append(event)
                await self._react(socket, event)
        return socket

    async def _react(self, socket: web.WebSocketResponse, event: dict[str, Any]) -> None:
        kind = event["type"]
        if kind == "session.update":
            self.session = event["session"]
            await self._send(socket, "session.updated", session=self.session)
        elif kind == "conversation.item.create":
            await self._add(socket, event["item"])
        elif kind == "conversation.item.delete":
            if self.items.pop(event["item_id"], None) is None:
                await self._fail(socket, "there is no such item")
            else:
                await self._send(socket, "conversation.item.deleted", item_id=event["item_id"])
        elif kind == "conversation.item.truncate":
            await self._truncate(socket, event)
        elif kind == "input_audio_buffer.append":
            self.buffer += base64.b64decode(event["audio"], validate=True)
        elif kind == "input_audio_buffer.commit":
            await self._commit(socket)
        elif kind == "response.create":
            await self._respond(socket, next(self._answers))
        else:
            await self._fail(socket, f"unknown event {kind}")

    async def _commit(self, socket: web.WebSocketResponse) -> None:
        """A server whose detection of turns is off is told when a turn is over; it sends no turn events."""
        assert self.session["audio"]["input"]["turn_detection"] is None, "a server that detects turns commits itself"
        assert self.session["audio"]["input"]["format"] == {"type": "audio/pcmu"}
        if len(self.buffer) < 800:
            await self._fail(
                socket, f"buffer too small: {len(self.buffer) / 8:g} ms; expected at least 100 ms of audio"
            )
            return
        sound, self.buffer = self.buffer, b""
        previous = next(reversed(self.items), None)
        await self._send(
            socket, "input_audio_buffer.committed", item_id=f"item_{self._made + 1}", previous_item_id=previous
        )
        # Events have no sound of an item; it is kept here.
        await self._add(socket, {"type": "message", "role": "user", "content": [{"type": "input_audio"}]})
        self.sounds.append(sound)

    async def _truncate(self, socket: web.WebSocketResponse, event: dict[str, Any]) -> None:
        part = self.items[event["item_id"]]["content"][event["content_index"]]
        if part["type"] != "output_audio":
            await self._fail(socket, "only audio of the model can be truncated")
        elif event["audio_end_ms"] > part["ms"]:
            await self._fail(socket, f"audio of {part['ms']} ms is already shorter than {event['audio_end_ms']} ms")
        else:
            part["ms"] = event["audio_end_ms"]
            await self._send(socket, "conversation.item.truncated", **{k: v for k, v in event.items() if k != "type"})

    async def _respond(self, socket: web.WebSocketResponse, answer: Any) -> None:
        await self._send(socket, "response.created", response={"status": "in_progress"})
        if isinstance(answer, dict) and "error" in answer:
            await self._fail(socket, answer["error"])
            return
        calls = answer if isinstance(answer, list) else [answer] if isinstance(answer, dict) else []
        for call in calls:
            item = await self._add(socket, {"type": "function_call", "call_id": f"call_{self._made}", **call})
            await self._send(socket, "response.output_item.done", item=item)
        if not calls:
            await self._say(socket, answer)
        await self._send(socket, "response.done", response={"status": "completed"})

    async def _say(self, socket: web.WebSocketResponse, text: str) -> None:
        audio = self.session["output_modalities"] == ["audio"]
        part = {"type": "output_audio", "transcript": text, "ms": 100 * len(text)} if audio else {"type": "output_text"}
        item = await self._add(socket, {"type": "message", "role": "assistant", "content": [part | {"text": text}]})
        kind = "response.output_audio_transcript.delta" if audio else "response.output_text.delta"
        for at in range(0, len(text), 7):
            await self._send(socket, kind, item_id=item["id"], content_index=0, delta=text[at : at + 7])
            if audio:
                sound = base64.b64encode(bytes(4800 * len(text[at : at + 7]))).decode()
                await self._send(socket, "response.output_audio.delta", item_id=item["id"], delta=sound)
        await self._send(socket, "response.output_item.done", item=item)

    async def _add(self, socket: web.WebSocketResponse, item: dict[str, Any]) -> dict[str, Any]:
        self._made += 1
        made = {"id": f"item_{self._made}", **item}
        self.items[made["id"]] = made
        await self._send(socket, "conversation.item.added", item=made)
        return made

    async def _fail(self, socket: web.WebSocketResponse, problem: str) -> None:
        await self._send(socket, "error", error={"type": "invalid_request_error", "message": problem})

    async def _send(self, socket: web.WebSocketResponse, kind: str, **fields: Any) -> None:
        await socket.send_json({"type": kind, **fields})


@contextlib.contextmanager
def serving(server: RealtimeServer) -> Iterator[str]:
    """Serve in a thread; gives the address."""
    loop, ready = asyncio.new_event_loop(), threading.Event()
    ports: list[int] = []

    async def start() -> web.AppRunner:
        application = web.Application()
        application.router.add_get("/v1/realtime", server.handle)
        runner = web.AppRunner(application, shutdown_timeout=1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        ports.append(runner.addresses[0][1])
        return runner

    def run() -> None:
        asyncio.set_event_loop(loop)
        runner = loop.run_until_complete(start())
        ready.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield f"ws://127.0.0.1:{ports[0]}/v1/realtime?model=mine"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
