"""Loading the participants that ``--tau-agent`` and ``--tau-user`` name."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import pkgutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..endpoint.listener import load_web
from ..errors import ConfigurationError, is_interrupt, suggestion, unknown_name
from ..files import digest
from ..masking import mask_secrets
from .adapters import adapt, built_class, check_form, check_tools, name_of, takes_model
from .agents import BUILT_IN, FAULTY_AGENTS, EndpointAgent, LLMAgent, LLMUser, Replay
from .base import BuiltIn
from .clients import imported_names
from .containment import describe
from .own_loop.form import is_own_loop
from .programs import PROGRAMS, is_program, program_factory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..environment.functions.patching import Patches
    from .agents.faulty import FaultyAgent, ForeignRecords
    from .context import Participant, ParticipantContext, Side

#: Names of the agents that a domain may have.
DOMAIN_AGENTS = frozenset({"rules"})
_FAULTY = "saboteur:"
_MODELS = (LLMAgent, LLMUser)
#: Names of the built-in participants that call a model, and of the others.
BY_MODEL = frozenset(name for names in BUILT_IN.values() for name, kind in names.items() if issubclass(kind, _MODELS))
MODEL_FREE = frozenset(name for names in BUILT_IN.values() for name in names) - BY_MODEL


def calls_no_model(spec: Any) -> bool:
    """Return whether a specification is built in and calls no model; of foreign code that is not known."""
    return isinstance(spec, str) and (spec in MODEL_FREE or spec.startswith("replay:") or is_of_domain(spec))


def is_of_domain(spec: Any) -> bool:
    """Return whether a specification is an agent of the domain, faulty or not."""
    return isinstance(spec, str) and (spec in DOMAIN_AGENTS or spec.startswith(_FAULTY))


def default_user(agent: Any, *, solo: bool, llm: bool = False) -> str:
    """Return the user that goes with an agent if none is named.

    Only ``gold`` gets the user that plays the reference actions: any other agent needs a user that reacts to it.

    Args:
        agent: The agent's specification, or a class or function; None if it is not known yet.
        solo: The agent works alone.
        llm: There is a model for the user.
    """
    if solo:
        return "dummy"
    if isinstance(agent, str) and agent.startswith("replay:"):
        return agent
    if agent == "gold":
        return "gold"
    by_model = agent == "human" or not calls_no_model(agent)  # a person can talk to a model
    return "llm" if llm and by_model else "scripted"


def is_endpoint(spec: Any) -> bool:
    """Return whether a specification is the URL of a server with OpenAI's chat API."""
    return isinstance(spec, str) and spec.startswith(("http://", "https://"))


class ParticipantSource(NamedTuple):
    """The source of one side's participants.

    Attributes:
        name: Its name in reports.
        target: An object that ``adapt`` accepts; None for a replayed side and an agent of the domain.
        replay: The recording of a replayed side.
        of_domain: The name of an agent of the domain.
        faulty: The class that makes the agent's work faulty.
    """

    name: str
    target: Any = None
    replay: Replay | None = None
    of_domain: str | None = None
    faulty: type[FaultyAgent] | None = None

    @property
    def is_foreign(self) -> bool:
        """Return whether the participant's code is neither of this package nor of a domain."""
        built = built_class(self.target)
        built_in = issubclass(built, BuiltIn) if built else isinstance(self.target, BuiltIn)
        return self.target is not None and not built_in

    @property
    def may_call_model(self) -> bool:
        """Return whether the participant may call the model that the run names for its side."""
        return not self.is_foreign or is_program(self.name) or takes_model(self.target)

    def needs_reference(self, domain_agents: Mapping[str, type | str]) -> bool:
        """Return whether the participant declares that it is to be given the whole task, with its reference actions."""
        if self.of_domain and self.of_domain not in domain_agents:
            return False
        target = domain_agent(self.of_domain, domain_agents, self.name) if self.of_domain else self.target
        # Statically: a lookup may run code of the participant.
        return inspect.getattr_static(built_class(target) or target, "needs_reference", False) is True

    @property
    def runs_own_loop(self) -> bool:
        """Return whether the agent calls its model and its tools by itself."""
        return self.target is not None and is_own_loop(built_class(self.target) or self.target)

    def check_endpoint(self) -> None:
        """Check that the model endpoint, which this agent uses, can be opened.

        Raises:
            ConfigurationError: The packages of the extra ``endpoint`` are not installed.
        """
        try:
            load_web()
        except ConfigurationError as error:
            raise ConfigurationError(f"agent {self.name} uses the endpoint of the trial: {error}") from error

    def check_tools(self, patches: Patches | None) -> None:
        """Replace the tools that an agent of one's own calls itself, or check that it is given tools.

        Raises:
            ConfigurationError: A tool cannot be replaced, or the agent could not make a call.
        """
        if self.is_foreign:
            check_tools(self.target, "agent", patches)

    async def make(self, context: ParticipantContext) -> Participant:
        """Make a participant for one simulation.

        Raises:
            ReplayError: The recording lacks the task.
            Exception: Anything that the participant's constructor raises.
        """
        if self.replay is not None:
            return self.replay.participant(context)
        target = domain_agent(self.of_domain, context.domain_agents, self.name) if self.of_domain else self.target
        participant = await adapt(target, context)
        return participant if self.faulty is None else self.faulty(participant, context, _foreign_records(target))


