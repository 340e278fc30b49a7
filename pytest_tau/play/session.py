"""One conversation at the terminal: a person plays one side, step by step, and can undo steps."""

from __future__ import annotations

from concurrent.futures import CancelledError
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from ..background import BackgroundLoop
from ..errors import TauError
from ..models import Played, beginnings, clone, session_break, shown_messages
from ..participants.chat_format import visible_to
from ..participants.human import LeftError, Prompt, Screen, Surroundings
from ..participants.human.prompt import Command, surroundings
from ..reports.conversations import verdict_lines
from .state import NoSuchPathError, change_lines, completions_at, value_at

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from ..chat import ChatModel, ChatReply, ChatRequest
    from ..episodes import Episode
    from ..models import Message
    from ..participants import Reply


class RememberedModel:
    """Remembers its answers in their order; after ``rewind`` they are given again, for equal requests."""

    def __init__(self, model: ChatModel) -> None:
        self._model, self._position = model, 0
        self._known: list[tuple[ChatRequest, ChatReply]] = []

    def rewind(self) -> None:
        """Begin again with the first answer."""
        self._position = 0

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the remembered answer to a request, or that of the model.

        Raises:
            ModelError: The model or its provider failed.
        """
        known, self._position = self._known, self._position + 1
        position = self._position - 1
        if position < len(known) and known[position][0] == request:
            return clone(known[position][1])
        reply = await self._model.complete(request)
        known[position:] = [(request.model_copy(deep=True), clone(reply))]
        return reply


T = TypeVar("T")
_LOOP = BackgroundLoop("tau-play")


class Session:
    """A conversation that a person plays.

    Args:
        make: Makes the episode; called again for each undone turn, so that it must make an equal one.
        file: Where the simulation is stored.
        blind: The person plays the user, and is not shown the agent's policy.
    """

    def __init__(self, make: Callable[[], Episode], file: Path, *, blind: bool = False) -> None:
        self._make, self._file, self._blind = make, file, blind
        self.episode = make()
        self._screen = Screen()
        self._actions: list[Reply] = []
        self._peeked: list[str] = []
        self._shown = 0
        self._undone = False

    def run(self) -> int:
        """Play the conversation; return the exit status: 0, or 1 if the other side or a provider failed."""
        self._introduce()
        try:
            self._wait(self.episode.start())
            self._show_new()
            while not self.episode.done:
                self._turn()
        except (LeftError, KeyboardInterrupt, CancelledError) as left:
            if not isinstance(left, LeftError):
                self._screen.line()  # below the line that Ctrl-C has ended
            return self._leave("the person who played it has left")
        except TauError as error:
            self._screen.line(f"the conversation cannot go on: {error}", "error")
            self._leave(str(error))
            return 1
        return self._end()

    def _turn(self) -> None:
        """Ask for an action and carry it out, or undo the last one."""
        reply = self._prompt().ask()
        if reply is None:
            self._undo()
            return
        self._actions.append(reply)
        self._wait(self.episode.step(reply))
        self._show_new(own=False)

    # What is shown

    def _introduce(self) -> None:
        episode = self.episode
        alone = ", alone" if episode.context.solo else ""
        self._screen.line(f"{episode.domain.name}::{episode.task.id}: you play the {episode.side}{alone}", "head")
        if episode.side == "user":
            self._screen.line(episode.context.instructions)
        elif episode.context.solo:
            self._screen.line(f"ticket: {episode.task.ticket or ''}")
        texts = " ".join(f"/{name}" for name in self._known().texts)
        self._screen.line(f"/help shows the commands; {texts} /tools show what you know", "note")

    def _known(self) -> Surroundings:
        """Return what the person may know: for a user also the policy of the agent, unless blind."""
        known, environment = surroundings(self.episode.context), self.episode.environment
        if known.side == "user":
            known.texts["scenario"] = ("scenario", self._scenario(self.episode.trajectory))
        if known.side == "user" and not self._blind:
            known.texts["policy"] = ("policy of the agent", environment.policy)
        return known

    def _scenario(self, trajectory: list[Message]) -> str:
        """Return what the user knows in the last session of a conversation."""
        return str(self.episode.task.scenarios[len(beginnings(trajectory))])

    def _show_new(self, *, own: bool = True) -> None:
        """Show what has happened: texts of the other side, results of one's own calls, and where a session begins."""
        trajectory, side = self.episode.trajectory, self.episode.side
        new = [(number, message) for number, message in shown_messages(trajectory) if number >= self._shown]
        self._shown = len(trajectory)
        for number, message in new:
            if session_break(message) is not None:
                self._screen.message(message)
                if side == "user":
                    self._screen.line(self._scenario(trajectory[: number + 1]))
            elif visible_to(side, [message]) and (own or not self._is_own(message)):
                self._screen.message(message)

    def _is_own(self, message: Message) -> bool:
        return message.role == ("assistant" if self.episode.side == "agent" else "user")

    # Commands

    def _prompt(self) -> Prompt:
        environment = self.episode.environment
        commands = {
            "db": Command(
                "show what is at a path of a database",
                self._peek,
                lambda path: completions_at(environment, path),
                "[PATH]",
            ),
            "diff": Command("show what has changed in the databases", self._show_changes),
            "undo": Command("take the last turn back", self._ask_undo),
        }
        return Prompt(self._known(), commands)

    def _peek(self, path: str) -> None:
        try:
            text = value_at(self.episode.environment, path)
        except NoSuchPathError as error:
            self._screen.line(str(error), "bad")
            return
        if path not in self._peeked:
            self._peeked.append(path)
        self._screen.paged(text)

    def _show_changes(self, _rest: str) -> None:
        episode = self.episode
        fresh = episode.domain.environment(episode.task, solo=episode.context.solo)
        lines = list(change_lines(fresh, episode.environment))
        fresh.close()
        self._screen.line("\n".join(lines) or "nothing has changed")

    def _ask_undo(self, _rest: str) -> bool:
        if not self._actions:
            self._screen.line("there is no turn of yours to take back", "bad")
        return bool(self._actions)

    def _undo(self) -> None:
        """Begin again, and repeat all turns but the last."""
        self._actions.pop()
        self._wait(self.episode.close())
        self.episode, self._undone = self._make(), True
        self._wait(self.episode.start())
        for action in self._actions:
            if self.episode.done:
                break
            self._wait(self.episode.step(action.model_copy(deep=True)))
        self._screen.line("taken back; the conversation so far:", "note")
        self._shown = 0
        self._show_new()

    # The end

    def _end(self) -> int:
        simulation = self.episode.simulation
        assert simulation is not None
        self._screen.line()
        for kind, text in verdict_lines(simulation):
            self._screen.line(text, kind)
        self._save()
        return 0

    def _leave(self, reason: str) -> int:
        """Store the conversation as not ended, unless nothing was said in it."""
        if self.episode.simulation is None:
            self._wait(self.episode.abandon(f"not ended: {reason}"))
        if self._actions:
            self._save()
        else:
            self._screen.line("nothing was said, nothing is stored", "note")
        return 0

    def _save(self) -> None:
        simulation = self.episode.simulation
        assert simulation is not None
        played = Played(self.episode.side, self._peeked, undone=self._undone)
        simulation.info = replace(simulation.info, played=played)
        if self._peeked:
            self._screen.line("you have looked into the databases: the simulation is marked", "note")
        file = self.episode.save(self._file)
        kind = "stored as not ended" if simulation.reward_info is None else "stored"
        self._screen.line(f"{kind}: {file}", "command")

    def _wait(self, call: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop; Ctrl-C cancels it."""
        future = _LOOP.submit(call)
        try:
            return future.result()
        finally:
            future.cancel()
