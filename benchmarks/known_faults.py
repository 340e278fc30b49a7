"""Measures how well the rules of blame, and a reviewer, name whose fault a failure is.

    python -m benchmarks.known_faults [--domain NAME] [--tasks N] [--reviewer SPEC | --reviewer-llm MODEL] [--json FILE]

The correct agent ``rules`` and the scripted user pass a task together. Then one of them is replaced by one that makes a
known mistake: the agent by a saboteur, or the user by a spoiled user. If the conversation now fails, the fault is that
of the replaced side. Conversations that pass all the same are not counted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_tau import Evaluation, SimulationSettings, asimulate, load_domain
from pytest_tau.capabilities.reviews.case import review_case
from pytest_tau.capabilities.reviews.reviewer import load_reviewer
from pytest_tau.capabilities.reviews.run import review_trial
from pytest_tau.chat import LLM, TrialModels
from pytest_tau.evaluation import BUILT_IN_JUDGES
from pytest_tau.models import AssistantMessage, UserMessage
from pytest_tau.orchestrator import Limits
from pytest_tau.participants.agents import FAULTY_AGENTS
from pytest_tau.participants.scripted.user import ScriptedUser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_tau import Domain, Simulation, Task
    from pytest_tau.capabilities.reviews.reviewer import ModelReviewer, Reviewer
    from pytest_tau.models import Review
    from pytest_tau.participants.context import Incoming, Reply

#: The saboteurs draw what they do.
SEED = 300
DOMAINS = ("airline", "retail", "telecom", "banking_knowledge")
SIDES = ("agent", "user")
SETTINGS = SimulationSettings(
    limits=Limits(max_steps=100), evaluation=Evaluation(judge=BUILT_IN_JUDGES["accept"]), own_timeout=None
)
_ASKS = re.compile(r"\(yes/no\)|\bconfirm\b|\bshall I\b|\bmay I proceed\b|\bgo ahead\?", re.IGNORECASE)
_DIGITS = re.compile(r"\d{3,}")
#: Seconds of a review.
_DEADLINE = 600.0


class SpoiledUser(ScriptedUser):
    """The scripted user with one mistake; subclasses make it."""

    async def respond(self, message: Incoming) -> Reply:
        """Return the user's answer, changed by a subclass."""
        asked = message.content or "" if isinstance(message, AssistantMessage) else ""
        reply = await super().respond(message)
        return self.spoil(asked, reply) if isinstance(reply, UserMessage) and reply.content else reply

    def spoil(self, asked: str, reply: UserMessage) -> UserMessage:
        """Return the reply to a text of the agent with the mistake in it."""
        raise NotImplementedError


class AgreesAndLeaves(SpoiledUser):
    """Agrees to the first change and ends the conversation in the same message, before the agent can make it."""

    def spoil(self, asked: str, reply: UserMessage) -> UserMessage:
        """Add the end."""
        return UserMessage(content="Yes, please. ###STOP###") if _ASKS.search(asked) else reply


class HangsUp(SpoiledUser):
    """Ends the conversation instead of its second message."""

    turns = 0

    def spoil(self, asked: str, reply: UserMessage) -> UserMessage:
        """Replace the second message."""
        self.turns += 1
        return UserMessage(content="Never mind, goodbye. ###STOP###") if self.turns == 2 else reply


class GivesUpAsOutOfScope(SpoiledUser):
    """Declares the conversation out of scope instead of its second message."""

    turns = 0

    def spoil(self, asked: str, reply: UserMessage) -> UserMessage:
        """Replace the second message."""
        self.turns += 1
        return UserMessage(content="###OUT-OF-SCOPE###") if self.turns == 2 else reply


class WrongNumbers(SpoiledUser):
    """Gives wrong numbers: the last digit of each id and amount is another one."""

    def spoil(self, asked: str, reply: UserMessage) -> UserMessage:
        """Change the numbers."""
        changed = _DIGITS.sub(lambda found: found[0][:-1] + str((int(found[0][-1]) + 1) % 10), reply.content or "")
        return UserMessage(content=changed)


class Refuses(SpoiledUser):
    """Answers the first question for a confirmation with no, although it wants the change."""

    refused = False

    def spoil(self, asked: str, reply: UserMessage) -> UserMessage:
        """Replace the first confirmation."""
        if self.refused or not _ASKS.search(asked):
            return reply
        self.refused = True
        return UserMessage(content="No.")


class SpeaksAsAgent(SpoiledUser):
    """Falls into the role of the agent in its second message."""

    turns = 0

    def spoil(self, asked: str, reply: UserMessage) -> UserMessage:
        """Replace the second message."""
        self.turns += 1
        said = "Thank you for calling. Is there anything else I can help you with? ###STOP###"
        return UserMessage(content=said) if self.turns == 2 else reply


SPOILED_USERS: dict[str, type[SpoiledUser]] = {
    "agrees-and-leaves": AgreesAndLeaves,
    "hangs-up": HangsUp,
    "out-of-scope": GivesUpAsOutOfScope,
    "wrong-numbers": WrongNumbers,
    "refuses": Refuses,
    "speaks-as-agent": SpeaksAsAgent,
}


