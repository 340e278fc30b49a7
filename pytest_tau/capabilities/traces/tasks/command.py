"""``tau task-from``: tasks of recorded conversations."""

from __future__ import annotations

import runpy
import shlex
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ....commands import Project, add_options, add_project_options, project_of
from ....errors import ConfigurationError
from ....files import atomic_write, digest
from ....language import plain_name
from ....plain import json
from ....runs import domain_options, open_run
from ....text import plural, printable, shorten
from ..facts import stored_facts

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from ....environment import Domain
    from ....models import Simulation, Task
    from .make import Made

#: Results that differ from the recorded ones, of which so many are shown.
_MOST_NOTES = 3
#: Values that are kept and may be personal, of which so many are shown.
_MOST_KEPT = 20
_WIDTH = 48


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "task-from",
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
    add_options(
        parser,
        "domain",
        help="the domain on which the calls are made (default: the one that the run names, else one of recorded "
        "tools, which is written next to the tasks)",
    )
    parser.add_argument(
        "--no-domain",
        action="store_true",
        help="make the calls on recorded tools, also of conversations for which the run names a domain",
    )
    _add_task_options(parser.add_argument_group("task"))
    output = parser.add_argument_group("output")
    add_options(
        output,
        "out",
        help="the file to write, or a folder for one file a task (default: from-RUN.tau.json, with --wrong "
        "from-RUN.draft.json)",
    )
    add_project_options(parser)
    parser.set_defaults(run=run)


def _add_task_options(choices: Any) -> None:
    choices.add_argument(
        "--wrong",
        action="store_true",
        help="the conversations went wrong: write drafts, whose reference has to be decided",
    )
    choices.add_argument(
        "--reference",
        metavar="FILE",
        type=Path,
        help="the draft of the one conversation, in which the reference was decided and the user may be corrected",
    )
    choices.add_argument(
        "--communicate",
        action="store_true",
        help="also check that the agent says the values that the person has asked for",
    )
    choices.add_argument(
        "--no-redact",
        action="store_true",
        help="keep personal data; by default what is recognised as personal and is not in the domain's database is "
        "replaced, the same by the same (extra redact recognises more)",
    )
    choices.add_argument("--limit", metavar="N", type=int, help="make at most so many tasks")


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    if args.domain and args.no_domain:
        raise ConfigurationError("--domain and --no-domain exclude each other; give one of them")
    target = _target(args)
    project = project_of(args)
    redacted = _redacted(list(_conversations(args)), args, project)
    conversations = redacted.conversations
    nameless = [conversation.simulation for conversation in conversations if not conversation.domain]
    with tempfile.TemporaryDirectory() as draft:
        recording = _recorded(nameless, target, Path(draft)) if nameless else None
        attempts = list(_all_made(args, project, conversations, recording))
    written = _folded(attempts)
    refused = [attempt for attempt in attempts if attempt.task is None]
    for attempt in attempts:
        _show(attempt, folded=attempt.task is not None and not any(attempt is other for other, _ in written))
    counts = {"made": len(written), "folded": len(attempts) - len(refused) - len(written), "refused": len(refused)}
    _print(", ".join(f"{number} {name}" for name, number in counts.items() if number or name == "made"))
    if not written:
        return 2
    for path, text in recording.files if recording else ():
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, text)
    for path, tasks in _files(target, written):
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, json.dumps(tasks, indent=1, ensure_ascii=False) + "\n")
    _print(f"{target}: {plural(len(written), 'draft' if attempts[0].draft else 'task')}")
    if redacted.values:
        _print(f"{plural(redacted.values, 'personal value')} replaced (--no-redact keeps them)")
    for line in redacted.lines:
        _print(line)
    if recording:
        _print(
            f"{recording.files[0][0]}: the domain {recording.domain.name}; "
            "import pytest_tau_domains from it in conftest.py"
        )
    own = recording.domain.name if recording else ""
    options = {
        (conversation.domain or own, *domain_options(conversation.info, project.capabilities))
        for conversation in conversations
    }
    if len(options) == 1 and not attempts[0].draft:
        name, *further = options.pop()
        further += ["--tau-data", str(args.data)] if args.data else []
        command = ["pytest", str(target), "--tau-domain", name, *further, "--tau-agent", "gold"]
        _print(f"run: {shlex.join(command)}")
    return int(bool(refused))


