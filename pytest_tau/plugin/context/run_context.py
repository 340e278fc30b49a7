"""The context of a run's trials: settings, domains, participants, judge, budget, event loop, the run's folder."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ...capability.calls import spec_in_run
from ...chat import LLM, ModelArguments
from ...chat.limited_model import CallOptions
from ...domains import domain_names, domain_spec, load_domain
from ...environment.functions.source import interrupt_functions, release_functions
from ...errors import ConfigurationError, unknown_name
from ...participants import load_source
from ...participants.adapters import lacks_model, needs_model
from ...protocol import with_texts
from ...runner import trial_seeds
from ..hook_calls import first_call, shown
from .event_loop import EventLoop
from .trial_logs import TrialLogs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import pytest

    from ...chat import ChatModel, Role
    from ...environment import Domain, DomainSpec
    from ...evaluation import Evaluator, Judge
    from ...models import Requestor
    from ...participants import ParticipantSource, Side
    from ...runner import RunConfig
    from ..store.writer import ResultWriter
    from .budget import Budget


class RunningTrial(Protocol):
    """A trial that runs in this process."""

    @property
    def test(self) -> str:
        """The node id of its test."""
        ...

    def keep(self, why: str) -> None:
        """Store what there is of the trial, which is about to be ended."""


@dataclass
class RunContext:
    """The context of a run's trials, in one of its processes.

    Attributes:
        config: The run's settings.
        budget: The limit of the cost of model calls, and the cost so far.
        writer: Appends finished simulations to the run's folder.
        domain_specs: The domains that plugins provide, by name.
        missing_domain: Returns the error of a domain that is not among the known ones.
        loop: The event loop of the conversations.
        logs: Collects the log records of the conversations.
        evaluators: Reward components of plugins.
        judge: The judge of NL assertions.
        known_ids: The ids of all tasks from which was selected so far.
        log_folder: The folder for the logs of trials; None for no logs.
        gates_cost: Whether a gate depends on what model calls cost.
        unmatched: The patterns of ``--tau-task`` that no task has matched so far.
        tools: The tools of the domains so far, by side and name, if tools fail on purpose.
        running: The trials that run in this process.
        late_calls: The tools of calls that came after their conversations, for each trial; more may come.
    """

    config: RunConfig
    budget: Budget
    writer: ResultWriter
    domain_specs: dict[str, DomainSpec] = field(default_factory=dict)
    missing_domain: Callable[[str, Iterable[str]], str] = lambda name, known: unknown_name("domain", name, known)
    loop: EventLoop = field(default_factory=EventLoop)
    logs: TrialLogs = field(default_factory=lambda: TrialLogs(tuple))
    evaluators: tuple[Evaluator, ...] = ()
    judge: Judge | None = None
    known_ids: list[str] = field(default_factory=list)
    unmatched: set[str] = field(default_factory=set)
    tools: set[tuple[Requestor, str]] = field(default_factory=set)
    running: set[RunningTrial] = field(default_factory=set)
    late_calls: list[Sequence[str]] = field(default_factory=list)
    _domains: dict[str, Domain] = field(default_factory=dict)
    _sources: dict[tuple[str, str | int], ParticipantSource] = field(default_factory=dict)
    log_folder: Path | None = None
    gates_cost: bool = False
    _chat: ChatModel | None = None
    _embeddings: ChatModel | None = None
    _interrupted: bool = False
    _seeds: list[int] = field(default_factory=list)

    def domain_names(self) -> list[str]:
        """Return the name of every domain that plugins or installed distributions provide."""
        return sorted({*self.domain_specs, *self._installed_names})

    @functools.cached_property
    def _installed_names(self) -> list[str]:
        return domain_names()

    def domain(self, name: str) -> Domain:
        """Return a domain with the run's data, loaded once.

        Raises:
            ConfigurationError: No such domain, or the data lacks it.
        """
        if name not in self._domains:
            if name not in self.domain_specs and name not in self._installed_names:
                raise ConfigurationError(self.missing_domain(name, self.domain_names()))
            declared, data_dir = self.domain_specs.get(name) or domain_spec(name), self.config.data_dir
            spec = spec_in_run(declared, data_dir, self.config.simulation.capabilities)
            shared = spec is declared and name not in self.domain_specs
            found = load_domain(name, data_dir) if shared else spec.load(data_dir)
            self._domains[name] = with_texts(found, self.config.simulation.protocol.texts)
        return self._domains[name]

    def source(self, side: Side, config: RunConfig) -> ParticipantSource:
        """Return the source of the participants of a side, imported once.

        Raises:
            ConfigurationError: It cannot be found, imported or built.
        """
        spec = config.agent_spec if side == "agent" else config.user_spec
        key = (side, spec if isinstance(spec, str) else id(spec))
        if key not in self._sources:
            source = load_source(spec, side, config.folder)
            if side == "agent" and source.runs_own_loop and config.choice("agent") is not None:
                source.check_endpoint()
            if config.choice(side) is None and source.is_foreign and needs_model(source.target):
                raise ConfigurationError(lacks_model(side, source.name))
            self._sources[key] = source
        return self._sources[key]

    def llm(self, role: Role, item: pytest.Item, config: RunConfig) -> LLM | None:
        """Return the model of a role in one trial; None if it has none.

        Raises:
            ConfigurationError: A plugin made something that is not a model.
        """
        choice = config.choice(role)
        if choice is None:
            return None
        arguments = ModelArguments(choice.args)
        call = first_call(
            item.config,
            item.ihook.pytest_tau_make_model,
            item=item,
            role=role,
            llm=choice.name,
            llm_args=arguments,
            config=config,
        )
        assert call is not None, "the plugin's own implementation returns a model"
        made = call.result
        if isinstance(made, LLM):
            return made
        if not callable(getattr(made, "complete", None)):
            expected = "a ChatModel, an object with async complete(request), or an LLM"
            raise ConfigurationError(call.mistake(f"{shown(made)} for the model {choice.name!r}", expected))
        return LLM(choice.name, made, choice.args)

    def default_chat(self) -> ChatModel:
        """Return the default chat model, made at the first call and shared, because it limits concurrent calls."""
        if self._chat is None:
            from ...integrations.default_model import default_model

            self._chat = default_model(self.config.models.client, **self._call_limits())
        return self._chat

    def embeddings(self) -> ChatModel:
        """Return the embedding model, made at the first call and shared, because it limits concurrent calls."""
        if self._embeddings is None:
            from ...integrations.default_embeddings import DefaultEmbeddings

            self._embeddings = DefaultEmbeddings(**self._call_limits())
        return self._embeddings

    def _call_limits(self) -> dict[str, Any]:
        """Return the arguments of ``LimitedModel``, for whatever calls a provider."""
        models = self.config.models
        return {
            "timeout": models.timeout,
            "attempts": models.attempts,
            "first_wait": models.first_wait,
            "max_in_flight": models.max_in_flight,
            "options": CallOptions(models.prices, models.per_provider, models.prompt_cache),
        }

    def seed(self, trial: int) -> int:
        """Return the seed of a trial."""
        seeds = self._seeds
        if trial >= len(seeds):
            seeds = self._seeds = trial_seeds(self.config.seed, trial + 1)
        return seeds[trial]

    def interrupt(self) -> None:
        """Store what there is of the trials that run, and wait for no function of a domain any more, after Ctrl-C."""
        if not self._interrupted:
            self._interrupted = True
            self.keep_trials("KeyboardInterrupt")
            for domain in self._domains.values():
                interrupt_functions(domain.spec)

    def keep_trials(self, why: str, test: str | None = None) -> None:
        """Store what there is of the trials that run, which are about to be ended.

        Args:
            why: What ends them.
            test: The node id of the test whose trial is ended; None for all.
        """
        for trial in list(self.running):
            if test in (None, trial.test):
                trial.keep(why)

    def close(self) -> None:
        """Cancel the conversations that an interruption has left running."""
        self.loop.close()
        for domain in self._domains.values():
            release_functions(domain.spec)
        self.logs.close()
        self.writer.close()
