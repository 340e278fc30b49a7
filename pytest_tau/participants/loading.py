"""From what ``--tau-agent`` and ``--tau-user`` say to something that makes participants."""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..chat import without_login
from ..errors import ConfigurationError, unknown_name
from .adapters import adapt, check_form
from .gold import GoldAgent, GoldUser
from .llm_agent import EndpointAgent, LLMAgent, LLMGuidedAgent, LLMGuidedAgentNoArgs, LLMSoloAgent
from .llm_user import LLMUser
from .noop import DummyUser, NoopAgent, NoopUser
from .replay import Replay
from .saboteurs import SABOTEURS
from .scripted_user import ScriptedUser

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .context import Participant, ParticipantContext, Side
    from .saboteurs import Saboteur

#: Participants of our own, by side and name.
BUILT_IN: dict[str, dict[str, type]] = {
    "agent": {
        "gold": GoldAgent,
        "noop": NoopAgent,
        "llm": LLMAgent,
        "llm-solo": LLMSoloAgent,
        "llm-gt": LLMGuidedAgent,
        "llm-gt-noargs": LLMGuidedAgentNoArgs,
    },
    "user": {"gold": GoldUser, "noop": NoopUser, "dummy": DummyUser, "scripted": ScriptedUser, "llm": LLMUser},
}


#: Agents that a domain may bring along: what they are called everywhere.
DOMAIN_AGENTS = frozenset({"rules"})
_SABOTEUR = "saboteur:"
_MODELS = (LLMAgent, LLMUser)
#: The names of those that call a model, and of those that call none.
BY_MODEL = frozenset(name for names in BUILT_IN.values() for name, kind in names.items() if issubclass(kind, _MODELS))
MODEL_FREE = frozenset(name for names in BUILT_IN.values() for name in names) - BY_MODEL


def calls_no_model(spec: Any) -> bool:
    """Whether a specification is of ours that call no model; what somebody else's code does is not known."""
    return isinstance(spec, str) and (spec in MODEL_FREE or spec.startswith("replay:") or is_of_domain(spec))


def is_of_domain(spec: Any) -> bool:
    """Whether a specification is an agent that domains bring along, spoiled or not."""
    return isinstance(spec, str) and (spec in DOMAIN_AGENTS or spec.startswith(_SABOTEUR))


def is_endpoint(spec: Any) -> bool:
    """Whether a specification is the URL of a server that speaks OpenAI's chat API."""
    return isinstance(spec, str) and spec.startswith(("http://", "https://"))


class ParticipantSource(NamedTuple):
    """Where one side's participants come from.

    Attributes:
        name: How reports call it.
        target: What ``adapt`` accepts, or None where the participants are from elsewhere.
        replay: The recording, for a replayed side.
        of_domain: The name of an agent that each domain brings along itself.
        saboteur: Who spoils the agent's work.
    """

    name: str
    target: Any = None
    replay: Replay | None = None
    of_domain: str | None = None
    saboteur: type[Saboteur] | None = None

    async def make(self, context: ParticipantContext) -> Participant:
        """A fresh participant for one simulation.

        Raises:
            ReplayError: The recording lacks the task.
            Exception: Whatever the participant's constructor raises.
        """
        if self.replay is not None:
            return self.replay.participant(context)
        target = domain_agent(self.of_domain, context.domain_agents) if self.of_domain else self.target
        participant = await adapt(target, context)
        if self.saboteur is None:
            return participant
        return self.saboteur(participant, context, getattr(target, "strangers", ()))


def domain_agent(name: str, agents: Mapping[str, type | str]) -> Any:
    """An agent that a domain brings along, imported now.

    Args:
        name: What it is called.
        agents: Those that the domain has.

    Raises:
        ConfigurationError: It has no such agent, or it cannot be imported.
    """
    if name not in agents:
        raise ConfigurationError(f"agent {name!r}: the domain has none of this name; airline, retail and telecom have")
    target = agents[name]
    return load_object(target, "agent", Path.cwd()) if isinstance(target, str) else target


def load_source(spec: Any, side: Side, folder: Path | None = None) -> ParticipantSource:
    """A participant's source from a specification.

    Args:
        spec: A built-in name, ``replay:FILE``, ``module:attribute``, ``path/to/file.py:attribute``, an object that has
            one of the three forms, or for an agent the URL of an OpenAI-compatible endpoint.
        side: Which side it is to play.
        folder: What relative paths and modules are looked up in; the current folder by default.

    Raises:
        ConfigurationError: It cannot be found, imported, or built.
    """
    if not isinstance(spec, str):
        check_form(spec, side)
        return ParticipantSource(getattr(spec, "__qualname__", type(spec).__name__), spec)
    folder = folder or Path.cwd()
    if spec in BUILT_IN[side]:
        return ParticipantSource(spec, BUILT_IN[side][spec])
    if side == "agent" and is_of_domain(spec):
        return _of_domain(spec)
    if spec.startswith("replay:"):
        return ParticipantSource(spec, replay=Replay(folder / spec.removeprefix("replay:")))
    if is_endpoint(spec):
        if side == "user":
            raise ConfigurationError(f"user {spec!r}: only an agent can be an endpoint; name a module:attribute")
        return ParticipantSource(without_login(spec), EndpointAgent)
    if ":" not in spec:
        known = [
            *BUILT_IN[side],
            *([*sorted(DOMAIN_AGENTS), "saboteur:KIND"] if side == "agent" else []),
            "replay:FILE",
            "module:attribute",
            "path/to/file.py:attribute",
        ]
        known += ["http://…"] if side == "agent" else []
        raise ConfigurationError(unknown_name(side, spec, known))
    target = load_object(spec, side, folder)
    check_form(target, side)
    return ParticipantSource(spec, target)


def _of_domain(spec: str) -> ParticipantSource:
    if spec in DOMAIN_AGENTS:
        return ParticipantSource(spec, of_domain=spec)
    kind = spec.removeprefix(_SABOTEUR)
    if kind not in SABOTEURS:
        raise ConfigurationError(unknown_name("saboteur", kind, SABOTEURS))
    return ParticipantSource(spec, of_domain="rules", saboteur=SABOTEURS[kind])


def load_object(spec: str, what: str, folder: Path) -> Any:
    """The object named by ``module:attribute`` or ``path/to/file.py:attribute``.

    Raises:
        ConfigurationError: It cannot be found or imported.
    """
    module_name, _, attribute = spec.rpartition(":")
    if module_name.endswith(".py"):
        path = folder / module_name
        if not path.is_file():
            raise ConfigurationError(f"{what} {spec!r}: no file {path}")
        load: Callable[[], Any] = functools.partial(_import_file, path)
    else:
        load = functools.partial(importlib.import_module, module_name)
    try:
        module = load()
    except (Exception, SystemExit) as error:
        # A foreign module may raise anything while it is imported.
        problem = f"{type(error).__name__}: {error}"
        raise ConfigurationError(f"{what} {spec!r} cannot be imported: {problem}") from error
    found = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            public = [name for name in dir(module) if not name.startswith("_")]
            raise ConfigurationError(f"{what} {spec!r}: {unknown_name('attribute', attribute, public)}")
        found = getattr(found, part)
    return found


def _import_file(path: Path) -> Any:
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    name = f"tau_{path.stem}_{digest}"  # two files of one name do not shadow each other
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigurationError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