class _Conversation(NamedTuple):
    """A recorded conversation.

    Attributes:
        domain: The name of the domain on which its calls are made; empty for recorded tools.
        simulation: The conversation.
        info: The manifest of its run.
    """

    domain: str
    simulation: Simulation
    info: Mapping[str, Any]


class _Redacted(NamedTuple):
    """Conversations without personal data.

    Attributes:
        conversations: The conversations.
        values: How many values were replaced.
        lines: What is kept although it may be personal, and what is not recognised.
    """

    conversations: list[_Conversation]
    values: int = 0
    lines: tuple[str, ...] = ()


def _redacted(conversations: list[_Conversation], args: argparse.Namespace, project: Project) -> _Redacted:
    """Return the conversations without personal data."""
    from ..redaction import Redactor
    from ..redaction.key import key_of
    from ..redaction.libraries import unseen

    if args.no_redact:
        return _Redacted(conversations)
    # Of editions, too: a record that one has changed is not personal.
    domains = {project.load(each.domain, each.info) for each in conversations if each.domain}
    states = [domain.environment().dump() for domain in sorted(domains, key=lambda domain: domain.name)]
    database = json.dumps(states, ensure_ascii=False)
    # All conversations of the runs, so that one that is chosen has the same replacements as all of them.
    runs = [open_run(name or None) for name in dict.fromkeys(map(_name_of, args.runs))]
    simulations = [trial.simulation for run in runs for trial in run.trials()]
    key, note = key_of(runs[0].path)
    redactor = Redactor(simulations, database, key=key)
    redacted = [
        conversation._replace(simulation=redactor.redacted(conversation.simulation)) for conversation in conversations
    ]
    remaining = [
        f"{personal.text!r} ({conversation.simulation.id}, {personal.place})"
        for conversation in redacted
        for personal in redactor.kept_in(conversation.simulation)
    ]
    lines = [f"kept, and may be personal: {text}" for text in remaining[:_MOST_KEPT]]
    more = [f"and {len(remaining) - _MOST_KEPT} more that may be personal"] if len(remaining) > _MOST_KEPT else []
    return _Redacted(redacted, redactor.values, (*filter(None, [note]), *lines, *more, *unseen()))


class _Own(NamedTuple):
    """A domain of recorded tools: its files with their texts, the Python file first, and the domain itself."""

    files: list[tuple[Path, str]]
    domain: Domain


def _recorded(simulations: list[Simulation], target: Path, draft: Path) -> _Own:
    """Return a domain of the tools that conversations have called, for a Python file next to the tasks."""
    from .recording import recording_of

    name = plain_name(target.name.partition(".")[0]).lower()
    folder = target.parent if target.suffix == ".json" else target
    module = folder / f"recorded_{name}.py"
    if module.exists():
        raise ConfigurationError(f"{module} already exists; give another name with --out, or --domain NAME")
    drafted = recording_of(simulations, f"recorded_{name}", module, target.name if target.suffix == ".json" else ".")
    trial = draft / module.name
    trial.write_text(drafted.python, encoding="utf-8")
    trial.with_suffix(".json").write_text(drafted.record, encoding="utf-8")
    tasks = draft / (target.name if target.suffix == ".json" else "none.tau.json")
    tasks.write_text("[]", encoding="utf-8")
    (spec,) = runpy.run_path(str(trial))["pytest_tau_domains"]()
    return _Own([(module, drafted.python), (module.with_suffix(".json"), drafted.record)], spec.load())


def _target(args: argparse.Namespace) -> Path:
    name = Path(args.runs[0].partition("#")[0]).name.partition(".json")[0]
    draft = args.wrong and args.reference is None
    target = Path(args.out or f"from-{name}.{'draft' if draft else 'tau'}.json")
    if target.is_file() or (target.is_dir() and any(target.iterdir())):
        raise ConfigurationError(f"{target} already exists; give another one with --out")
    return target


