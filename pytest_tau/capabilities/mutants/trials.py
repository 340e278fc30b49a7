"""The trials of mutants: each is played as in a test run, within a budget and, for models, with cassettes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import SimulationSettings, simulate
from ...chat import CallPolicy, Identity, Player, Recorder
from ...errors import ConfigurationError
from ...files import digest, file_name_of
from ...models import AssistantMessage
from ...participants import calls_no_model, default_user, load_source
from ...policy import report_of
from .agent import MutatedSource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ...chat import LLM, Role
    from ...environment import Domain
    from ...models import Call, Simulation, Task
    from .calls import Pool
    from .mutant import Mutant


class Played(NamedTuple):
    """A trial that was played.

    Attributes:
        passed: Whether it has reward 1; None without a verdict.
        said: What both sides said and called; of an agent that never varies, it is the same each time.
        calls: The agent's calls, with their results.
        simulation: The conversation.
    """

    passed: bool | None
    said: str
    calls: list[Call]
    simulation: Simulation

    def broken_rules(self, task: Task, domain: Domain) -> set[str]:
        """Return the rules of the policy that it breaks."""
        report = report_of(self.simulation, task, domain)
        return set(report.counts) if report else set()


@dataclass
class Trials:
    """Plays trials of an agent, with and without a fault.

    Attributes:
        domain: The domain.
        agent: The specification of the agent.
        user: That of the user; None for the one that goes with the agent.
        seed: The seed of all trials.
        llms: Models, by role.
        budget: USD that all trials may cost; None for no limit.
        cassettes: The folder in which model calls are recorded, and from which they are replayed.
        pool: Values of arguments, by tool and argument.
        spent: What the trials have cost.
        played: How many there were.
    """

    domain: Domain
    agent: Any
    user: Any = None
    seed: int = 300
    llms: Mapping[Role, LLM] = field(default_factory=dict)
    budget: float | None = None
    cassettes: Path | None = None
    pool: Pool = field(default_factory=dict)
    spent: float = 0.0
    played: int = 0

    def __post_init__(self) -> None:
        user = self.user if self.user is not None else default_user(self.agent, solo=False, llm="user" in self.llms)
        self._sources = load_source(self.agent, "agent"), load_source(user, "user")
        if self._sources[0].runs_own_loop or self._sources[0].replay is not None:
            raise ConfigurationError(
                f"agent {self.agent!r}: an agent that runs its own loop, or is replayed, cannot be made faulty from "
                "outside; use one that answers message by message"
            )
        if self._sources[0].needs_reference(self.domain.spec.agents):
            raise ConfigurationError(f"agent {self.agent!r} is given the reference actions; use one that is not")
        # Nothing but the verdict is asked for.
        self._settings = SimulationSettings(llms=self.llms, capabilities=())
        self._calls = CallPolicy(on_cost=self._spend, budget_problem=self._problem)

    @property
    def never_varies(self) -> bool:
        """Return whether neither side calls a model or is foreign code: then all trials of a task are the same."""
        return all(not source.is_foreign and calls_no_model(source.name) for source in self._sources)

    def play(self, task: Task, number: int = 0, mutants: Sequence[Mutant] = ()) -> Played:
        """Play a trial.

        Raises:
            BudgetError: The budget is spent.
            ConfigurationError: The agent cannot be used.
        """
        source, user = self._sources
        if mutants:
            source = MutatedSource.of(source, mutants, self.pool)
        simulation = simulate(
            task,
            domain=self.domain,
            agent=source,
            user=user,
            trial=number,
            seed=self.seed + number,
            settings=self._settings,
            calls=self._calls,
            tape=self._tape(task, number, mutants),
            check_reference=False,
        )
        self.played += 1
        return Played(
            None if simulation.outcome == "error" else simulation.outcome == "passed",
            "\n".join(f"{message.role}: {message.content} {_calls(message)}" for message in simulation.messages),
            _calls_of_agent(simulation),
            simulation,
        )

    def _tape(self, task: Task, number: int, mutants: Sequence[Mutant]) -> Player | Recorder | None:
        if not self.llms or self.cassettes is None:
            return None
        folder = self.cassettes / (digest("\n".join(mutant.text for mutant in mutants))[:12] if mutants else "agent")
        path = folder / f"{file_name_of(task.id)}-{number}.json"
        identity = Identity(self.domain.name, task.id, number, self.seed + number, {})
        return Player(path, identity) if path.is_file() else Recorder(path, identity)

    def _spend(self, cost: float | None) -> None:
        self.spent += cost or 0.0

    def _problem(self) -> str | None:
        if self.budget is None or self.spent < self.budget:
            return None
        return f"the budget of ${self.budget:g} is spent (${self.spent:.2f})"


def _calls(message: Any) -> str:
    return " ".join(f"{call.name}({call.arguments})" for call in getattr(message, "tool_calls", None) or ())


def _calls_of_agent(simulation: Simulation) -> list[Call]:
    return [call for call in simulation.calls if isinstance(simulation.messages[call.message_idx], AssistantMessage)]
