"""``tau domains``, ``tau tasks`` and ``tau tools``: lists, with a word to search for; the rows of other lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...commands.options import add_options
from ...commands.project import Project, add_project_options, project_of
from ...errors import TauError
from ...terminal import has_colours, print_paged, screen_lines, terminal_width
from ...text import one_line, plural

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from ...models import Task

#: Characters of the column of names at most.
_WIDEST_NAME = 40


class Row(NamedTuple):
    """A row of a list.

    Attributes:
        name: The first column.
        text: The line of text.
        searched: Further texts in which a word is searched.
    """

    name: str
    text: str
    searched: str = ""


def show_rows(rows: list[Row], summary: str, *, below: bool = False) -> None:
    """Print a list, paged at a terminal, with a line below it.

    Args:
        rows: The rows.
        summary: The last line.
        below: Whether the texts have lines of their own; they have if the names are long.
    """
    print_paged(_lines(rows, summary, below=below))


def _lines(rows: list[Row], summary: str, *, below: bool) -> Iterator[str]:
    width, colours = terminal_width(), has_colours()
    column = max((len(row.name) for row in rows), default=0)
    below = below or column > _WIDEST_NAME or column + 20 > width  # the texts, so that they have a line of their own
    for row in rows:
        if below:
            yield from screen_lines("head", row.name, width, colours=colours)
            yield from screen_lines("user", f"  {one_line(row.text, width - 2)}", width, colours=colours)
        else:
            text = one_line(row.text, width - column - 2)
            yield from screen_lines("user", f"{row.name:<{column}}  {text}".rstrip(), width, colours=colours)
    yield from screen_lines("note", summary, width, colours=colours)


def _matching(rows: Iterable[Row], word: str | None) -> list[Row]:
    """Return the rows that contain a text, in upper or lower case."""
    text = (word or "").casefold()
    return [row for row in rows if text in "\n".join(row).casefold()]


def _show_matching(rows: list[Row], word: str | None, noun: str, more: str) -> int:
    """Print the rows that contain a text, and below them their number, that of all rows, and more."""
    matching, number = _matching(rows, word), plural(len(rows), noun)
    show_rows(matching, (number if word is None else f"{len(matching):,} of {number}") + more)
    return 0


def _declared(commands: Any, name: str, description: str, *examples: tuple[str, str]) -> argparse.ArgumentParser:
    """Return the parser of a command that lists things of a domain, or domains, and searches them for a word."""
    statuses = {0: f"the {name} were listed", 2: "the command cannot be used"}
    parser: argparse.ArgumentParser = commands.add_parser(
        name, description=description, statuses=statuses, examples=examples
    )
    if name != "domains":
        parser.add_argument("name", metavar="NAME", help="the domain")
    help_text = "show only what contains this text, in upper or lower case"
    parser.add_argument("word", nargs="?", metavar="WORD", help=help_text)
    if name == "tasks":
        add_options(parser.add_argument_group("selection"), "split")
    add_project_options(parser)
    return parser


def add_domains(commands: Any) -> None:
    """Declare ``tau domains``."""
    text = "List the installed domains and those of this project, with the number of their tasks and tools."
    examples = ("tau domains", "all domains"), ("tau domains tele", "those with this text in their line")
    _declared(commands, "domains", text, *examples).set_defaults(run=_domains)


def _domains(args: argparse.Namespace) -> int:
    project = project_of(args)
    rows = _matching([Row(name, _facts(project, name)) for name in project.names()], args.word)
    show_rows(rows, f"{plural(len(rows), 'domain')}; 'tau domain NAME' describes one")
    return 0


def _facts(project: Project, name: str) -> str:
    """Return the numbers of a domain; of one that cannot be loaded the reason."""
    try:
        domain = project.load(name)
        tasks, spec = len(domain.tasks(None)), domain.spec
    except TauError as error:
        return f"cannot be loaded: {error}"
    sides = {"agent": spec.agent_tools, "user": spec.user_tools}
    infos = {side: list(toolkit.tool_infos.values()) for side, toolkit in sides.items() if toolkit is not None}
    counts = {side: sum(not info.hidden for info in tools) for side, tools in infos.items()}
    tools = ", ".join(f"{plural(number, 'tool')} of the {side}" for side, number in counts.items())
    hidden = sum(info.hidden for tools in infos.values() for info in tools)
    tools += f", {plural(hidden, 'hidden tool')}" if hidden else ""
    origin = ", of this project" if name in project.own_names() else ""
    return f"{plural(tasks, 'task')}, {tools}{origin}"


def add_tasks(commands: Any) -> None:
    """Declare ``tau tasks``."""
    text = (
        "List the tasks of a domain with their purpose. A word is searched in ids, purposes, scenarios, tickets and "
        "the names of reference actions."
    )
    examples = ("tau tasks retail refund", "tasks with this text"), ("tau tasks telecom --split small", "a split")
    _declared(commands, "tasks", text, *examples).set_defaults(run=_tasks)


def _tasks(args: argparse.Namespace) -> int:
    domain = project_of(args).load(args.name)
    rows = [_task_row(task) for task in domain.tasks(args.split)]
    splits = f" (split {args.split}; the domain has {', '.join(domain.split_names)})" if domain.split_names else ""
    return _show_matching(rows, args.word, "task", splits)


def _task_row(task: Task) -> Row:
    """Return the row of a task: its id and its purpose, else the beginning of its scenario."""
    scenario, actions = task.scenario_text, task.criteria.all_actions
    purpose = task.description.purpose if task.description else None
    instructions = task.user_scenario.instructions
    reason = instructions if isinstance(instructions, str) else instructions.reason_for_call
    names = "\n".join(action.name for action in actions)
    return Row(task.id, purpose or reason, f"{scenario}\n{task.ticket or ''}\n{names}")


def add_tools(commands: Any) -> None:
    """Declare ``tau tools``."""
    text = (
        "List the tools of both sides of a domain, with their parameters and kinds. A word is searched in names, "
        "parameters and descriptions."
    )
    examples = ("tau tools retail order", "tools with this text"), ("tau tools telecom", "all tools")
    _declared(commands, "tools", text, *examples).set_defaults(run=_tools)


def _tools(args: argparse.Namespace) -> int:
    from ...reports.domain.describe import SIDES, signature

    domain = project_of(args).load(args.name)
    environment = domain.environment()
    rows = []
    for side, requestor in SIDES:
        for tool in environment.shared_tools(requestor):
            first, _, rest = tool.description.partition("\n")
            rows.append(Row(signature(tool), f"{side}, {tool.kind}: {first}", rest))
    environment.close()
    return _show_matching(rows, args.word, "tool", f"; 'tau domain {args.name}' shows an example call of each")