def _foreign_records(agent: Any) -> ForeignRecords:
    """Return the calls, named by a domain's agent, that read records of people whom no conversation is about."""
    return cast("ForeignRecords", getattr(agent, "foreign_records", ()))


def domain_agent(name: str, agents: Mapping[str, type | str], asked: str | None = None) -> Any:
    """Return an agent of a domain, imported now.

    Args:
        name: The agent's name.
        agents: The domain's agents.
        asked: The name that was given, if it is another one: that of a saboteur.

    Raises:
        ConfigurationError: It has no such agent, or it cannot be imported.
    """
    if name not in agents:
        wrapped = f", which {asked!r} wraps" if asked not in (None, name) else ""
        raise ConfigurationError(
            f"agent {name!r}{wrapped}: the domain has no agent of this name; airline, banking_knowledge, retail and "
            "telecom have one"
        )
    target = agents[name]
    return load_object(target, "agent", Path.cwd()) if isinstance(target, str) else target


def load_source(spec: Any, side: Side, folder: Path | None = None) -> ParticipantSource:
    """Load a participant's source from a specification.

    Args:
        spec: A built-in name, ``replay:FILE``, ``module:attribute``, ``path/to/file.py:attribute``, an object that has
            one of the forms of agents and users, or for an agent the URL of an OpenAI-compatible endpoint,
            ``cmd:PROGRAM ARGUMENTS``, or ``a2a:URL``. A source is returned as it is.
        side: The side that it is to play.
        folder: The folder of relative paths; the current folder by default.

    Raises:
        ConfigurationError: It cannot be found, imported, or built.
    """
    if not isinstance(spec, str):
        is_source = isinstance(spec, ParticipantSource)
        return spec if is_source else _of_form(name_of(spec) or type(spec).__name__, spec, side)
    if spec in BUILT_IN[side]:
        return ParticipantSource(spec, BUILT_IN[side][spec])
    folder = folder or Path.cwd()
    if side == "agent" and is_of_domain(spec):
        return _of_domain(spec)
    if spec.startswith("replay:"):
        return ParticipantSource(spec, replay=Replay(folder / spec.removeprefix("replay:")))
    if is_endpoint(spec) or is_program(spec):
        return _outside(spec, side, folder)
    if ":" not in spec:
        if spec.endswith(".py"):
            raise ConfigurationError(f"{side} {spec!r}: expected path/to/file.py:attribute, such as {spec}:Agent")
        known = [
            *BUILT_IN[side],
            *([*sorted(DOMAIN_AGENTS), "saboteur:KIND"] if side == "agent" else []),
            "replay:FILE",
            "module:attribute",
            "path/to/file.py:attribute",
        ]
        known += ["http://…", *PROGRAMS] if side == "agent" else []
        raise ConfigurationError(unknown_name(side, spec, known))
    return _of_form(spec, load_object(spec, side, folder), side)


def _of_form(name: str, target: Any, side: Side) -> ParticipantSource:
    check_form(target, side)
    return ParticipantSource(name, target)


def _outside(spec: str, side: Side, folder: Path) -> ParticipantSource:
    """Return the source of an agent that is outside of this process: a server or a program."""
    name = mask_secrets(spec)
    if is_program(spec):
        if side == "user":
            raise ConfigurationError(f"user {name!r}: only an agent can be a program or a server; use module:attribute")
        return ParticipantSource(name, program_factory(spec, folder))
    if side == "user":
        raise ConfigurationError(f"user {name!r}: only an agent can be a URL; use module:attribute")
    return ParticipantSource(name, EndpointAgent)


def _of_domain(spec: str) -> ParticipantSource:
    if spec in DOMAIN_AGENTS:
        return ParticipantSource(spec, of_domain=spec)
    kind = spec.removeprefix(_FAULTY)
    if kind not in FAULTY_AGENTS:
        raise ConfigurationError(unknown_name("saboteur", kind, FAULTY_AGENTS))
    return ParticipantSource(spec, of_domain="rules", faulty=FAULTY_AGENTS[kind])


