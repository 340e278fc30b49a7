"""The settings of a run, and of each of its simulations."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from ..capability import bundled_by_default
from ..chat import ModelArguments, Role
from ..evaluation import Evaluation
from ..participants import calls_no_model, default_user
from ..participants.behaviours import BEHAVIOURS
from ..participants.loading import is_endpoint
from ..protocol import TAU, Protocol
from ..run_settings import (
    DEFAULT_TIMEOUT,
    CallSettings,
    ConversationSettings,
    DomainSettings,
    Limits,
    ModelNames,
    ParticipantSettings,
    SelectionSettings,
    run_options,
)
from ..settings import complete, options_of
from .setting_values import SettingValue, changed_texts, values_in, values_of_prompting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..capability import ActiveCapability
    from ..chat import LLM
    from ..chat.prices import Price
    from ..environment import Retrieval
    from ..participants import Prompting, Side
    from ..participants.behaviours import Behaviour

for _base in (CallSettings, ConversationSettings, ParticipantSettings, SelectionSettings):
    complete(_base)

#: The roles whose models options name.
MODEL_ROLES: tuple[Role, ...] = ("agent", "user", "judge")
#: Seed of a run when none is given. Source: τ²-bench v1.0.1.
DEFAULT_SEED = SelectionSettings.seed


@dataclass(frozen=True)
class SimulationSettings(ConversationSettings):
    """Settings of every simulation of a run.

    Attributes:
        limits: When a conversation is cut off.
        evaluation: How it is graded.
        own_timeout: Wall-clock seconds of a conversation with a participant that is not built in, if ``limits`` have
            none; without the time of model calls that are made through this package. None for no limit.
        retrieval: How the agent accesses the documents of the domain's knowledge base; None for the domain's default.
        llms: Models by role, for trials that are given none of their own.
        prompting: How models are made to play a side.
        protocol: The texts that models read, and the form in which they are sent.
        variant: What a capability has made of the task: the parameter in the ids of its items; empty for the task.
        capabilities: The capabilities that are switched on, each with its settings; by default the bundled ones that
            are on by default.
        behaviours: The behaviours that a persona can have, by name.
    """

    limits: Limits = field(default_factory=Limits)
    own_timeout: float | None = DEFAULT_TIMEOUT
    evaluation: Evaluation = field(default_factory=Evaluation)
    retrieval: Retrieval | None = None
    llms: Mapping[Role, LLM] = field(default_factory=dict)
    prompting: Mapping[Side, Prompting] = field(default_factory=dict)
    protocol: Protocol = TAU
    variant: str = ""
    capabilities: Sequence[ActiveCapability] = field(default_factory=bundled_by_default)
    behaviours: Mapping[str, Behaviour] = field(default_factory=lambda: BEHAVIOURS)

    @property
    def foreign_seconds(self) -> float | None:
        """Return the wall-clock seconds of what is not built in: the limit of conversations, else ``own_timeout``."""
        return self.own_timeout if self.limits.timeout is None else self.limits.seconds

    @cached_property
    def changed(self) -> dict[str, str]:
        """Return the settings that verdicts depend on and that are not their defaults, by label.

        The core's and those of capabilities: ``{"tool faults": "get_*:0.1", "timeout": "50"}``.
        """
        return changed_texts(self.values())

    def values(self) -> Iterator[SettingValue]:
        """Yield the options that all simulations depend on, those of capabilities among them, with their values."""
        yield from values_in(self, ConversationSettings)
        for row in options_of(DomainSettings):
            if row.field != "data":  # a matter of the run
                yield SettingValue(row, getattr(self, f"_{row.field}"))
        yield from values_of_prompting(self.prompting)
        yield from values_in(self.limits)
        for active in self.capabilities:
            if active.settings is not None:
                yield from values_in(active.settings)

    @property
    def _protocol(self) -> str:
        return self.protocol.name

    @property
    def _texts(self) -> str | None:
        return self.protocol.texts.place if self.protocol.texts else None

    @property
    def _agent_retrieval(self) -> str | None:
        return self.retrieval.name if self.retrieval else None

    @property
    def _agent_retrieval_args(self) -> Mapping[str, Any]:
        return self.retrieval.args if self.retrieval else {}

    @property
    def _grading(self) -> str:
        return self.evaluation.grading.name


class ModelChoice(NamedTuple):
    """A model that options name: its name, and arguments of each call."""

    name: str
    args: Mapping[str, Any]


#: Record what is missing and replay the rest, record everything anew, only replay, or none of it.
TapeMode: TypeAlias = Literal["missing", "all", "replay"]


@dataclass(frozen=True, kw_only=True)
class ModelSettings(CallSettings):
    """Settings of every model call of a run.

    Attributes:
        names: The models' names, by role.
        args: Arguments of each call, by role.
        endpoint_key: What an agent behind an endpoint is sent as its key.
        prices: The user's price list.
        tape: Whether calls are recorded or replayed; None for neither.
    """

    names: Mapping[Role, str] = field(default_factory=dict)
    args: Mapping[Role, Mapping[str, Any]] = field(default_factory=dict)
    endpoint_key: str = field(default="none", repr=False)
    prices: Mapping[str, Price] = field(default_factory=dict)
    tape: TapeMode | None = None

    @property
    def attempts(self) -> int:
        """Return the most attempts of a call that meets temporary faults."""
        return self.retries + 1

    @property
    def has_budget(self) -> bool:
        """Return whether the run or each trial may cost so much only."""
        return self.budget is not None or self.budget_per_trial is not None


@dataclass(frozen=True, kw_only=True)
class RunConfig(SelectionSettings, ParticipantSettings):
    """Every setting of a run, checked; nothing below the plugin sees pytest's own configuration.

    A marker may name an agent or a user that is a class or a function.

    Attributes:
        data_dir: Official data; None for the bundled data.
        own_agent: A hook or an overridden fixture may make the agent where none was named.
        folder: What relative paths and modules are looked up in.
        concurrency: The number of concurrent conversations in one process.
        models: The settings of every model call.
        simulation: The settings of every simulation.
    """

    data_dir: Path | None = None
    own_agent: bool = False
    folder: Path = field(default_factory=Path.cwd)
    concurrency: int = 1
    models: ModelSettings = field(default_factory=ModelSettings)
    simulation: SimulationSettings = field(default_factory=SimulationSettings)

    @property
    def agent_spec(self) -> Any:
        """Return the agent that is run: the one that was named, else the model that was, else gold."""
        return self.agent if self.agent is not None else "llm" if "agent" in self.models.names else "gold"

    @property
    def user_spec(self) -> Any:
        """Return the user that is run: the one that was named, else what goes with the agent."""
        if self.user is not None:
            return self.user
        agent = None if self.own_agent and self.agent_spec == "gold" else self.agent_spec
        return default_user(agent, solo=self.simulation.solo, llm="user" in self.models.names)

    def values(self) -> Iterator[SettingValue]:
        """Yield the options that the run depends on, with the values that are in use.

        A participant, a model and a prompt are those that are run, called and sent. Of capabilities there are the
        settings that verdicts depend on.
        """
        yield from values_in(self, SelectionSettings)
        participants = {"agent": self.agent_spec, "user": self.user_spec, "judge": self.judge}
        yield from (SettingValue(row, participants[row.field]) for row in options_of(ParticipantSettings))
        yield from (SettingValue(row, self.data_dir) for row in options_of(DomainSettings) if row.field == "data")
        unused = {f"{side}_prompt" for side in ("agent", "user") if self.choice(side) is None}
        core = {row.key for row in run_options()}
        for row, value in self.simulation.values():
            if row.key in core or row.affects == "verdict":
                yield SettingValue(row, None if row.field in unused else value)
        yield from (SettingValue(row, self._of_models(row.field)) for row in options_of(ModelNames))
        yield from values_in(self.models, CallSettings)

    def _of_models(self, field: str) -> Any:
        """Return the value of an option about models: None for one that is not called."""
        for role in MODEL_ROLES:
            if field in (f"{role}_llm", f"{role}_llm_args"):
                choice = self.choice(role)
                return choice and (choice.args if field.endswith("_args") else choice.name)
        return self.models.tape

    @property
    def choices(self) -> dict[Role, ModelChoice]:
        """Return the models that are called, by role."""
        roles = dict.fromkeys((*MODEL_ROLES, *self.models.names))
        return {role: choice for role in roles if (choice := self.choice(role)) is not None}

    def choice(self, role: Role) -> ModelChoice | None:
        """Return the model of a role: an endpoint for the agent behind it, and None for a side that needs none."""
        name, args = self.models.names.get(role), self.models.args.get(role, {})
        if role == "judge":
            needed = self.judge in (None, "llm")
        elif role not in MODEL_ROLES:
            needed = True  # a capability has named it
        else:
            spec = self.agent_spec if role == "agent" else self.user_spec
            if is_endpoint(spec):
                # Its model's own name may have a slash in it, and no provider. It is sent no provider's key.
                own = {"api_key": self.models.endpoint_key, **args, "api_base": spec}
                return ModelChoice(f"openai/{(name or role).removeprefix('openai/')}", ModelArguments(own))
            needed = not calls_no_model(spec)
        return ModelChoice(name, args) if name is not None and needed else None
