"""``tau label`` and ``tau agreement``."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...commands import RUN_HELP, Printer, add_options, print_aside, print_json
from ...diagnosis import message_lines
from ...errors import ConfigurationError
from ...models import shown_messages
from ...terminal import has_colours, screen_lines, terminal_width
from ...text import listed, plural, printable
from .compared import Compared
from .questions import Question, questions_of
from .table import LABELS, LabelFile, file_of, read_labels

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from ...models import Simulation
    from .agreement import Agreement, Rate

#: Cases that differ, and labels without a trial, that are shown.
_MOST = 10
_GATE = re.compile(r"\s*judge_kappa\s*>=\s*(-?(?:0|1)(?:\.[0-9]+)?)\s*")
_QUIT, _SKIP = "q", ""


def add_label_parser(commands: Any) -> None:
    """Declare the subcommand ``label``."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "label",
        description="Ask for labels at the terminal, trial by trial: the party at fault of a failed trial, whether a "
        "judged statement is met, and whether a breach of a rule is right. What the tool itself says is not shown. The "
        "answers are written at once to labels.csv in the run's folder, or next to a result file.",
        statuses={0: "the questions were asked", 2: "the command cannot be used"},
        examples=[
            ("tau label", "the latest run"),
            ("tau label RUN --kind statement --sample 40", "forty statements, drawn at random"),
        ],
    )
    parser.add_argument("run_name", nargs="?", metavar="RUN", help=f"{RUN_HELP} (default: the latest run)")
    group = parser.add_argument_group("selection")
    group.add_argument("--kind", choices=tuple(LABELS), help="ask only questions of this kind")
    group.add_argument("--sample", type=int, metavar="N", help="ask N questions, drawn by --seed")
    group.add_argument("--seed", type=int, default=300, metavar="N", help="the seed of --sample (default: %(default)s)")
    parser.add_argument("--show", action="store_true", help="show what the tool says before the question is answered")
    parser.set_defaults(run=run_label)


def run_label(args: argparse.Namespace) -> int:
    """Carry out the subcommand ``label``; returns the exit status."""
    from ...runs import open_run

    opened = open_run(args.run_name)
    file = file_of(opened.path)
    known = read_labels(file) if file.exists() else {}
    questions = [
        question
        for trial in opened.trials()
        for question in questions_of(trial.simulation)
        if question.subject not in known and args.kind in (None, question.subject.kind)
    ]
    if args.sample is not None:
        drawn = random.Random(args.seed).sample(range(len(questions)), min(args.sample, len(questions)))  # noqa: S311
        questions = [questions[position] for position in sorted(drawn)]
    simulations = (trial.simulation for trial in opened.trials()) if questions else ()
    answered = _ask_all(questions, simulations, LabelFile(file), show=args.show)
    print_aside(f"{plural(answered, 'label')} added to {file}; {plural(len(questions) - answered, 'question')} left")
    return 0


def _ask_all(questions: Sequence[Question], simulations: Iterable[Simulation], file: LabelFile, *, show: bool) -> int:
    """Ask the questions, each conversation before its first one; returns how many were answered."""
    answered, shown_id, by_id = 0, "", dict[str, list[Question]]()
    for question in questions:
        by_id.setdefault(question.subject.simulation, []).append(question)
    pairs = ((simulation, question) for simulation in simulations for question in by_id.get(simulation.id, ()))
    for number, (simulation, question) in enumerate(pairs, 1):
        if simulation.id != shown_id:
            shown_id = simulation.id
            _show_conversation(simulation)
        hint = f" (the tool says: {question.answer})" if show else ""
        _print("head", f"{number} of {len(questions)}: {question.text}{hint}")
        label = _ask(LABELS[question.subject.kind])
        if label == _QUIT:
            break
        if label != _SKIP:
            identity = {"simulation": simulation.id, "task_id": simulation.task_id, "trial": simulation.trial}
            subject = {"kind": question.subject.kind, "item": question.subject.item}
            file.add({**identity, **subject, "label": label, "note": ""})
            answered += 1
    return answered


def _ask(labels: Sequence[str]) -> str:
    """Return a label, or the answers that skip the question or end the command."""
    numbered = ", ".join(f"{number} {label}" for number, label in enumerate(labels, 1))
    choices = {str(number): label for number, label in enumerate(labels, 1)} | {label: label for label in labels}
    while True:
        print(printable(f"{numbered}; Enter to skip, q to end: "), end="", flush=True)  # noqa: T201 - this is a command
        answer = sys.stdin.readline()
        if not answer or answer.strip().lower() == _QUIT:
            return _QUIT
        if not answer.strip():
            return _SKIP
        if (label := choices.get(answer.strip().lower())) is not None:
            return label


def _show_conversation(simulation: Simulation) -> None:
    _print("head", f"task {simulation.task_id}, trial {simulation.trial}, simulation {simulation.id}")
    for number, message in shown_messages(simulation.messages):
        for line in message_lines(message, lambda text: text or ""):
            _print(line.kind, f"{number:>3} {line.text}")


def _print(kind: str, text: str) -> None:
    for line in screen_lines(kind, text, terminal_width(), colours=has_colours()):
        sys.stdout.write(f"{line}\n")


