"""Checking a domain's tasks the way their author needs it; one module for each family of checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..capability import installed
from ..capability.containing import is_contained, problem_of
from ..capability.views import LintView
from ..environment import check_domain, check_history, check_task, on_other_domain
from ..errors import ConfigurationError, DomainError, TaskFormatError, TauError, ToolServerError
from ..evaluation import known_components
from .actions import check_actions, check_declarations
from .causes import without_consequences
from .facts import FactChecker
from .findings import SEVERITIES, Finding, LintReport, Severity
from .history import check_history_results
from .knowledge import check_documents, check_required
from .outcomes import check_outcomes
from .proposals import propose_outcomes
from .references import check_contradictions, check_tables
from .sets import check_copies, check_duplicates, check_ignored, check_phrases, check_splits
from .statements import check_amounts
from .texts import check_texts
from .users import check_played, check_prose, check_script, script_for
from .verdicts import accepting, check_gold, check_needed, check_null, check_solvable, check_stable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..environment import Domain
    from ..evaluation import Evaluation, Evaluator
    from ..models import Task
    from ..regrade.recognition import DomainSource

__all__ = [
    "SEVERITIES",
    "Finding",
    "LintReport",
    "Severity",
    "check_solvable",
    "lint_domain",
    "lint_users",
    "propose_outcomes",
    "tasks_of",
]


async def lint_domain(
    domain: Domain,
    split: str | None,
    tasks: Sequence[Task] | None = None,
    evaluators: Sequence[Evaluator] = (),
    domains: DomainSource | None = None,
) -> LintReport:
    """Check the tasks of a domain.

    Args:
        domain: With the data to check.
        split: Which tasks; None for all.
        tasks: The tasks of a file, instead of the domain's own.
        evaluators: Components that plugins added.
        domains: All domains; tasks that name another one are reported.

    Raises:
        ConfigurationError: No such split.
        TaskFormatError: A task file does not follow the format.
    """
    is_whole, tasks = tasks is None, tasks_of(domain, split) if tasks is None else tasks
    report = LintReport(domain.name, split, len(tasks))
    report.findings += [
        *((*check_splits(domain), *check_copies(domain), *check_documents(domain)) if is_whole else ()),
        *check_duplicates(tasks),
    ]
    facts, components, evaluation = FactChecker(domain), known_components(evaluators), accepting(evaluators)
    report.findings += (
        await _of_capabilities(LintView(domain, None, None, evaluation, tasks), report) if is_whole else []
    )
    for task in _one_by_one(tasks, domain):
        misfit = _misfit(task, domain, components, domains)
        if misfit is not None:
            report.findings.append(misfit)
            continue
        findings = [*check_stable(task, domain)]
        if findings and "DB" in task.criteria.reward_basis:
            report.findings += _undeclared(task, domain) or findings
            continue
        null = check_null(task, domain, evaluation)
        report.floor += any(finding.severity == "error" for finding in null)
        report.floor_but_for_judge += any(finding.severity != "error" for finding in null)
        gold, findings = await check_gold(task, domain, evaluation)
        findings += [*null, *await _of_capabilities(LintView(domain, task, gold, evaluation), report)]
        findings += _other_findings(task, domain, evaluation, facts)
        causes = without_consequences(findings, task, domain)
        report.findings += causes
        report.consequences += [finding for finding in findings if finding not in causes]
    return report


async def lint_users(
    domain: Domain, split: str | None, tasks: Sequence[Task] | None = None, evaluators: Sequence[Evaluator] = ()
) -> LintReport:
    """Check what the scripted user makes of the tasks of a domain.

    Args:
        domain: With the data to check.
        split: Which tasks; None for all.
        tasks: The tasks of a file, instead of the domain's own.
        evaluators: Components that plugins added.

    Raises:
        ConfigurationError: No such split.
    """
    tasks = tasks_of(domain, split) if tasks is None else tasks
    report = LintReport(domain.name, split, len(tasks), played=0)
    facts, evaluation = FactChecker(domain), accepting(evaluators)
    for task in _one_by_one(tasks, domain):
        stopped = await check_played(task, domain, evaluation, facts)
        report.played = (report.played or 0) + (not stopped)
        silent = facts.check_script(task, script_for(task, domain))
        report.findings += [*stopped, *silent, *check_prose(task)]
    return report


def _one_by_one(tasks: Sequence[Task], domain: Domain) -> Iterator[Task]:
    """Yield tasks, and keep nothing of a task that was checked: there may be many."""
    for task in tasks:
        yield task
        domain.forget(task)


async def _of_capabilities(view: LintView, report: LintReport) -> list[Finding]:
    """Return what capabilities find; figures are added to the report."""
    findings: list[Finding] = []
    for capability in installed():
        try:
            for finding_or_figure in await capability.lint(view) if capability.lint is not None else ():
                if isinstance(finding_or_figure, str):
                    report.figures.append(finding_or_figure)
                else:
                    findings.append(finding_or_figure)
        except TauError:
            raise
        except BaseException as error:
            if not is_contained(error):
                raise
            problem = f"capability {capability.name!r}: {problem_of(error, 'lint')}"
            raise ConfigurationError(problem) from error
    return findings


def _undeclared(task: Task, domain: Domain) -> list[Finding]:
    """Return the tool that is declared wrong, because of which a reference state cannot be reached again."""
    try:
        return [*check_declarations(task, domain)]
    except DomainError:
        return []


def _other_findings(task: Task, domain: Domain, evaluation: Evaluation, facts: FactChecker) -> Iterator[Finding]:
    yield from check_actions(task, domain)
    yield from check_declarations(task, domain)
    yield from check_history_results(task, domain)
    yield from check_needed(task, domain, evaluation)
    yield from check_outcomes(task, domain)
    yield from check_phrases(task)
    yield from check_required(task, domain)
    yield from check_ignored(task)
    yield from check_texts(task, domain)
    yield from facts.check(task)
    yield from check_amounts(task, domain)
    yield from check_contradictions(task, domain)
    yield from check_tables(task, domain)
    yield from check_script(task, domain)
    yield from facts.check_script(task)


def tasks_of(domain: Domain, split: str | None) -> list[Task]:
    """Return the tasks of a split, without the ids that no task has; all for None."""
    if split is None or split not in domain.splits:
        return domain.tasks(split)
    ids = set(domain.splits[split])  # ids that no task has are a finding here
    return [task for task in domain.tasks(split=None) if task.id in ids]


def _misfit(task: Task, domain: Domain, components: Sequence[str], domains: DomainSource | None) -> Finding | None:
    """Check ``does-not-fit``: the task names another domain, or its parts name what the domain lacks."""
    try:
        if domains is not None:
            check_domain(task, domain, domains.names(), domains.load)
        check_task(_without_calls(task), domain.spec, components)
        check_history(task, domain, solo=task.ticket is not None)  # only a run knows its mode
        domain.environment(task)
    except TaskFormatError as error:
        if domain.file_of(task) is None:
            error = on_other_domain(error, task, domain, "--domain")
        return Finding("does-not-fit", "error", task.id, f"{error.field}: {error.problem}")
    except (DomainError, ToolServerError) as error:
        return Finding("unstable-state", "error", task.id, str(error))
    return None


def _without_calls(task: Task) -> Task:
    # An unknown tool in a reference action or in a goal of the script is a finding of its own.
    criteria, scenario = task.evaluation_criteria, task.user_scenario
    if scenario.script:
        scenario = scenario.model_copy(update={"script": scenario.script.model_copy(update={"goals": []})})
    criteria = criteria.model_copy(update={"actions": None, "outcomes": None}) if criteria else None
    return task.model_copy(update={"evaluation_criteria": criteria, "user_scenario": scenario})