def load_object(spec: str, what: str, folder: Path) -> Any:
    """Load the object named by ``module:attribute`` or ``path/to/file.py:attribute``.

    Raises:
        ConfigurationError: It cannot be found or imported.
    """
    if "::" in spec:
        raise ConfigurationError(f"{what} {spec!r}: expected FILE:NAME with one colon: {spec.replace('::', ':')}")
    module_name, _, attribute = spec.rpartition(":")
    if module_name.endswith(".py"):
        path = folder / module_name
        if not path.is_file():
            raise ConfigurationError(f"{what} {spec!r}: no file {path}")
    try:
        module = _import_file(path) if module_name.endswith(".py") else importlib.import_module(module_name)
    except BaseException as error:
        if is_interrupt(error):
            raise
        # A foreign module may raise anything while it is imported.
        raise ConfigurationError(
            f"{what} {spec!r} cannot be imported: {describe(error)}{_missing(error, module_name, folder)}"
        ) from error
    target = module
    for part in attribute.split("."):
        if not hasattr(target, part):
            public = [name for name in dir(module) if not name.startswith("_")]
            raise ConfigurationError(f"{what} {spec!r}: {unknown_name('attribute', attribute, public)}")
        target = getattr(target, part)
    return target


def _missing(error: BaseException, module: str, folder: Path) -> str:
    """Return similar names of a module that is not found; of one that it imports, what to do about that."""
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    if name is None:
        return ""
    if name == module or module.startswith(f"{name}."):
        if (file := _file_of(module, folder)) is not None:
            return f"; it is in {file}: expected {file}:NAME, or the folder in pytest's setting pythonpath"
        package = name.rpartition(".")[0]
        within = sys.modules[package].__path__ if package in sys.modules else [str(folder), *sys.path]
        prefix = f"{package}." if package else ""
        known = [
            f"{prefix}{sibling.name}" for sibling in pkgutil.iter_modules(within) if not sibling.name.startswith("_")
        ]
        return suggestion(name, known)
    if "." in name:
        return ""
    return f"; if {name!r} belongs to a package, install the package into this environment"


def _file_of(module: str, folder: Path) -> str | None:
    """Return the relative path of a module's file in a neighbouring folder, or in one below; None if there is none."""
    if not all(part.isidentifier() for part in module.split(".")):
        return None
    name = f"{module.replace('.', '/')}.py"
    near = (
        path for above in (folder, folder.parent) for pattern in (f"*/{name}", name) for path in above.glob(pattern)
    )
    return next((os.path.relpath(path, folder).replace(os.sep, "/") for path in near), None)


def _import_file(path: Path) -> Any:
    """Import a file and what is next to it, as pytest does for test modules with its import mode ``prepend``.

    A file in a package is imported as a module of the package. Any other file is a module with a name of its own, so
    that two files of one name do not shadow each other.
    """
    path = path.resolve()
    root, package = _import_root(path)
    name = ".".join(package) or f"tau_{path.stem}_{digest(str(path))[:8]}"
    if _comes_from(sys.modules.get(name), path):
        return sys.modules[name]
    if sys.path[:1] != [str(root)]:
        sys.path.insert(0, str(root))
        importlib.invalidate_caches()
    _check_neighbours(path, root)
    if package:
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigurationError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _import_root(path: Path) -> tuple[Path, list[str]]:
    """Return the first folder upwards without ``__init__.py``, and the parts of the module's name in its packages."""
    folder, parts = path.parent, [] if path.stem == "__init__" else [path.stem]
    while (folder / "__init__.py").is_file() and folder.name.isidentifier() and path.stem.isidentifier():
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, parts if folder != path.parent else []


def _check_neighbours(path: Path, root: Path) -> None:
    """Refuse a file that would get a module of another folder instead of the one that is next to it."""
    names = [name.partition(".")[0] for name in imported_names(path)]
    for name in dict.fromkeys([path.relative_to(root).parts[0], *names]):
        places = (root / name / "__init__.py", root / f"{name}.py")
        here = next((place for place in places if place.is_file()), None)
        loaded = sys.modules.get(name)
        if here is None or loaded is None or name in sys.stdlib_module_names or _comes_from(loaded, here):
            continue
        raise ConfigurationError(
            f"{name!r} is {here}, but a module of this name was imported from {getattr(loaded, '__file__', None)}; "
            "give one of them another name"
        )


def _comes_from(module: Any, file: Path) -> bool:
    loaded = getattr(module, "__file__", None)
    return loaded is not None and Path(loaded).resolve() == file
