"""Runs of the tiny domain to be shown, and pages as a test reads them."""

from __future__ import annotations

import base64
import gzip
import json
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from pytest_tau.errors import ConfigurationError
from pytest_tau.evaluation import evaluate
from pytest_tau.models import AssistantMessage, Simulation, UserMessage
from pytest_tau.reports.html import write_report
from pytest_tau.runs.reader import Run

from . import tiny

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain
    from pytest_tau.models import Task

#: The agent renames the lamp and counts, and says so; the user switches the phone on.
CRITERIA = {
    "actions": [
        tiny.action("rename", item_id="lamp", name="Torch"),
        tiny.action("price", item_id="lamp", price=5.0),
        tiny.action("switch", "user"),
    ],
    "env_assertions": [tiny.check("phone_on", "user"), tiny.check("named", item_id="lamp", name="Torch")],
    "communicate_info": ["torch", "42"],
    "reward_basis": ["DB", "ENV_ASSERTION", "COMMUNICATE"],
}


class OneDomain:
    """The domain of the tests, and no other."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain

    def names(self) -> list[str]:
        return [self._domain.name]

    def load(self, name: str, run: object = None) -> Domain:
        if name != self._domain.name:
            raise ConfigurationError(f"unknown domain {name!r}; there is tiny")
        return self._domain


def played(domain: Domain, task: Task, *messages: Any) -> list[Any]:
    """The messages with the results of their calls."""
    environment, found = domain.environment(task), []
    for message in messages:
        found.append(message)
        if isinstance(message, AssistantMessage | UserMessage):
            for number, call in enumerate(message.tool_calls or []):
                call.id = f"call-{len(found)}-{number}"
            found += [environment.answer(call) for call in message.tool_calls or []]
    return found


def simulated(domain: Domain, task: Task, *messages: Any, trial: int = 0, **fields: Any) -> Simulation:
    """A graded simulation of a conversation."""
    trajectory = played(domain, task, *messages)
    reason = fields.pop("termination_reason", "user_stop")
    verdict = fields.pop("reward_info", "graded")
    if verdict == "graded":
        verdict = evaluate(task, trajectory, domain=domain, termination_reason=reason)
    return Simulation(
        id=f"{task.id}-{trial}",
        task_id=task.id,
        trial=trial,
        termination_reason=reason,
        reward_info=verdict,
        messages=trajectory,
        **fields,
    )


def line(simulation: Simulation, task: Task | None, domain: str = "tiny", test: str | None = None) -> dict[str, Any]:
    """The simulation as a run keeps it."""
    entry: dict[str, Any] = {"test": test or f"t.json::{simulation.task_id}[trial-{simulation.trial}]"}
    entry |= {"domain": domain, **simulation.model_dump(mode="json")}
    return entry | ({"task": task.model_dump(mode="json", exclude_none=True)} if task else {})


def run_folder(folder: Path, *lines: dict[str, Any], **info: Any) -> Run:
    """A run's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(one) + "\n" for one in lines)
    (folder / "simulations.jsonl").write_text(text, encoding="utf-8")
    if info:
        (folder / "run.json").write_text(json.dumps({"format": 1, **info}), encoding="utf-8")
    return Run(folder)


GREETING = tiny.agent("Hello. What can I do?")
WISH = tiny.user("Make my lamp a torch.")


def good(domain: Domain, task: Task, trial: int = 0, **fields: Any) -> Simulation:
    """A conversation that meets everything."""
    return simulated(
        domain,
        task,
        GREETING,
        WISH,
        tiny.agent(tiny.call("rename", item_id="lamp", name="Torch"), tiny.call("look", item_id="desk")),
        tiny.agent(tiny.call("price", item_id="lamp", price=5.0)),
        tiny.agent("It is a Torch now, for 42."),
        tiny.user(tiny.call("switch", "user")),
        tiny.user("Thanks. ###STOP###"),
        trial=trial,
        **fields,
    )


def bad(domain: Domain, task: Task, trial: int = 0, **fields: Any) -> Simulation:
    """One that sets another price, forgets to say 42, and switches the phone on and off again."""
    return simulated(
        domain,
        task,
        GREETING,
        WISH,
        tiny.agent(tiny.call("rename", item_id="lamp", name="Torch")),
        tiny.agent(tiny.call("price", item_id="lamp", price=7)),
        tiny.user(tiny.call("switch", "user")),
        tiny.user(tiny.call("switch", "user")),
        tiny.agent("It is a torch now."),
        tiny.user("###STOP###"),
        trial=trial,
        **fields,
    )


class Page:
    """A report as a test reads it: its text, its elements, its data, its conversations."""

    def __init__(self, file: Path) -> None:
        self.text = file.read_text(encoding="utf-8")
        self.parsed = _Elements(self.text)
        self.data = json.loads(self.parsed.scripts["data"])

    def row(self, place: int, run: int = 0) -> dict[str, Any]:
        """A row of the table, by the names of its columns."""
        return dict(zip(self.data["fields"], self.data["runs"][run]["rows"][place], strict=True))

    def conversation(self, place: int, run: int = 0) -> dict[str, Any]:
        """What is shown once a row is opened."""
        packed = self.parsed.scripts[f"c{run}-{place // self.data['block']}"]
        unpacked = gzip.decompress(base64.b64decode(packed))
        return json.loads(unpacked)[place % self.data["block"]]


class _Elements(HTMLParser):
    """Every element and attribute; the text of scripts by their id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.scripts: dict[str, str] = {}
        self.styles: list[str] = []
        self._inside: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag == "script":
            self._inside = dict(attrs).get("id") or "script"
            self.scripts[self._inside] = ""
        elif tag == "style":
            self._inside = "style"

    def handle_endtag(self, tag: str) -> None:
        self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self.styles.append(data)
        elif self._inside is not None:
            self.scripts[self._inside] += data


def report(file: Path, domain: Domain, *runs: Run) -> Page:
    """Write the report of runs, and read it."""
    write_report(file, runs, OneDomain(domain))
    return Page(file)
