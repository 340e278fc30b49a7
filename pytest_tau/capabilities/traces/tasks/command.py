"""``tau task-from``: tasks of recorded conversations."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....cli.options import add_options
from ....cli.project import Project, add_project_options
from ....cli.settings import data_dir
from ....errors import ConfigurationError
from ....files import atomic_write, digest
from ....text import plural, printable, shorten

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from ....environment import Domain
    from ....models import Simulation, Task
    from ....runs.reader import StoredTrial
    from .make import Made

#: Results that differ from the recorded ones, of which so many are shown.
_MOST_NOTES = 3
_WIDTH = 48


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "task-from",
        help="make tasks of recorded conversations",
        description="Make a task of each conversation of a run, such as one of tau import: its calls are made on the "
        "domain, the initial state is inferred from what they have returned, the reference is what was changed, and "
        "the user says what the person said. A task is written only with a proof: the reference passes, doing nothing "
        "and faulty agents fail, the conversation gets the verdict that it should, and tau lint finds nothing.",
        statuses={0: "all tasks were made", 1: "some conversations were refused", 2: "nothing was made"},
        examples=[
            ("tau task-from imported --domain retail", "all conversations of a run"),
            ("tau task-from imported#c4f1 --wrong", "one that went wrong: a draft"),
        ],
    )
    parser.add_argument(
        "runs", nargs="+", metavar="RUN[#ID]", help="a run, or the conversation of it whose id or task id begins so"
    )
    add_options(parser, "domain", help="the domain on which the calls are made (default: the one that the run names)")
    choices = parser.add_argument_group("task")
    choices.add_argument(
        "--wrong",
        action="store_true",
        help="the conversations went wrong: write drafts, whose reference has to be decided",
    )
    choices.add_argument(
        "--reference", metavar="FILE", type=Path, help="the draft with the decided reference, which is proved"
    )
    choices.add_argument(
        "--communicate", action="store_true", help="also check that the agent says the values that it has said"
    )
    choices.add_argument("--limit", metavar="N", type=int, help="make at most so many tasks")
    output = parser.add_argument_group("output")
    add_options(
        output,
        "out",
        help="the file to write, or a folder for one file a task (default: from-RUN.tau.json, with --wrong "
        "from-RUN.draft.json)",
    )
    add_project_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status.

    Raises:
        ConfigurationError: A run, a conversation or a domain that there is not; a file that exists.
        OSError: A file cannot be read or written.
    """
    target = _target(args)
    project = Project(data_dir(args.data), args.plugins, args.rootdir)
    found = list(_all_made(args, project))
    if not found:
        raise ConfigurationError(f"{', '.join(args.runs)}: no conversation")
    written = _folded(found)
    refused = [each for each in found if each.task is None]
    for each in found:
        _show(each, folded=each.task is not None and not any(each is kept for kept, _ in written))
    counts = {"made": len(written), "folded": len(found) - len(refused) - len(written), "refused": len(refused)}
    _print(", ".join(f"{number} {name}" for name, number in counts.items() if number or name == "made"))
    if not written:
        return 2
    for path, tasks in _files(target, written):
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, json.dumps(tasks, indent=1, ensure_ascii=False) + "\n")
    _print(f"{target}: {plural(len(written), 'draft' if found[0].draft else 'task')}")
    return int(bool(refused))


def _target(args: argparse.Namespace) -> Path:
    name = Path(args.runs[0].partition("#")[0]).name.partition(".json")[0]
    draft = args.wrong and args.reference is None
    target = Path(args.out or f"from-{name}.{'draft' if draft else 'tau'}.json")
    if target.is_file() or (target.is_dir() and any(target.iterdir())):
        raise ConfigurationError(f"{target} already exists; give another one with --out")
    return target