def _all_made(
    args: argparse.Namespace, project: Project, conversations: Sequence[_Conversation], recorded: _Own | None
) -> Iterator[Made]:
    from ....models import InitializationData, InitialState
    from .make import Choices, make_task
    from .recording import conversation_of

    reference = _decided(args.reference) if args.reference else None
    choices = Choices(args.wrong, args.communicate, reference)
    task_count = 0
    for name, simulation, info in conversations:
        if args.limit is not None and task_count >= args.limit:
            break
        if name:
            attempt = make_task(simulation, project.load(name, info), choices, _origin(simulation))
        else:
            assert recorded is not None, "there is one for conversations without a domain"
            data = {"conversation": conversation_of(simulation), "writes": []}
            state = InitialState(initialization_data=InitializationData(agent_data=data))
            attempt = make_task(simulation, recorded.domain, choices, _origin(simulation), state)
        task_count += attempt.task is not None
        yield attempt


def _conversations(args: argparse.Namespace) -> Iterator[_Conversation]:
    from .handoffs import without_handoffs

    for spec in args.runs:
        name = _name_of(spec)
        id_prefix = spec.removeprefix(name).removeprefix("#")
        opened, number = open_run(name or None), 0
        for trial in opened.trials():
            simulation = trial.simulation
            if simulation.id.startswith(id_prefix) or simulation.task_id.startswith(id_prefix):
                number += 1
                domain = args.domain or ("" if args.no_domain else trial.domain)
                yield _Conversation(domain, without_handoffs(simulation), opened.info)
        if not number:
            raise ConfigurationError("\n  ".join([f"{spec}: no conversation with this id", *opened.problems[:3]]))


def _name_of(spec: str) -> str:
    """Return the run of ``RUN#ID``."""
    name = spec.partition("#")[0]
    return spec if Path(spec).exists() and not Path(name).exists() else name


def _decided(path: Path) -> Any:
    from ....models import load_task_file

    tasks = load_task_file(path).tasks
    if len(tasks) != 1:
        raise ConfigurationError(f"{path}: expected the draft of one task, got {plural(len(tasks), 'task')}")
    criteria = tasks[0].criteria
    open_ = [action.name for action in criteria.actions or () if (action.info or "").startswith("DECIDE")]
    if open_:
        raise ConfigurationError(f"{path}: decide on {', '.join(open_)}, and remove the info of what stays")
    return tasks[0]


def _origin(simulation: Simulation) -> dict[str, Any]:
    """Return where a conversation is from, without what may be personal: a session is a digest."""
    facts = stored_facts(simulation)
    origin = {name: facts[name] for name in ("files", "scopes", "trace_ids", "span_ids") if facts.get(name)}
    return {"conversation": digest(simulation.id)[:16], **origin}


def _folded(attempts: Sequence[Made]) -> list[tuple[Made, int]]:
    """Return what is written, each with the number of conversations that are like it."""
    numbers = Counter(attempt.likeness for attempt in attempts if attempt.task is not None)
    first_attempts: dict[Any, Made] = {}
    for attempt in attempts:
        if attempt.task is not None:
            first_attempts.setdefault(attempt.likeness, attempt)
    return [(attempt, numbers[likeness]) for likeness, attempt in first_attempts.items()]


def _files(target: Path, written: Sequence[tuple[Made, int]]) -> Iterator[tuple[Path, Any]]:
    tasks = [_document(attempt.task, number) for attempt, number in written if attempt.task is not None]
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


def _show(attempt: Made, *, folded: bool) -> None:
    name = shorten(attempt.name, _WIDTH)
    if attempt.task is None:
        result = f"refused: {attempt.refused}"
    elif folded:
        result = "the same as one before"
    elif attempt.draft:
        result = f"draft {attempt.task.id}: decide what should have happened"
    else:
        result = f"{attempt.task.id}: {', '.join(f'{check.name} {check.text}' for check in attempt.proof)}"
    _print(f"{name:<{_WIDTH}}  {result}")
    for note in attempt.notes[:_MOST_NOTES]:
        _print(f"{'':<{_WIDTH}}  {note}")
    if len(attempt.notes) > _MOST_NOTES:
        _print(f"{'':<{_WIDTH}}  and {len(attempt.notes) - _MOST_NOTES} more results that differ")


def _print(text: str) -> None:
    print(printable(text))  # noqa: T201 - this is a command
