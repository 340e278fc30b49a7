"""The prompt at which a person writes what a side says or calls, with the commands that show what the side knows."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...environment.arguments import misfits
from ...errors import unknown_name
from ...models import AssistantMessage, MultiToolMessage, ToolMessage, UserMessage, call_as_text, session_break
from ...plain import json
from ...terminal import has_colours, print_paged, screen_lines, terminal_width
from ..actions import ActionReader
from .completion import completions, line_editing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ...environment import Tool
    from ...models import Message
    from ..actions import ReadAction
    from ..context import Incoming, ParticipantContext, Reply, Side


_INDENT = 9


class Screen:
    """Writes lines to standard output."""

    def line(self, text: str = "", kind: str = "user") -> None:
        """Write a text, wrapped and coloured by its kind."""
        for line in screen_lines("user", text, terminal_width(), colours=has_colours()):
            sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    def paged(self, text: str) -> None:
        """Show a long text, by the pager at a terminal."""
        print_paged(screen_lines("user", text, terminal_width(), colours=has_colours()))
        sys.stdout.flush()

    def message(self, message: Incoming | Message) -> None:
        """Write a message: what is said, calls, or the result of a call."""
        if isinstance(message, MultiToolMessage):
            self.messages(message.tool_messages)
        elif isinstance(message, ToolMessage):
            self.line(f"         = {_indented(message.content, 11)}", "bad" if message.error else "tool")
        elif (text := session_break(message)) is not None:
            self.line(f"  --- {text} ---", "head")
        elif isinstance(message, AssistantMessage | UserMessage):
            who = "agent" if message.role == "assistant" else "user"
            if message.content:
                self.line(f"  {who:<5}  {_indented(message.content, _INDENT)}", who)
            for call in message.tool_calls or ():
                self.line(f"  {who:<5}  > {call_as_text(call.name, call.arguments)}", who)

    def messages(self, messages: Iterable[Incoming | Message]) -> None:
        """Write messages, one after the other."""
        for message in messages:
            self.message(message)


def _indented(text: str | None, indent: int) -> str:
    return (text or "").strip().replace("\n", "\n" + " " * indent)


_NO_WORDS: Callable[[str], Sequence[str]] = lambda _beginning: ()  # noqa: E731 - a default of a table


class LeftError(Exception):
    """The person has left: by ``/quit``, or at the end of the input."""


@dataclass(frozen=True)
class Surroundings:
    """What a side knows.

    Attributes:
        side: The side.
        tools: The tools that it can call.
        solo: The agent works alone.
        texts: Texts by command and title: ``/policy``, ``/scenario``, ``/ticket``.
    """

    side: Side
    tools: Sequence[Tool]
    solo: bool = False
    texts: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Command:
    """A command of the prompt.

    Attributes:
        help: What it does.
        run: Carries it out, with the text that follows it; returns whether the prompt ends.
        words: The words that can follow it, given their beginning.
        argument: The name of what follows it, for the help.
    """

    help: str
    run: Callable[[str], bool | None]
    words: Callable[[str], Sequence[str]] = _NO_WORDS
    argument: str = ""


class Prompt:
    """Asks a person for actions.

    Args:
        known: What the side knows.
        commands: Further commands, by their names without the slash.
    """

    def __init__(self, known: Surroundings, commands: dict[str, Command] | None = None) -> None:
        self.screen = Screen()
        self._known, self._tools = known, {tool.name: tool for tool in known.tools}
        parameters = {name: tuple(tool.parameters.get("properties", ())) for name, tool in self._tools.items()}
        self._reader = ActionReader(known.side, parameters, known.solo)
        texts = {name: Command(f"show the {title}", self._text(text)) for name, (title, text) in known.texts.items()}
        self._commands = {
            "tools": Command("list the tools, or show one", self._show_tools, self._tool_names, "[NAME]"),
            **texts,
            **(commands or {}),
            "help": Command("show this help", self._show_help),
            "quit": Command("leave; the conversation is stored as not ended", self._leave),
        }

    def ask(self) -> Reply | None:
        """Return the next message, checked against the schema of its tool; None if a command ends the prompt.

        Raises:
            LeftError: The person has left.
            KeyboardInterrupt: By Ctrl-C.
        """
        words = {f"/{name}": command.words for name, command in self._commands.items()}
        with line_editing(lambda line: completions(line, self._tools, words)):
            while True:
                text = self._line()
                if text.startswith("/") and not text.startswith("//"):
                    if self._run(text):
                        return None
                elif text.strip():
                    action = self._reader.read(text[1:] if text.startswith("//") else text)
                    if not (problems := self._problems(action)):
                        return action.message
                    self.screen.line("not sent: " + "; ".join(problems), "bad")

    def _line(self) -> str:
        """Return a line, with those that it goes on in."""
        lines: list[str] = []
        while True:
            try:
                line = input("... " if lines else f"{self._known.side}> ")
            except EOFError:
                self.screen.line()
                raise LeftError from None
            if not sys.stdin.isatty():
                self.screen.line(line)  # there is no terminal that shows it
            if not line.endswith("\\"):
                return "\n".join([*lines, line])
            lines.append(line[:-1])

    def _problems(self, read: ReadAction) -> list[str]:
        """Return what is wrong with calls; empty for a text."""
        problems = []
        for call in read.message.tool_calls or ():
            if call.name not in self._tools:
                problems.append(unknown_name("tool", call.name, self._tools))
            elif call.malformed is not None:
                problems.append(call.problem or f"{call.name}: the arguments are not a JSON object")
            else:
                wrong = misfits(call.arguments, self._tools[call.name].parameters)
                problems += [f"{call.name}: {'; '.join(wrong)}"] if wrong else []
        return problems

    def _run(self, text: str) -> bool:
        """Carry out a command; returns whether the prompt ends."""
        name, _, rest = text[1:].partition(" ")
        command = self._commands.get(name)
        if command is None:
            self.screen.line(f"{unknown_name('command', name, self._commands)}; '//' begins a text with a slash", "bad")
            return False
        return bool(command.run(rest.strip()))

    def _text(self, text: str) -> Callable[[str], None]:
        return lambda _rest: self.screen.paged(text.rstrip())

    def _tool_names(self, _beginning: str) -> Sequence[str]:
        return list(self._tools)

    def _show_tools(self, name: str) -> None:
        if name and name not in self._tools:
            self.screen.line(unknown_name("tool", name, self._tools), "bad")
        elif name:
            tool = self._tools[name]
            schema = json.dumps(tool.parameters, indent=1, ensure_ascii=False)
            self.screen.line(tool.name, "head")
            self.screen.line(f"{tool.description}\n{schema}")
        else:
            self.screen.paged("\n".join(_tool_lines(self._tools.values())) or "no tools")

    def _show_help(self, _rest: str) -> None:
        for name, command in self._commands.items():
            self.screen.line(f"  /{f'{name} {command.argument}':<14} {command.help}")
        self.screen.line(_HELP + _ENDINGS[self._known.side], "note")

    def _leave(self, _rest: str) -> None:
        raise LeftError


def _tool_lines(tools: Iterable[Tool]) -> Iterable[str]:
    for tool in tools:
        required = tool.parameters.get("required", ())
        names = [name if name in required else f"[{name}]" for name in tool.parameters.get("properties", {})]
        yield f"{tool.name}({', '.join(names)})"
        yield f"    {tool.description.partition(chr(10))[0]}"


_HELP = (
    'Anything else is said, or is a call if it is written as one: get_order(order_id="W1"). The tab key completes. '
    "A line that ends in \\ goes on in the next one. "
)
_ENDINGS = {
    "agent": "done() ends the conversation.",
    "user": "###STOP### ends the conversation; ###TRANSFER### and ###OUT-OF-SCOPE### end it for these reasons.",
}


def surroundings(context: ParticipantContext) -> Surroundings:
    """Return what a participant knows, as its context has it."""
    title = "policy" if context.side == "agent" else "scenario"
    texts = {title: (title, context.instructions)}
    if context.side == "agent" and context.solo and context.task.ticket:
        texts["ticket"] = ("ticket", context.task.ticket)
    return Surroundings(context.side, context.tools, context.solo, texts)