@dataclass
class Tally:
    """What was named for conversations whose fault is known.

    Attributes:
        named: By kind of mistake and the side that makes it, how often each party was named.
    """

    named: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, side: str, kind: str, party: str | None) -> None:
        """Count a conversation."""
        self.named[side, kind][party or "none"] += 1

    def total(self, side: str, party: str | None = None) -> int:
        """Return how often a party was named for the faults of a side; without a party, how many there are."""
        return sum(
            counter[party] if party else counter.total() for (of, _), counter in self.named.items() if of == side
        )

    def precision(self, side: str) -> float | None:
        """Return the share of conversations in which a side was named that are its fault; None if it never was."""
        named = sum(self.total(each, side) for each in SIDES)
        return self.total(side, side) / named if named else None

    def recall(self, side: str) -> float | None:
        """Return the share of a side's faults for which it was named; None without any."""
        faults = self.total(side)
        return self.total(side, side) / faults if faults else None

    def lines(self, name: str) -> list[str]:
        """Return the result as lines of text."""
        lines = [f"{name}: {sum(map(self.total, SIDES))} conversations"]
        for side in SIDES:
            shares = [
                f"{'unknown' if value is None else f'{value:.3f}'}"
                for value in (self.precision(side), self.recall(side))
            ]
            lines.append(f"  {side:<6} precision {shares[0]}, recall {shares[1]} ({self.total(side)} faults)")
        for (side, kind), counter in sorted(self.named.items()):
            parties = ", ".join(f"{party} {number}" for party, number in counter.most_common())
            lines.append(f"    {side:<6} {kind:<24} {parties}")
        return lines

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON."""
        shares = {side: {"precision": self.precision(side), "recall": self.recall(side)} for side in SIDES}
        named = {f"{side}:{kind}": dict(counter) for (side, kind), counter in sorted(self.named.items())}
        return {**shares, "named": named}


async def measure(
    domains: Iterable[Domain], tasks: int, ask: Callable[[Simulation, Task, Domain], Any] | None = None
) -> tuple[Tally, Tally]:
    """Return what the rules of blame name, and what a reviewer names.

    Args:
        domains: The domains.
        tasks: At most so many tasks of each.
        ask: Returns the review of a conversation, awaitable; None for no reviewer.
    """
    rules, reviewer = Tally(), Tally()
    kinds: list[tuple[str, str, Any, Any]] = [
        *(("agent", kind, f"saboteur:{kind}", "scripted") for kind in FAULTY_AGENTS if kind != "slow"),
        *(("user", kind, "rules", user) for kind, user in SPOILED_USERS.items()),
    ]
    for domain in domains:
        for task in domain.tasks()[:tasks]:
            correct = await asimulate(task, domain=domain, agent="rules", user="scripted", settings=SETTINGS, seed=SEED)
            if correct.outcome != "passed":
                continue
            for side, kind, agent, user in kinds:
                simulation = await asimulate(task, domain=domain, agent=agent, user=user, settings=SETTINGS, seed=SEED)
                if simulation.outcome != "failed":
                    continue
                blame = simulation.info.blame
                rules.add(side, kind, blame.party if blame else None)
                if ask is not None:
                    review = await ask(simulation, task, domain)
                    reviewer.add(side, kind, review.fault_owner if review.done else review.status)
    return rules, reviewer


def reviewed_by(reviewer: Reviewer | ModelReviewer, llm: LLM | None = None) -> Callable[..., Any]:
    """Return a function that has a conversation reviewed."""

    async def ask(simulation: Simulation, task: Task, domain: Domain) -> Review:
        models = TrialModels({"reviewer": llm} if llm else {})
        return await review_trial(review_case(simulation, task, domain), reviewer, models, _DEADLINE)

    return ask


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    options = _parser().parse_args(arguments)
    ask, name = None, options.reviewer or options.reviewer_llm
    if name is not None:
        llm = _llm(options.reviewer_llm) if options.reviewer_llm else None
        found = load_reviewer(options.reviewer, Path.cwd(), options.reviewer_llm, "--reviewer-llm MODEL or --reviewer")
        ask = reviewed_by(found, llm)
    domains = [load_domain(each) for each in options.domain or DOMAINS]
    rules, reviewer = asyncio.run(measure(domains, options.tasks, ask))
    print("\n".join(rules.lines("rules of blame")))
    if name is None:
        print("reviewer: none was given (--reviewer-llm MODEL or --reviewer SPEC)")
    else:
        print("\n".join(reviewer.lines(f"reviewer {name}")))
    if options.json:
        document = {"tasks": options.tasks, "rules": rules.as_json(), "reviewer": reviewer.as_json() if name else None}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _llm(name: str) -> LLM:
    from pytest_tau.integrations.default_model import check_model, default_model

    check_model(name, {})
    return LLM(name, default_model(), {"temperature": 0.0})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.known_faults", description="Measures how well the fault of a failure is found."
    )
    parser.add_argument("--domain", action="append", choices=DOMAINS, metavar="NAME", help=", ".join(DOMAINS))
    parser.add_argument("--tasks", type=int, default=30, metavar="N", help="tasks of each domain (default: 30)")
    parser.add_argument("--reviewer", metavar="SPEC", help="a reviewer of your own, as tau review --judge takes it")
    parser.add_argument("--reviewer-llm", metavar="MODEL", help="the model of the built-in reviewer")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    return parser


if __name__ == "__main__":
    main()