def _all_made(args: argparse.Namespace, project: Project) -> Iterator[Made]:
    from .make import Choices, make_task

    reference = _decided(args.reference) if args.reference else None
    choices = Choices(args.wrong, args.communicate, reference)
    domains: dict[str, Domain] = {}
    made = 0
    for trial in _conversations(args.runs):
        if args.limit is not None and made >= args.limit:
            break
        name = args.domain or trial.domain
        if not name:
            raise ConfigurationError(f"{trial.simulation.id}: the run names no domain; add --domain NAME")
        domain = domains.setdefault(name, project.load(name)) if name not in domains else domains[name]
        found = make_task(trial.simulation, domain, choices, _origin(trial.simulation))
        made += found.task is not None
        yield found


def _conversations(specs: Sequence[str]) -> Iterator[StoredTrial]:
    """Yield the conversations that are named."""
    from ....runs.reader import open_run

    for spec in specs:
        name, _, wanted = spec.partition("#")
        if Path(spec).exists() and not Path(name).exists():
            name, wanted = spec, ""
        opened, number = open_run(name or None), 0
        for trial in opened.trials():
            simulation = trial.simulation
            if simulation.id.startswith(wanted) or simulation.task_id.startswith(wanted):
                number += 1
                yield trial
        if not number:
            raise ConfigurationError("\n  ".join([f"{spec}: no conversation with this id", *opened.problems[:3]]))


def _decided(path: Path) -> Any:
    from ....models.task_files import load_task_file

    tasks = load_task_file(path).tasks
    if len(tasks) != 1:
        raise ConfigurationError(f"{path}: expected the draft of one task, got {plural(len(tasks), 'task')}")
    criteria = tasks[0].criteria
    open_ = [each.name for each in criteria.actions or () if (each.info or "").startswith("DECIDE")]
    if open_:
        raise ConfigurationError(f"{path}: decide on {', '.join(open_)}, and remove the info of what stays")
    return criteria


def _origin(simulation: Simulation) -> dict[str, Any]:
    """Return where a conversation is from, without what may be personal: a session is a digest."""
    known = simulation.facts.get("traces")
    facts = known if isinstance(known, dict) else {}
    found = {name: facts[name] for name in ("files", "scopes", "trace_ids", "span_ids") if facts.get(name)}
    return {"conversation": digest(simulation.id)[:16], **found}


def _folded(found: Sequence[Made]) -> list[tuple[Made, int]]:
    """Return what is written, each with the number of conversations that are like it."""
    numbers = Counter(each.likeness for each in found if each.task is not None)
    kept: dict[Any, Made] = {}
    for each in found:
        if each.task is not None:
            kept.setdefault(each.likeness, each)
    return [(each, numbers[likeness]) for likeness, each in kept.items()]


def _files(target: Path, written: Sequence[tuple[Made, int]]) -> Iterator[tuple[Path, Any]]:
    tasks = [_document(made.task, number) for made, number in written if made.task is not None]
    if target.suffix == ".json":
        yield target, tasks
        return
    for task in tasks:
        yield target / f"{task['id']}{'.draft' if written[0][0].draft else '.tau'}.json", [task]


def _document(task: Task, number: int) -> dict[str, Any]:
    document: dict[str, Any] = task.model_dump(mode="json", exclude_none=True)
    if task.user_scenario.script is not None:
        document["user_scenario"]["script"] = task.user_scenario.script.model_dump(mode="json", exclude_defaults=True)
    document["annotations"] |= {"frequency": number} if number > 1 else {}
    return document


def _show(made: Made, *, folded: bool) -> None:
    name = shorten(made.name, _WIDTH)
    if made.task is None:
        result = f"refused: {made.refused}"
    elif folded:
        result = "the same as one before"
    elif made.draft:
        result = f"draft {made.task.id}: decide what should have happened"
    else:
        result = f"{made.task.id}: {', '.join(f'{each.name} {each.text}' for each in made.proof)}"
    _print(f"{name:<{_WIDTH}}  {result}")
    for note in made.notes[:_MOST_NOTES]:
        _print(f"{'':<{_WIDTH}}  {note}")
    if len(made.notes) > _MOST_NOTES:
        _print(f"{'':<{_WIDTH}}  and {len(made.notes) - _MOST_NOTES} more results that differ")


def _print(text: str) -> None:
    print(printable(text))  # noqa: T201 - this is a command
