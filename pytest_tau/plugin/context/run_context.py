"""The context of a run's trials: settings, domains, participants, judge, budget, event loop, the run's folder."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...chat import LLM, ModelArguments
from ...domains import domain_names, load_domain
from ...errors import ConfigurationError, unknown_name
from ...participants import load_source
from ...runner import trial_seeds
from ..hook_calls import first_call, shown
from .event_loop import EventLoop
from .trial_logs import TrialLogs

if TYPE_CHECKING:
    import pytest

    from ...chat import ChatModel, Role
    from ...environment import Domain, DomainSpec
    from ...evaluation import Evaluator, Judge
    from ...participants import ParticipantSource, Side
    from ...runner import RunConfig
    from ..store.writer import ResultWriter
    from .budget import Budget


@dataclass
class RunContext:
    """The context of a run's trials, in one of its processes.

    Attributes:
        config: The run's settings.
        budget: The limit of the cost of model calls, and the cost so far.
        writer: Appends finished simulations to the run's folder.
        domain_specs: The domains that plugins provide, by name.
        loop: The event loop of the conversations.
        logs: Collects the log records of the conversations.
        evaluators: Reward components of plugins.
        judge: The judge of NL assertions.
        known_ids: The ids of all tasks from which was selected so far.
        unmatched: The patterns of ``--tau-task`` that no task has matched so far.
    """

    config: RunConfig
    budget: Budget
    writer: ResultWriter
    domain_specs: dict[str, DomainSpec] = field(default_factory=dict)
    loop: EventLoop = field(default_factory=EventLoop)
    logs: TrialLogs = field(default_factory=lambda: TrialLogs(tuple))
    evaluators: tuple[Evaluator, ...] = ()
    judge: Judge | None = None
    known_ids: list[str] = field(default_factory=list)
    unmatched: set[str] = field(default_factory=set)
    _domains: dict[str, Domain] = field(default_factory=dict)
    _sources: dict[tuple[str, str | int], ParticipantSource] = field(default_factory=dict)
    _chat: ChatModel | None = None

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
            if name in self.domain_specs:
                self._domains[name] = self.domain_specs[name].load(self.config.data_dir)
            elif name in self._installed_names:
                self._domains[name] = load_domain(name, self.config.data_dir)
            else:
                raise ConfigurationError(unknown_name("domain", name, self.domain_names()))
        return self._domains[name]

    def source(self, side: Side, config: RunConfig) -> ParticipantSource:
        """Return the source of the participants of a side, imported once.

        Raises:
            ConfigurationError: It cannot be found, imported or built.
        """
        spec = config.agent_spec if side == "agent" else config.user_spec
        key = (side, spec if isinstance(spec, str) else id(spec))
        if key not in self._sources:
            self._sources[key] = load_source(spec, side, config.folder)
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

            models = self.config.models
            self._chat = default_model(timeout=models.timeout, max_in_flight=models.max_in_flight)
        return self._chat

    def seed(self, trial: int) -> int:
        """Return the seed of a trial."""
        return trial_seeds(self.config.seed, trial + 1)[trial]

    def close(self) -> None:
        """Cancel the conversations that an interruption has left running."""
        self.loop.close()
        self.logs.close()
