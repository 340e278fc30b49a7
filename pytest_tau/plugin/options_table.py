"""The table of options: everything that is known of an option, but for the code that uses its value.

An option of the core with a plain value is a row here and the line that uses it. If ``run.json`` is to record it, it is
a field of ``RunConfig`` and a line of ``store.manifest.recorded_settings`` too. What other packages state of options is
kept equal to this table by ``tests/architecture/test_options_table.py``. An option of a capability is a field of its
settings.
"""

from __future__ import annotations

from pathlib import Path

from ..settings import Option, flag, integer, names, real, text, texts
from .option_types import (
    difficulty,
    fork_restore,
    fork_turns,
    group_names,
    json_object,
    markdown_file,
    model_arguments,
    model_name,
    outcome_names,
    persona,
    provider_limits,
    run_name,
    shard,
    user_fault,
)

#: The most trials of a task.
MOST_TRIALS = 10_000
#: The most tasks of ``--tau-generate``, which are all in memory.
MOST_GENERATED = 100_000
#: Examples in a prompt.
MOST_EXAMPLES = 100
#: Retries of a model call.
MOST_RETRIES = 1000

# Formatted by hand: a row is what the option is, and below it the help.
# fmt: off
_ROWS = (
    Option("domain", names, "selection", "NAME", default=(), repeat=True, rerun=1, recorded_as="domains",
           help="run this domain's tasks; may be repeated, or a comma-separated list"),
    Option("data", Path, "content", "DIR", path=True, rerun=1,
           help="folder with τ²-bench's data, laid out like its data/tau2, or a checkout of it (default: $TAU_DATA, or "
                "the bundled data)"),
    Option("protocol", text, "verdict", "NAME", default="tau", choices=("tau", "tau2"), rerun=1,
           help="what models are sent: tau, the texts and messages of this package (default), or tau2, those of "
                "τ²-bench, read from the checkout of --tau-data or from --tau-texts"),
    Option("texts", Path, "content", "FILE", path=True, rerun=1,
           help="official texts for --tau-protocol tau2: a file that 'tau texts CHECKOUT -o FILE' has written"),
    Option("split", text, "selection", "NAME", selects=True,
           help="run this split of a domain's tasks (default: base)"),
    Option("task", texts, "selection", "GLOB", default=(), repeat=True, selects=True, recorded_as="tasks",
           help="run only tasks whose id is or matches this glob; may be repeated"),
    Option("generate", integer(1, MOST_GENERATED), "selection", "N", selects=True, rerun=1,
           help="generate N tasks for each domain from --tau-seed and run these instead of the domain's own"),
    Option("difficulty", difficulty, "selection", "NAME=N,…", rerun=1,
           help="difficulty of generated tasks: requests=2,faults=3,distractors=1 (default: requests=1)"),
    Option("num-tasks", integer(1), "selection", "N", selects=True,
           help="run at most this many tasks of each domain, file or marked test"),
    Option("trials", integer(1, MOST_TRIALS), "selection", "K", default=1, selects=True,
           help="repetitions of each task (default: %(default)s)"),
    Option("shard", shard, "selection", "I/N", selects=True,
           help="run one part of the trials, for a CI matrix: 2/4 is the second part of four"),
    Option("seed", integer(), "verdict", "N", default=300, rerun=1,
           help="seed of the run, from which each trial's seed follows (default: %(default)s)"),
    Option("agent", text, "verdict", "SPEC", rerun=1,
           help="llm, llm-solo, act, react, few-shot, gold, noop, human, rules, saboteur:KIND, replay:FILE, "
                "module:attribute, file.py:attribute, URL, 'cmd:PROGRAM ARGUMENTS' or a2a:URL"),
    Option("user", text, "verdict", "SPEC", rerun=1,
           help="llm, react, verify, reflection, scripted, gold, noop, human, replay:FILE, module:attribute … "
                "(default: depends on the agent)"),
    Option("solo", flag, "verdict", default=False, rerun=1,
           help="run the agent without a user: it works from the task's ticket and has the tools of both sides"),
    Option("policy", text, "verdict", "NAME", rerun=1,
           help="variant of the domain's policy (default: the domain's first)"),
    Option("retrieval", text, "verdict", "NAME", rerun=1,
           help="how the agent accesses the documents of the domain's knowledge base: bm25, grep, full_kb, "
                "golden_retrieval, no_knowledge … (default: depends on the domain)"),
    Option("retrieval-args", json_object, "verdict", "JSON", default={}, rerun=1,
           help='arguments of --tau-retrieval, such as {"top_k": 5}'),
    Option("enforce-protocol", flag, "verdict", default=False, rerun=1,
           help="a message with both text and tool calls is an error of its sender: a failure of the agent, an error "
                "of the user"),
    Option("user-persona", persona, "verdict", "PERSONA", rerun=1, example="verbosity=minimal",
           help="how simulated users behave, as JSON or KEY=VALUE: verbosity=standard or minimal, "
                "interrupt_tendency=waits or interrupts, behaviour=impatient, tangential, contradicting, incomplete, "
                "mistaken, pressing, claiming-authority or cooperative; with weights, drawn by the trial's seed: "
                "verbosity=minimal:0.8,standard:0.2"),
    Option("attack", names, "selection", "NAME", default=(), repeat=True, rerun=1,
           help="run each task also under this attack by a text in tool results, such as important-message; may be "
                "repeated, a comma-separated list, or all"),
    Option("attack-only", flag, "selection", default=False,
           help="with --tau-attack, do not run the tasks without an attack as well"),
    Option("program-env", names, "verdict", "NAMES", default=(), repeat=True, rerun=1, example="SHOP_URL",
           help="environment variables that an agent 'cmd:PROGRAM' is given in addition to those that it needs to run; "
                "a comma-separated list, or repeated"),
    Option("user-fault", user_fault, "verdict", "WHAT", rerun=1, example="exclude",
           help="trials in which the simulated user makes a fault: count (default) only reports them, exclude excludes "
                "them from rates, rerun[:N] runs such a trial again, up to N times (1)"),
    Option("judge", text, "verdict", "SPEC", rerun=1,
           help="judge for NL assertions: llm, module:attribute, or accept or reject for the same verdict on every "
                "statement"),
    Option("agent-llm", model_name, "verdict", "MODEL", rerun=2,
           help="the agent's model, by its litellm name: openai/gpt-4.1 (needs pytest-tau[llm]; pytest-tau[endpoint] "
                "is enough for servers with OpenAI's API)"),
    Option("agent-llm-args", model_arguments, "verdict", "JSON", default={}, rerun=2,
           help='arguments of its calls, over {"temperature": 0.0}; null removes one'),
    Option("user-llm", model_name, "verdict", "MODEL", rerun=2,
           help="the simulated user's model"),
    Option("user-llm-args", model_arguments, "verdict", "JSON", default={}, rerun=2,
           help='arguments of its calls, over {"temperature": 0.0}; null removes one'),
    Option("judge-llm", model_name, "verdict", "MODEL", rerun=2,
           help="the judge's model"),
    Option("judge-llm-args", model_arguments, "verdict", "JSON", default={}, rerun=2,
           help='arguments of its calls, over {"temperature": 0.0}; null removes one'),
    Option("review", text, "speed", "WHICH", choices=("failed", "all"), bare="failed", rerun=2,
           help="have a model review trials after their verdict, which it does not change: failed (default), or all"),
    Option("review-mode", text, "speed", "MODE", default="full", choices=("full", "user"), rerun=2,
           help="full (default), or user: a review of the user alone, by a reviewer that sees neither policy nor "
                "reference nor the agent's calls"),
    Option("reviewer", text, "speed", "SPEC", rerun=2,
           help="reviewer: llm (default), or a function or an object of your own: module:attribute, file.py:attribute"),
    Option("reviewer-llm", model_name, "speed", "MODEL", rerun=2,
           help="the reviewer's model (default: the judge's)"),
    Option("reviewer-llm-args", model_arguments, "speed", "JSON", default={}, rerun=2,
           help='arguments of its calls, over {"temperature": 0.0}; null removes one'),
    Option("agent-prompt", Path, "content", "FILE", path=True, rerun=2,
           help="template of the agent's system message, with {{policy}} in it"),
    Option("user-prompt", Path, "content", "FILE", path=True, rerun=2,
           help="template of the user's system message, with {{scenario}} in it"),
    Option("agent-context", integer(1), "verdict", "TOKENS", rerun=2,
           help="maximum tokens in a request; the oldest messages are dropped to fit"),
    Option("agent-tool-calls", text, "verdict", "HOW", default="native", choices=("native", "text"), rerun=2,
           help="how the agent's model calls tools: %(default)s (default), or text for a model without function "
                "calling"),
    Option("user-tool-calls", text, "verdict", "HOW", default="native", choices=("native", "text"), rerun=2,
           help="how the user's model calls tools: %(default)s (default), or text for a model without function "
                "calling"),
    Option("agent-one-call", flag, "verdict", default=False, rerun=2,
           help="make only the first tool call of a message of the agent, as τ-bench does"),
    Option("agent-text-protocol", text, "verdict", "HOW", default="tolerant", choices=("tolerant", "tau1"), rerun=2,
           help="how actions of the agents act and react are read: %(default)s (default), or tau1 for τ-bench's rules"),
    Option("agent-examples", Path, "verdict", "FILE", path=True, rerun=2,
           help="examples of the agent few-shot: JSON lines, or a stored run"),
    Option("agent-num-examples", integer(1, MOST_EXAMPLES), "verdict", "N", default=5, rerun=2,
           help="number of examples in a prompt, drawn by the trial's seed (default: %(default)s)"),
    Option("user-attempts", integer(1, MOST_RETRIES), "verdict", "N", rerun=2,
           help="maximum number of attempts of a message of the users verify (default: 3) and reflection (default: 2)"),
    Option("concurrency", integer(1), "speed", "N",
           help="maximum number of concurrent conversations in one process (default: 8 with a model, else 1)"),
    Option("llm-timeout", real(0.001), "speed", "SECONDS", default=600.0,
           help="timeout of one attempt of a model call, in seconds (default: %(default)s)"),
    Option("llm-concurrency", integer(1), "speed", "N", default=20,
           help="maximum number of concurrent calls to one model (default: %(default)s)"),
    Option("provider-limit", provider_limits, "speed", "NAME=N,…", default={},
           help="maximum number of concurrent calls to all models of a provider, such as openai=40,gemini=20"),
    Option("llm-retries", integer(0, MOST_RETRIES), "speed", "N", default=7,
           help="maximum number of retries of a model call that meets a temporary fault (default: %(default)s)"),
    Option("llm-retry-delay", real(0), "speed", "SECONDS", default=0.5,
           help="delay before the first retry of a model call, in seconds; it doubles with each further retry, up to "
                "60 (default: %(default)s)"),
    Option("prompt-cache", flag, "speed", default=False,
           help="have Anthropic's models keep the system message, the tools and the conversation in their prompt "
                "cache"),
    Option("client", text, "speed", "CLIENT", choices=("auto", "litellm"), example="litellm", default="auto",
           help="client of model calls: auto (default), which calls servers with OpenAI's API without litellm if "
                "litellm would send them the same, or litellm"),
    Option("record", text, "calls", "WHAT", choices=("missing", "all"), example="all", bare="missing",
           recorded_as="tape",
           help="record model calls: missing (default), only if there is no cassette, or all"),
    Option("replay", flag, "calls", default=False, rerun=5, recorded_as="tape",
           help="answer model calls from cassettes, without network access"),
    Option("cassettes", Path, "calls", "DIR", path=True, rerun=4,
           help="folder of the cassettes, or a URL from which they are read (default: cassettes/ in the folder of the "
                "test file)"),
    Option("budget", real(0), "speed", "USD",
           help="make no more model calls once they have cost this much; trials that were not finished are reported "
                "as not run"),
    Option("trial-budget", real(0), "speed", "USD",
           help="make no more model calls in a trial once they have cost this much; the trial ends with an error"),
    Option("prices", Path, "speed", "FILE", path=True,
           help="TOML file with the prices of models: input, cached and output, in USD per million tokens"),
    Option("dry-run", flag, "session", default=False,
           help="only show what would run, with the estimated number and cost of model calls"),
    Option("results", text, "output", "DIR", path=True,
           help="folder in which each run is stored in a subfolder (default: .tau/runs), or a URL such as "
                "s3://bucket/runs (needs pytest-tau[store]); none to store nothing"),
    Option("run-name", run_name, "output", "NAME",
           help="name of the run's folder (default: date, time, process and domains)"),
    Option("log", Path, "output", "DIR", path=True,
           help="write a log of each trial into a subfolder: its messages, model calls and end"),
    Option("resume", text, "session", "DIR", bare="latest", path=True,
           help="resume an earlier run, the latest or DIR: run what is missing and reuse its other trials"),
    Option("rerun", outcome_names, "session", "OUTCOMES", default=frozenset(),
           help="with --tau-resume, run trials with these outcomes again: failed, error or failed,error"),
    Option("fork", text, "session", "RUN", path=True, rerun=1,
           help="continue conversations of this stored run from a message on, instead of beginning new ones; the model "
                "calls before it are not repeated"),
    Option("fork-turn", fork_turns, "session", "TURNS", example="each", rerun=1,
           help="with --tau-fork, the messages from which it is continued, by their numbers in tau show: 7, 7,11 or "
                "7-15 (those of the agent in this range), or each, every message of the agent (default: each)"),
    Option("fork-trial", integer(0), "session", "N", rerun=1,
           help="with --tau-fork, the stored trial that is continued (default: the first failed one, else the first)"),
    Option("fork-restore", fork_restore, "session", "HOW", default={}, example="agent=replay", rerun=1,
           help="with --tau-fork, how a side gets the messages so far: history (it is created with them), or replay "
                "(it is sent them again), such as agent=replay (default: replay for sides without a model)"),
    Option("snapshot", text, "session", "WHAT", choices=("calls", "messages"), bare="calls",
           help="compare each passed task with its stored trajectory: calls or messages"),
    Option("grading", text, "verdict", "PROFILE", default="official", choices=("official", "strict"), rerun=1,
           help="grading rules: %(default)s (default), or strict"),
    Option("group-by", group_names, "output", "NAME", default=(), repeat=True,
           help="add summaries by intent, persona, actions (number of reference actions) or tags; comma-separated"),
    Option("partial", flag, "output", default=False,
           help="show partial credit, such as the share of reference actions that were made, in the summary and in "
                "failure reports"),
    Option("policy-rules", text, "output", "WHEN", default="on", choices=("on", "off"),
           help="check the rules of the domain's policy in each conversation: %(default)s (default) or off; the reward "
                "does not depend on it"),
    Option("summary", markdown_file, "output", "markdown[:FILE]",
           help="write a summary for CI: markdown (to $GITHUB_STEP_SUMMARY if set, else printed), or markdown:FILE"),
    Option("html", Path, "output", "FILE", path=True,
           help="write an HTML report of the run: one file that needs no network"),
    Option("gate", texts, "session", "EXPR", default=(), repeat=True,
           help="fail the run if this condition is not met, and not for single trials: [domain:]metric OP value, such "
                "as 'pass^1>=0.8', 'retail:errors<=0.02'; may be repeated"),
    Option("baseline", text, "session", "RUN", path=True,
           help="compare with this run task by task: a folder, a name below .tau/runs, or baseline"),
    Option("fail-on", text, "session", "WHAT", choices=("regression",),
           help="regression: fail the run for a significant loss against --tau-baseline, and not for single trials"),
    Option("max-steps", integer(1), "verdict", "N", default=200, rerun=3,
           help="maximum number of steps of a conversation (default: %(default)s)"),
    Option("max-errors", integer(1), "verdict", "N", default=10, rerun=3,
           help="maximum number of failed tool calls in a conversation (default: %(default)s)"),
    Option("timeout", real(0), "verdict", "SECONDS", rerun=3,
           help="timeout of a conversation, in seconds; 0 for none (default: none; 1800 without the time of its model "
                "calls if the agent or the user is not built in)"),
)
# fmt: on

#: Every option by its key, in the order of ``--help``. Defaults that ``RunConfig`` has as well are literals here,
#: because this module is imported in every run of pytest and the runner takes half a second.
OPTIONS = {row.key: row for row in _ROWS}
