"""The settings of a run that a trial depends on: each field is an option, its ini key and what is known of it.

``RunConfig`` and ``SimulationSettings`` have the fields of these classes; the others are what their further fields are
made of. Every run of pytest imports this package for ``--help``, so that it imports nothing heavy. Settings that only
reports depend on are in ``pytest_tau.plugin.options_table``; those of a capability are in its folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..settings import (
    Affects,
    Option,
    declared,
    flag,
    integer,
    json_object,
    model_arguments,
    model_name,
    names,
    option,
    options_of,
    real,
    text,
    texts,
)
from .types import difficulty, persona, provider_limits, shard

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..environment import Difficulty

#: Concurrent conversations if a model is called, and if none is.
DEFAULT_CONCURRENCY = (8, 1)
#: Seconds after which a conversation with a participant of the user's own is cut off, without its model calls, so that
#: an agent that hangs ends its trial. Each model call has a limit of its own.
DEFAULT_TIMEOUT = 1800.0
#: The most trials of a task.
MOST_TRIALS = 10_000
#: The most tasks of ``--tau-generate``, which are all in memory.
_MOST_GENERATED = 100_000
_MOST_EXAMPLES = 100
_MOST_RETRIES = 1000

_MODEL_ARGUMENTS = 'arguments of its calls, over {"temperature": 0.0}; null removes one'

# Formatted by hand: a field is what the option is, and below it the help.
# fmt: off

@declared(frozen=True, kw_only=True)
class SelectionSettings:
    """Which tasks and trials are run."""

    domains: tuple[str, ...] = option(names, "selection", "NAME", name="domain", default=(), repeat=True,
        common=True, recorded_as="domains",
        help="run this domain's tasks; may be repeated, or a comma-separated list")
    split: str | None = option(text, "selection", "NAME", selects=True, rerun=0,
        help="run this split of a domain's tasks (default: base)")
    task_patterns: tuple[str, ...] = option(texts, "selection", "GLOB", name="task", default=(), repeat=True,
        selects=True, common=True, rerun=0, recorded_as="tasks",
        help="run only tasks whose id is or matches this glob; may be repeated")
    generate: int | None = option(integer(1, _MOST_GENERATED), "selection", "N", selects=True,
        help="generate N tasks for each domain from --tau-seed and run these instead of the domain's own")
    difficulty: Difficulty | None = option(difficulty, "selection", "NAME=N,…",
        help="difficulty of generated tasks: requests=2,faults=3,distractors=1 (default: requests=1)")
    num_tasks: int | None = option(integer(1), "selection", "N", selects=True, common=True, rerun=0,
        help="run at most this many tasks of each domain, file or marked test")
    trials: int = option(integer(1, MOST_TRIALS), "selection", "K", default=1, selects=True, common=True, rerun=0,
        stated=True,
        help="repetitions of each task (default: %(default)s)")
    shard: tuple[int, int] | None = option(shard, "selection", "I/N", selects=True, rerun=0,
        help="run one part of the trials, for a CI matrix: 2/4 is the second part of four; auto for the part that the "
             "environment names, such as TAU_SHARD_INDEX and TAU_SHARD_TOTAL")
    seed: int = option(integer(), "verdict", "N", default=300, stated=True,
        help="seed of the run, from which each trial's seed follows (default: %(default)s)")
    concurrency: int | None = option(integer(1), "speed", "N", rerun=0,
        help="maximum number of concurrent conversations in one process (default: "
             f"{DEFAULT_CONCURRENCY[0]} with a model, else {DEFAULT_CONCURRENCY[1]})")


@declared(frozen=True, kw_only=True)
class ParticipantSettings:
    """Who plays the sides, and who judges."""

    agent: Any = option(text, "agent", "SPEC", common=True,
        help="llm, llm-solo, act, react, few-shot, gold, noop, human, rules, saboteur:KIND, replay:FILE, "
             "module:attribute, file.py:attribute, URL, 'cmd:PROGRAM ARGUMENTS', 'stdio:PROGRAM ARGUMENTS' or a2a:URL")
    user: Any = option(text, "verdict", "SPEC", common=True,
        help="llm, react, verify, reflection, scripted, gold, noop, human, replay:FILE, module:attribute … "
             "(default: depends on the agent)")
    judge: str | None = option(text, "verdict", "SPEC",
        help="judge for NL assertions: llm, module:attribute, or accept or reject for the same verdict on every "
             "statement")


@declared(frozen=True, kw_only=True)
class ConversationSettings:
    """The rules of a conversation, whoever the participants are."""

    solo: bool = option(flag, "verdict", default=False,
        help="run the agent without a user: it works from the task's ticket and has the tools of both sides")
    policy: str | None = option(text, "verdict", "NAME", name="policy-variant",
        help="variant of the domain's policy (default: the domain's first)")
    enforce_protocol: bool = option(flag, "verdict", default=False,
        help="a message with both text and tool calls is an error of its sender: a failure of the agent, an error "
             "of the user")
    user_persona: Mapping[str, Mapping[str, float]] = option(persona, "verdict", "PERSONA", default={},
        example="verbosity=minimal",
        help="how simulated users behave, as JSON or KEY=VALUE: verbosity=standard or minimal, behaviour=impatient, "
             "tangential, contradicting, incomplete, mistaken, pressing, claiming-authority or cooperative; with "
             "weights, drawn by the trial's seed: verbosity=minimal:0.8,standard:0.2")
    program_env: tuple[str, ...] = option(names, "verdict", "NAMES", default=(), repeat=True, example="SHOP_URL",
        help="environment variables that an agent 'cmd:PROGRAM' or 'stdio:PROGRAM' is given in addition to those that "
             "it needs to run; a comma-separated list, or repeated")


@declared(frozen=True)
class Limits:
    """The limits of a conversation.

    Attributes:
        max_steps: Steps: deliveries of a message, or of a message's tool results, to the agent, the user or the
            environment.
        max_errors: Failed tool calls over the whole conversation, of both sides.
        timeout: Wall-clock seconds; 0 for no limit, None for that of a participant that is not built in.

    Source: τ²-bench v1.0.1, run defaults (it has no timeout by default).
    """

    max_steps: int = option(integer(1), "verdict", "N", default=200, rerun=3, stated=True,
        help="maximum number of steps of a conversation (default: %(default)s)")
    max_errors: int = option(integer(1), "verdict", "N", default=10, rerun=3, stated=True,
        help="maximum number of failed tool calls in a conversation (default: %(default)s)")
    timeout: float | None = option(real(0), "verdict", "SECONDS", rerun=3,
        help=f"timeout of a conversation, in seconds; 0 for none (default: none; {DEFAULT_TIMEOUT:g} without the time "
             "of its model calls if the agent or the user is not built in)")

    @property
    def seconds(self) -> float | None:
        """Return the wall-clock seconds of a conversation between built-in participants; None for no limit."""
        return self.timeout or None


@declared(frozen=True, kw_only=True)
class DomainSettings:
    """Data and texts of domains, and the grading."""

    data: Path | None = option(Path, "content", "DIR", path=True,
        help="folder with τ²-bench's data, laid out like its data/tau2, or a checkout of it (default: $TAU_DATA, or "
             "the bundled data)")
    protocol: Literal["tau", "tau2"] = option(text, "verdict", "NAME", default="tau", choices=("tau", "tau2"),
        help="what models are sent: tau, the texts of this package (default), or tau2, those of τ²-bench, from "
             "--tau-data or --tau-texts")
    texts: Path | None = option(Path, "content", "FILE", path=True,
        help="official texts for --tau-protocol tau2: a file that 'tau texts CHECKOUT -o FILE' has written")
    agent_retrieval: str | None = option(text, "verdict", "NAME",
        help="how the agent accesses the documents of the domain's knowledge base: bm25, grep, full_kb, "
             "golden_retrieval, no_knowledge … (default: depends on the domain)")
    agent_retrieval_args: Mapping[str, Any] = option(json_object, "verdict", "JSON", default={},
        help='arguments of --tau-agent-retrieval, such as {"top_k": 5}')
    grading: Literal["official", "strict"] = option(text, "verdict", "PROFILE", default="official", stated=True,
        choices=("official", "strict"),
        help="grading rules: %(default)s (default), or strict")


@declared(frozen=True, kw_only=True)
class PromptingSettings:
    """How models are made to play a side."""

    agent_prompt: Path | None = option(Path, "content", "FILE", path=True, rerun=2,
        help="template of the agent's system message, with {{policy}} in it")
    user_prompt: Path | None = option(Path, "content", "FILE", path=True, rerun=2,
        help="template of the user's system message, with {{scenario}} in it")
    agent_context: int | None = option(integer(1), "verdict", "TOKENS", rerun=2,
        help="maximum tokens in a request; the oldest messages are dropped to fit")
    agent_tool_calls: Literal["native", "text"] = option(text, "verdict", "HOW", default="native",
        choices=("native", "text"), rerun=2,
        help="how the agent's model calls tools: %(default)s (default), or text for a model without function calling")
    user_tool_calls: Literal["native", "text"] = option(text, "verdict", "HOW", default="native",
        choices=("native", "text"), rerun=2,
        help="how the user's model calls tools: %(default)s (default), or text for a model without function calling")
    agent_one_call: bool = option(flag, "verdict", default=False, rerun=2,
        help="make only the first tool call of a message of the agent, as τ-bench does")
    agent_text_protocol: Literal["tolerant", "tau1"] = option(text, "verdict", "HOW", default="tolerant",
        choices=("tolerant", "tau1"), rerun=2,
        help="how actions of the agents act and react are read: %(default)s (default), or tau1 for τ-bench's rules")
    agent_examples: Path | None = option(Path, "verdict", "FILE", path=True, rerun=2,
        help="examples of the agent few-shot: JSON lines, or a stored run")
    agent_num_examples: int = option(integer(1, _MOST_EXAMPLES), "verdict", "N", default=5, rerun=2,
        help="number of examples in a prompt, drawn by the trial's seed (default: %(default)s)")
    user_attempts: int | None = option(integer(1, _MOST_RETRIES), "verdict", "N", rerun=2,
        help="maximum number of attempts of a message of the users verify (default: 3) and reflection (default: 2)")


@declared(frozen=True, kw_only=True)
class ModelNames:
    """The models of the roles, and where their answers come from."""

    agent_llm: str | None = option(model_name, "agent", "MODEL", common=True, rerun=2,
        help="the agent's model, by its litellm name: openai/gpt-4.1 (needs pytest-tau[llm]; pytest-tau[endpoint] "
             "is enough for servers with OpenAI's API)")
    agent_llm_args: Mapping[str, Any] = option(model_arguments, "verdict", "JSON", default={}, rerun=2,
        help=_MODEL_ARGUMENTS)
    user_llm: str | None = option(model_name, "verdict", "MODEL", common=True, rerun=2,
        help="the simulated user's model")
    user_llm_args: Mapping[str, Any] = option(model_arguments, "verdict", "JSON", default={}, rerun=2,
        help=_MODEL_ARGUMENTS)
    judge_llm: str | None = option(model_name, "verdict", "MODEL", common=True, rerun=2,
        help="the judge's model")
    judge_llm_args: Mapping[str, Any] = option(model_arguments, "verdict", "JSON", default={}, rerun=2,
        help=_MODEL_ARGUMENTS)
    record: Literal["missing", "all"] | None = option(text, "calls", "WHAT", choices=("missing", "all"),
        example="all", bare="missing", common=True, rerun=0, recorded_as="tape",
        help="record model calls: missing (default), only if there is no cassette, or all")
    replay: bool = option(flag, "calls", default=False, common=True, rerun=5, recorded_as="tape",
        help="answer model calls from cassettes, without network access")


@declared(frozen=True, kw_only=True)
class CallSettings:
    """How models are called."""

    cassettes: Path | None = option(Path, "calls", "DIR", path=True, rerun=4,
        help="folder of the cassettes, or a URL from which they are read (default: cassettes/ in the folder of the "
             "test file)")
    timeout: float = option(real(0.001), "speed", "SECONDS", name="llm-timeout", default=600.0, rerun=0,
        help="timeout of one attempt of a model call, in seconds (default: %(default)s)")
    max_in_flight: int = option(integer(1), "speed", "N", name="llm-concurrency", default=20, rerun=0,
        help="maximum number of concurrent calls to one model (default: %(default)s)")
    per_provider: Mapping[str, int] = option(provider_limits, "speed", "NAME=N,…", name="provider-limit", default={},
        rerun=0,
        help="maximum number of concurrent calls to all models of a provider, such as openai=40,gemini=20")
    retries: int = option(integer(0, _MOST_RETRIES), "speed", "N", name="llm-retries", default=7, rerun=0,
        help="maximum number of retries of a model call that meets a temporary fault (default: %(default)s)")
    first_wait: float = option(real(0), "speed", "SECONDS", name="llm-retry-delay", default=0.5, rerun=0,
        help="delay before the first retry of a model call, in seconds; it doubles with each further retry, up to "
             "60 (default: %(default)s)")
    prompt_cache: bool = option(flag, "speed", default=False, rerun=0,
        help="have Anthropic's models keep the system message, the tools and the conversation in their prompt cache")
    client: Literal["auto", "litellm"] = option(text, "speed", "CLIENT", choices=("auto", "litellm"),
        example="litellm", default="auto", rerun=0,
        help="client of model calls: auto (default), which calls servers with OpenAI's API without litellm if "
             "litellm would send them the same, or litellm")
    budget: float | None = option(real(0), "speed", "USD", common=True, rerun=0,
        help="make no more model calls once they have cost this much; trials that were not finished are reported "
             "as not run")
    budget_per_trial: float | None = option(real(0), "speed", "USD", rerun=0,
        help="make no more model calls in a trial once they have cost this much; the trial ends with an error")
    price_file: Path | None = option(Path, "speed", "FILE", name="prices", path=True, rerun=0,
        help="TOML file with the prices of models: input, cached and output, in USD per million tokens")

# fmt: on

#: The groups of ``tau options``, each with the classes whose options it has.
GROUPS: dict[str, tuple[type, ...]] = {
    "selection": (SelectionSettings,),
    "conversations": (ParticipantSettings, ConversationSettings, DomainSettings, PromptingSettings, Limits),
    "models": (ModelNames, CallSettings),
}


def run_options() -> Iterator[Option]:
    """Yield the options that a trial depends on."""
    for kinds in GROUPS.values():
        for kind in kinds:
            yield from options_of(kind)


def settings_that_affect(*what: Affects) -> frozenset[str]:
    """Return the keys of ``run.json`` of the options that affect one of these things."""
    return frozenset(option.setting for option in run_options() if option.affects in what)
