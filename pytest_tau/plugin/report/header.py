"""The lines of the header: what runs, and with which settings."""

from __future__ import annotations

from collections import Counter
from types import ModuleType
from typing import TYPE_CHECKING

from ...settings import stated
from ...text import plural, printable
from ..context.run_state import get_context, run_state
from ..items import spec_of
from ..makers import SIDES, named_participant, participant_of
from ..options import excluded_tests, named_domains, task_files_given

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import pytest

    from ...participants import Side
    from ...runner import RunConfig
    from ..context.run_context import RunContext

#: Labels of settings that the header shows in words of its own.
_SHOWN_APART = ("user persona", "agent retrieval")


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Show what runs: domain, data, participants and models, with the defaults of what is not given."""
    context = get_context(config)
    if context is None:
        return []
    undecided = is_undecided(config, context)
    if undecided and not config.pluginmanager.has_plugin("dsession"):
        return []  # xdist's controller reports no items after collection
    state = run_state(config)
    state.header_shown = True
    domains = () if state.excluded else context.config.domains
    lines = _settings_lines(config, context, {}, domains=domains, participants=not undecided)
    lines += [f"tau: {note}"] if (note := excluded_tests(config)) else []
    return list(map(printable, lines))


def pytest_report_collectionfinish(config: pytest.Config, items: Sequence[pytest.Item]) -> list[str]:
    """Show what runs, if only collection has found out that there are tasks; and what only the items know."""
    context = get_context(config)
    if context is None or config.get_verbosity() < 0:
        return []
    lines = _lines_of_items(config, context, items)
    return list(map(printable, lines + unread_lines(items)))


def unread_lines(items: Sequence[pytest.Item]) -> list[str]:
    """Return a line if the prose of tasks wants what their scripted user does not go by; none if there is none."""
    from ...participants import unread_prose

    specs = (spec for item in items if (spec := spec_of(item)) and participant_of("user", item) == "scripted")
    tasks = {(spec.domain.name, spec.task.id): spec.task for spec in specs}
    unread = [len(sentences_unread) for task in tasks.values() if (sentences_unread := unread_prose(task))]
    if not unread:
        return []
    sentences = f"{plural(sum(unread), 'sentence')} in the prose of {len(unread)} of {plural(len(tasks), 'task')}"
    domains = " ".join(sorted({domain for domain, _ in tasks}))
    return [f"tau: the scripted user does not go by {sentences}: tau lint {domains} --scripted-user lists them"]


def _lines_of_items(config: pytest.Config, context: RunContext, items: Sequence[pytest.Item]) -> list[str]:
    """Return what the header could not state before the items were known."""
    chosen = chosen_participants(items)
    domains = {spec.domain.name for item in items if (spec := spec_of(item)) is not None}
    if run_state(config).header_shown:
        return participant_lines(context, chosen)
    if len(chosen) > 1:
        is_named = tuple(str(named_participant(side, context.config)) for side in SIDES) in chosen
        participants = is_named or not _may_make_agents(config, context)
        lines = _settings_lines(config, context, {}, domains=domains, participants=participants)
        return lines + participant_lines(context, chosen)
    makers = dict(zip(SIDES, next(iter(chosen), ()), strict=False))
    # Without trials, as after an error of collection, the agent of a test is not known.
    participants = bool(chosen) or not is_undecided(config, context)
    return _settings_lines(config, context, makers, domains=domains, participants=participants)


def is_undecided(config: pytest.Config, context: RunContext) -> bool:
    """Return whether only the collected tests know the agent: none is named, and one of them may make its own."""
    selected = run_state(config).selection or task_files_given(config)
    by_default = context.config.agent is None and context.config.agent_spec == "gold"
    return _may_make_agents(config, context) or (by_default and not selected)


def _may_make_agents(config: pytest.Config, context: RunContext) -> bool:
    """Return whether a plugin or a conftest.py may make the agent, as none is named; for which tests, they know."""
    if context.config.agent is not None:
        return False
    modules = (plugin for plugin in config.pluginmanager.get_plugins() if isinstance(plugin, ModuleType))
    overridden = any(
        "tau_agent" in vars(module) and not module.__name__.startswith("pytest_tau.") for module in modules
    )
    return overridden or len(config.hook.pytest_tau_make_agent.get_hookimpls()) > 1


def chosen_participants(items: Sequence[pytest.Item]) -> Counter[tuple[str, ...]]:
    """Return the number of trials for each pair of agent and user, as they are made or named."""
    trials = (item for item in items if spec_of(item) is not None)
    return Counter(tuple(participant_of(side, item) for side in SIDES) for item in trials)


def participant_lines(context: RunContext, chosen: Mapping[tuple[str, ...], int], *, header: bool = True) -> list[str]:
    """Return a line for each pair of agent and user that is not the one that the settings name.

    Args:
        context: The context of the run's trials.
        chosen: The number of trials of each pair.
        header: Whether the header has shown the pair that the settings name; else it has a line, too.
    """
    named_pair = tuple(str(named_participant(side, context.config)) for side in SIDES) if header else None
    return [
        f"tau: {plural(number, 'trial')}: agent {agent}, user {user}"
        for (agent, user), number in chosen.items()
        if (agent, user) != named_pair
    ]


def _has_bundled(context: RunContext, domains: Collection[str]) -> bool:
    """Return whether the data of a domain may be the bundled data: not if plugins of the project provide them all."""
    own_domains = context.domain_specs
    return any(name not in own_domains for name in domains) if domains else not own_domains


def _retrieval(context: RunContext, domains: Collection[str]) -> list[str]:
    """Return the retrieval variant, if a domain of the run has a knowledge base."""
    settings = context.config.simulation
    variants = [context.domain(name).retriever(settings.policy, settings.retrieval) for name in domains]
    names = list(dict.fromkeys(variant.name for variant in variants if variant))
    return [f"retrieval {', '.join(names)}"] if names else []


def _settings_lines(
    config: pytest.Config,
    context: RunContext,
    made: Mapping[Side, str],
    *,
    domains: Collection[str],
    participants: bool = True,
) -> list[str]:
    """Return the settings.

    Args:
        config: pytest's configuration.
        context: The context of the run's trials.
        made: The participants of all trials, if they are known, and alike.
        domains: The names of the domains of the trials; empty if they are not known.
        participants: Show the named or default participants whose names are not known.
    """
    from ...participants.personas import persona_line

    run = context.config
    others = {side for side, name in made.items() if name != str(named_participant(side, context.config))}
    parts = [f"seed {run.seed}"]
    if named_domains(config):
        parts.insert(0, f"domain {', '.join(run.domains)}")
    parts += [f"data {run.data_dir}"] if run.data_dir else ["bundled data"] if _has_bundled(context, domains) else []
    parts += _participants(context, made, others) if participants else []
    parts += [f"policy {run.simulation.policy}"] if run.simulation.policy else []
    parts += [f"protocol {run.simulation.protocol.name}"] if run.simulation.protocol.is_official else []
    parts += _retrieval(context, domains)
    parts += [f"persona {persona_line(run.simulation.user_persona)}"] if run.simulation.user_persona else []
    parts += stated({name: value for name, value in run.simulation.changed.items() if name not in _SHOWN_APART})
    if context.judge is not None:
        uniform = context.judge.name in ("accept", "reject")
        parts.append(f"judge {context.judge.name}" + (" (same verdict for every statement)" if uniform else ""))
    grading = run.simulation.evaluation.grading.name
    parts += [f"grading {grading}"] if grading != "official" else []
    lines = [", ".join(parts), *_model_lines(run)]
    choice = run.choice("agent")
    if choice is not None and "agent" not in others and context.source("agent", run).runs_own_loop:
        lines.append(f"agent model: {choice.name} (--tau-agent-llm), for each model that the agent asks for")
    if participants:
        lines += _participant_notes(context, others)
    return [f"tau: {line}" for line in lines]


def _participants(context: RunContext, made: Mapping[Side, str], others: Collection[Side]) -> list[str]:
    """Return both participants, with a note on those that know the reference actions."""
    run = context.config
    parts = [f"{side} {made[side]}" if side in others else _participant(context, side) for side in SIDES]
    known = [side not in others and context.source(side, run).needs_reference({}) for side in SIDES]
    note = "given the reference actions"
    if "agent" not in others and run.agent is None and run.agent_spec == "gold":
        note = "no agent given: gold plays the reference actions, see --tau-agent"
    elif _is_deaf(run, others):
        known[-1] = False  # a line of its own says so
    noted = known if sum(known) == 1 else [False, all(known)]
    return [f"{part} ({note})" if with_note else part for part, with_note in zip(parts, noted, strict=True)]


def _is_deaf(run: RunConfig, others: Collection[Side]) -> bool:
    """Return whether the user plays the reference actions to an agent that does not."""
    return "agent" not in others and run.user_spec == "gold" and run.agent_spec != "gold"


def _participant_notes(context: RunContext, others: Collection[Side]) -> list[str]:
    """Return lines about a user that does not listen, examples, and a recorded conversation.

    Args:
        context: The context of the run's trials.
        others: The sides that a fixture or a marker has made other than the settings name them.
    """
    run, lines = context.config, []
    if _is_deaf(run, others):
        lines.append(
            "user gold plays the reference actions and ignores what the agent says; --tau-user scripted answers the "
            "agent"
        )
    if warning := examples_warning(context, context.known_ids):
        lines.append(warning)
    replay = context.source("agent", run).replay
    if replay is not None:
        lines.append(f"only tasks with a conversation in {replay.path.name} ({len(replay.task_ids)})")
    return lines


def examples_warning(context: RunContext, task_ids: Collection[str]) -> str | None:
    """Return the warning about examples of the agent that are of tasks of the run; None if there are none."""
    prompting = context.config.simulation.prompting.get("agent")
    if prompting is None or prompting.examples is None:
        return None
    from ...participants.agents.examples import leak_warning

    return leak_warning(prompting.examples, task_ids)


def _participant(context: RunContext, side: Side) -> str:
    source, choice = context.source(side, context.config), context.config.choice(side)
    return f"{side} {source.name} ({choice.name})" if choice and source.may_call_model else f"{side} {source.name}"


def _model_lines(run: RunConfig) -> list[str]:
    lines = []
    for side, prompting in run.simulation.prompting.items():
        called = run.choice(side)
        if called and prompting.name != "built in":
            lines.append(f"{side} prompt: {prompting.name}")
    how = {"replay": "replayed", "missing": "recorded if there is no cassette, else replayed", "all": "recorded"}
    lines += [f"model calls: {how[run.models.tape]}"] if run.models.tape else []
    lines += [f"budget: ${run.models.budget:g}"] if run.models.budget is not None else []
    return lines
