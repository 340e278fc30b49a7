"""How the scripted user understands agents: ``python -m benchmarks.user_reading [--data DIR] [--show] [DOMAIN=RUN …]``.

Without runs, the phrasings of ``benchmarks/phrasings.json`` are said to a user that has just made its request. They are
our own, in the manner of models and of people; each has the parts of the right answer: names of facts, ``yes``, ``no``,
``request`` (the user's own words for what it wants) and ``tool:NAME`` (a call of its device). The figure is the share
that is answered by all of them, by no other yes, and not by "I am not sure what you mean".

With runs, stored conversations of other users, the scripted user of the same task replies to the agent's texts. The
figures are the shares of

- ``facts``: facts of its script that the stored user gave, which it has given by then;
- ``yes``: agreements of the stored user in which it agrees;
- ``device``: tools that the stored user called after a text, which it calls then, too;
- ``lost``: texts that it says it does not understand.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest_tau
from pytest_tau.models import AssistantMessage, Task, UserMessage
from pytest_tau.runs.reader import open_run
from pytest_tau.testing import scripted_facts, scripted_replies

from .figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_tau.environment import Domain
    from pytest_tau.models import Message

    from .figures import Options

_SITUATIONS = Path(__file__).with_name("phrasings.json")
_GREETING = "Hi! How can I help you today?"
_LOST = "not sure what you mean"
_YES, _NO = re.compile(r"\byes\b", re.IGNORECASE), re.compile(r"\bno\b", re.IGNORECASE)
_AGREES = re.compile(
    r"^\W*(?:yes|yeah|yep|sure|correct|that'?s (?:right|correct)|please (?:do|go ahead|proceed)|i confirm|ok(?:ay)?\b)",
    re.IGNORECASE,
)
_SHORTEST = 3


class Answered(NamedTuple):
    """A phrasing, and the user's answer to it.

    Attributes:
        situation: The name of its situation.
        text: The agent's text.
        expected: The parts of the right answer.
        answer: The answer.
        right: Whether it has them, and no more.
    """

    situation: str
    text: str
    expected: str
    answer: str
    right: bool


def reading(how: Options) -> Iterator[Figure]:
    """Phrasings of agents that the scripted user answers rightly, of those in benchmarks/phrasings.json."""
    answered = phrasings_answered()
    share = sum(each.right for each in answered) / len(answered)
    yield Figure("phrasings answered rightly", "", [share], target=0.95, at_least=True)
    del how


def phrasings_answered() -> list[Answered]:
    """Return how the phrasings are answered."""
    return [
        answered
        for name, situation in json.loads(_SITUATIONS.read_text("utf-8")).items()
        for text, expected in situation["phrasings"]
        for answered in [_answered(name, situation, text, expected)]
    ]


def _answered(name: str, situation: dict[str, Any], text: str, expected: str) -> Answered:
    script = situation["script"]
    request = script["requests"][0]
    scenario = {"instructions": request["say"], "script": script}
    task = Task.model_validate({"id": name, "user_scenario": scenario})
    answer = scripted_replies(_domain(situation["domain"], None), task, [_GREETING, text])[1]
    facts = script["facts"] | request.get("facts", {})
    wanted = _parts(expected, facts)
    parts = {"yes": bool(_YES.search(answer)), "no": bool(_NO.search(answer))}
    parts["request"] = request["say"] in answer
    for each in wanted:
        if each.startswith("tool:"):
            parts[each] = f'"{each[5:].replace("_", " ")}"' in answer
    right = all(parts[each] if each in parts else facts[each] in answer for each in wanted)
    shown = any(each.startswith("tool:") for each in wanted)  # a device may say yes, too
    right = right and (shown or ("yes" in wanted) == parts["yes"]) and _LOST not in answer
    return Answered(name, text, expected, answer, right)


def _parts(expected: str, facts: dict[str, str]) -> list[str]:
    return [expected] if expected in facts else expected.split()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the shares; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", metavar="DOMAIN=RUN", help="a run's folder, or a result file")
    parser.add_argument("--data", type=Path, help="folder with τ²-bench's data (default: the bundled data)")
    parser.add_argument("--show", action="store_true", help="print what is missed")
    given = parser.parse_args(arguments)
    for run in given.runs:
        name, _, path = run.partition("=")
        counts, missed = _read_run(_domain(name, given.data), Path(path))
        shares = (f"{each} {_share(counts, each)} of {counts[each]}" for each in ("facts", "yes", "device"))
        lost = counts["lost"] / max(1, counts["turns"])
        print(f"{Path(path).name}: {', '.join(shares)}; lost {lost:.4f} of {counts['turns']} turns", flush=True)
        if given.show:
            print(*missed, sep="\n")
    if not given.runs:
        answered = phrasings_answered()
        for name, of_one in groupby(answered, lambda each: each.situation):
            rights = [each.right for each in of_one]
            print(f"{name}: {sum(rights)} of {len(rights)} phrasings")
        if given.show:
            wrong = [each for each in answered if not each.right]
            print(*(f"\n{each.situation}: {each.text}\n  {each.expected}\n  {each.answer}" for each in wrong))
    return 0


def _share(counts: Counter[str], name: str) -> str:
    return f"{counts[name + ' right'] / max(1, counts[name]):.3f}"


def _read_run(domain: Domain, path: Path) -> tuple[Counter[str], list[str]]:
    counts, missed, tasks = Counter[str](), list[str](), {task.id: task for task in domain.tasks(None)}
    for stored in open_run(path).trials():
        simulation = stored.simulation
        if simulation.task_id in tasks:
            _read_conversation(domain, tasks[simulation.task_id], simulation.messages, counts, missed)
    return counts, missed


class Turn(NamedTuple):
    """What a stored user made of a text of the agent.

    Attributes:
        heard: The text.
        reply: The user's text.
        calls: The tools that it called before.
    """

    heard: str
    reply: str
    calls: frozenset[str]


def _turns(messages: Sequence[Message]) -> list[Turn]:
    said = [at for at, each in enumerate(messages) if isinstance(each, AssistantMessage) and each.has_text_content()]
    found = []
    for start, end in pairwise([*said, len(messages)]):
        replies = [each for each in messages[start:end] if isinstance(each, UserMessage)]
        text = " ".join(each.text for each in replies if each.has_text_content())
        calls = frozenset(call.name for each in replies for call in each.tool_calls or ())
        if text:
            found.append(Turn(messages[start].text, text, calls))  # type: ignore[union-attr]
    return found


def _read_conversation(
    domain: Domain, task: Task, messages: Sequence[Message], counts: Counter[str], missed: list[str]
) -> None:
    turns = _turns(messages)
    answers = scripted_replies(domain, task, [each.heard for each in turns])
    facts = {
        name: _flat(value) for name, value in scripted_facts(domain, task).items() if len(_flat(value)) >= _SHORTEST
    }
    theirs = ours = ""
    for turn, answer in zip(turns, answers, strict=False):
        ours += _flat(answer)
        if "###" in answer or "###" in turn.reply:
            return
        counts["turns"] += 1
        counts["lost"] += _LOST in answer
        new = [name for name, value in facts.items() if value in _flat(turn.reply) and value not in theirs]
        found = [("facts", name, facts[name] in ours) for name in new]
        found += [("device", name, f'"{name.replace("_", " ")}"' in answer) for name in turn.calls]
        if not new and _AGREES.match(turn.reply):
            found.append(("yes", "yes", bool(_YES.search(answer))))
        for kind, name, right in found:
            counts[kind] += 1
            counts[f"{kind} right"] += right
            if not right:
                missed.append(f"\n{kind} {name}\n  agent  {turn.heard}\n  stored {turn.reply}\n  ours   {answer}")
        theirs += _flat(turn.reply)


def _flat(value: str) -> str:
    return re.sub(r"\W+", "", value).lower()


@cache
def _domain(name: str, data: Path | None) -> Domain:
    return pytest_tau.load_domain(name, data_dir=data)


if __name__ == "__main__":
    raise SystemExit(main())