def add_agreement_parser(commands: Any) -> None:
    """Declare the subcommand ``agreement``."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "agreement",
        description="Compare each judge, each rule of the policy and the party at fault with labels by people. Shown "
        "are agreement, Cohen's kappa, sensitivity and specificity with their intervals, and the cases that differ. "
        "The share of statements that a judge finds met is also shown corrected for its errors.",
        statuses={0: "the labels were compared", 1: "the gate is missed", 2: "the command cannot be used"},
        examples=[
            ("tau agreement RUN", "with labels.csv of the run"),
            ("tau agreement RUN --labels labels.csv --gate 'judge_kappa>=0.7'", "for CI"),
        ],
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help=RUN_HELP)
    parser.add_argument(
        "--labels", metavar="FILE", help="the CSV file with the labels (default: those that tau label has written)"
    )
    add_options(parser, "gate", help="exit with 1 unless it is met, judge_kappa>=VALUE; may be repeated")
    add_options(parser.add_argument_group("output"), "json")
    parser.set_defaults(run=run_agreement)


def run_agreement(args: argparse.Namespace) -> int:
    """Carry out the subcommand ``agreement``; returns the exit status."""
    from ...runs import open_run

    least = max(map(_least_kappa, args.gate), default=None)
    opened = [open_run(spec) for spec in args.runs]
    files = [Path(args.labels)] if args.labels is not None else [file_of(run.path) for run in opened]
    labels = {subject: label for file in files for subject, label in read_labels(file).items()}
    compared = Compared(labels)
    for run in opened:
        compared.add(trial.simulation for trial in run.trials())
    kappa = compared.judge_kappa
    met = least is None or (kappa is not None and kappa >= least)
    if args.json:
        print_json(_document(compared))
    else:
        printer = Printer()
        for line in _lines(compared):
            printer.line(line, indent=len(line) - len(line.lstrip()))
        if least is not None:
            printer.line(f"gate judge_kappa>={least:g}: {'met' if met else 'missed'}, kappa {_number(kappa)}")
    return int(not met)


def _least_kappa(gate: str) -> float:
    match = _GATE.fullmatch(gate)
    if match is None:
        raise ConfigurationError(f"--gate: expected judge_kappa>=VALUE, such as judge_kappa>=0.7, got {gate!r}")
    return float(match[1])


def _lines(compared: Compared) -> Iterator[str]:
    for (kind, by), agreement in compared.of.items():
        yield f"{_title(kind, by)}: {plural(agreement.cases, 'label')}"
        if kind == "breach":
            yield f"  right: {_shown(agreement.agreement)}"
            continue
        yield f"  agreement {_shown(agreement.agreement)}, kappa {_number(agreement.kappa)}"
        for label in _used(kind, agreement):
            sensitivity, specificity = agreement.sensitivity(label), agreement.specificity(label)
            yield f"  {label}: sensitivity {_shown(sensitivity)}, specificity {_shown(specificity)}"
        if kind == "statement":
            yield f"  {_rate_line(compared, by)}"
    if not compared.of:
        yield "no label is about a trial of these runs"
    for question, by_people in compared.differences[:_MOST]:
        item = f" {question.subject.item}" if question.subject.item else ""
        yield f"differs: {question.subject.simulation}{item}: people {by_people.label}, tool {question.answer}"
    if (more := len(compared.differences) - _MOST) > 0:
        yield f"and {more} more differ"
    if compared.unused:
        places = listed([label.place for label in compared.unused.values()], 3)
        yield f"not used, as no trial of these runs has it: {plural(len(compared.unused), 'label')} ({places})"


def _title(kind: str, by: str) -> str:
    return {"party": "party at fault", "statement": f"judge {by}", "breach": f"rule {by}"}[kind]


def _used(kind: str, agreement: Agreement) -> list[str]:
    """Return the labels that people or the tool have given; of two, one says all."""
    used = {label for pair in agreement.pairs for label in pair}
    return [label for label in (LABELS[kind][:1] if kind == "statement" else LABELS[kind]) if label in used]


def _rate_line(compared: Compared, judge: str) -> str:
    seen, corrected = compared.rates[judge], compared.corrected(judge)
    judged = f"of {plural(seen.total(), 'statement')}, {seen['met'] / seen.total():.3f} are met by the judge"
    if corrected is None:
        return f"{judged}; not corrected, as its errors are not known for both labels, or it is no better than chance"
    return f"{judged}, {_shown(corrected)} corrected for its errors"


def _shown(rate: Rate) -> str:
    if rate.value is None or rate.interval is None:
        return "unknown"
    return f"{rate.value:.3f} [{rate.interval.low:.3f}, {rate.interval.high:.3f}]"


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"


def _document(compared: Compared) -> dict[str, Any]:
    rows = []
    for (kind, by), agreement in compared.of.items():
        corrected = compared.corrected(by) if kind == "statement" else None
        rows.append(
            {
                "kind": kind,
                "by": by,
                "labels": agreement.cases,
                "agreement": _json(agreement.agreement),
                "kappa": agreement.kappa,
                "errors": {
                    label: {
                        "sensitivity": _json(agreement.sensitivity(label)),
                        "specificity": _json(agreement.specificity(label)),
                    }
                    for label in _used(kind, agreement)
                },
                "corrected": corrected and _json(corrected),
            }
        )
    differing = [
        {**question.subject._asdict(), "people": label.label, "tool": question.answer, "place": label.place}
        for question, label in compared.differences
    ]
    return {
        "agreement": rows,
        "judge_kappa": compared.judge_kappa,
        "differing": differing,
        "unused": [label.place for label in compared.unused.values()],
    }


def _json(rate: Rate) -> dict[str, Any]:
    return {"value": rate.value, "of": rate.of, "interval": list(rate.interval[:2]) if rate.interval else None}
