"""Checks of the scripted user: whether it can play a task to the end, and what of the prose it does not go by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..diagnosis.misunderstandings import misunderstood_in
from ..environment.validation import argument_problems
from ..errors import TauError, unknown_name
from ..language import is_yes
from ..models import AssistantMessage, ToolCall, UserMessage
from ..participants import script_of, unread_prose
from ..participants.scripted.user import STOP
from ..references.known import Known
from ..references.sides import toolkit_of, tools_of
from ..runner import asimulate
from ..runner.config import SimulationSettings
from ..text import shorten
from .findings import Finding

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from typing import TypeAlias

    from ..environment import Domain
    from ..evaluation import Evaluation
    from ..models import Action, Task, UserScript
    from ..participants.context import Incoming
    from ..references import Leaf
    from .facts import FactChecker

    Talking: TypeAlias = Generator[AssistantMessage, str, None]


#: How often the agent asks for the same, and offers more help.
_TIMES, _OFFERS = 3, 12
_WIDTH = 160


def check_prose(task: Task) -> Iterator[Finding]:
    """Check ``unread-prose``: a condition or a wish in the prose that the script made of it does not have."""
    for sentence in unread_prose(task):
        yield Finding("unread-prose", "note", task.id, " ".join(sentence.split()))


def script_for(task: Task, domain: Domain) -> UserScript:
    """Return the script of a task, or the one that is made of its prose."""
    return script_of(task, list(tools_of(domain, "user").values()), domain.spec.spoken)


async def check_played(task: Task, domain: Domain, evaluation: Evaluation, facts: FactChecker) -> list[Finding]:
    """Check ``not-played``: the user does not get to the end with an agent that asks for everything.

    The agent makes the reference actions. It asks for each argument that only the user can know, and for a yes before
    each write.
    """
    asking = _AskingAgent(task, domain, facts.of_user(task))
    settings = SimulationSettings(evaluation=evaluation)
    try:
        simulation = await asimulate(
            task, domain=domain, agent=asking, user="scripted", settings=settings, check_reference=False
        )
    except TauError as error:
        return [Finding("not-played", "warning", task.id, str(error))]
    misunderstood = misunderstood_in(simulation.messages)
    problems = [
        *asking.problems,
        *(
            f"{misunderstanding.kind}, message {misunderstanding.message_idx}: {misunderstanding.text}"
            for misunderstanding in misunderstood
        ),
    ]
    if simulation.error:
        problems.append(simulation.error.splitlines()[0])
    elif not asking.is_done:
        problems.append("the user ended the conversation before all reference actions were made")
    return [Finding("not-played", "warning", task.id, problem) for problem in dict.fromkeys(problems)]


class _AskingAgent:
    """Makes the reference actions, and asks the user for what it needs.

    Attributes:
        problems: What the user did not say or did not want.
        is_done: Whether all actions were made.
    """

    def __init__(self, task: Task, domain: Domain, needed: Sequence[tuple[int, Leaf]]) -> None:
        self._actions = task.criteria.actions or []
        self._phrases = task.criteria.communicate_info or []
        self._domain, self._needed = domain, needed
        self._said = Known([])
        self._talking: Talking | None = None
        self.problems: list[str] = []
        self.is_done = False

    def respond(self, message: Incoming) -> AssistantMessage:
        heard = getattr(message, "content", None) or ""
        if isinstance(message, UserMessage):
            self._said.add(heard)
        if self._talking is None:
            self._talking = self._talk()
            return next(self._talking)
        return self._talking.send(heard)

    def _talk(self) -> Talking:
        for position, action in enumerate(self._actions):
            for leaf in (leaf for number, leaf in self._needed if number == position):
                yield from self._ask(leaf)
            yield from self._act(action)
        self.is_done = True
        closing = f"Everything has been done. {' '.join(self._phrases)}".strip()
        for _ in range(_OFFERS):
            yield AssistantMessage(content=f"{closing} Is there anything else I can help you with?")

    def _ask(self, leaf: Leaf) -> Talking:
        name = next((part for part in reversed(leaf.path.split(".")) if not part.isdigit()), leaf.path)
        label, reply = name.rstrip("0123456789").replace("_", " "), ""
        for text in (f"Could you please give me your {label}?", f"What is the {label}?"):
            if not self._said.has(leaf.value):
                reply = yield AssistantMessage(content=text)
        if not self._said.has(leaf.value):
            self.problems.append(f"asked for {leaf.path} {leaf.value!r}, it said {shorten(reply, _WIDTH)!r}")

    def _act(self, action: Action) -> Talking:
        label = action.name.replace("_", " ")
        details = ", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in action.arguments.items())
        if action.requestor == "user":
            arguments = ", ".join(f"{name}={value!r}" for name, value in action.arguments.items())
            yield AssistantMessage(content=f"Please use {action.name}({arguments}) on your device now.")
            return
        tool = tools_of(self._domain, "assistant").get(action.name)
        if tool is not None and tool.mutates:
            yield from self._propose(f"{label} ({details})")
        call = ToolCall(name=action.name, arguments=action.arguments)
        yield AssistantMessage(tool_calls=[call])

    def _propose(self, change: str) -> Talking:
        reply = ""
        for _ in range(_TIMES):
            reply = yield AssistantMessage(content=f"I am about to do this: {change}. Do you confirm (yes/no)?")
            if is_yes(reply) or STOP in reply:
                return
        self.problems.append(f"asked to confirm {shorten(change, _WIDTH)}, it said {shorten(reply, _WIDTH)!r}")


def check_script(task: Task, domain: Domain) -> Iterator[Finding]:
    """Check ``bad-goal``: a goal of the script does not name a tool of the user, or has arguments that do not match it.

    ``goal-met``: all goals are met from the start, so that the user would be content with nothing done.
    """
    script = task.user_scenario.script
    if script is None or not script.goals:
        return
    tools = tools_of(domain, "user")
    if task.user_tools is not None:
        tools = {name: tool for name, tool in tools.items() if name in task.user_tools}
    problems = []
    for goal in script.goals:
        if goal.tool not in tools:
            problems.append(unknown_name("tool of the user", goal.tool, tools))
        else:
            wrong = argument_problems(goal.tool, goal.arguments, toolkit_of(domain, "user"))
            problems += [f"{goal.tool}: {problem}" for problem in wrong]
    yield from (Finding("bad-goal", "error", task.id, problem) for problem in problems)
    if not problems and _all_met(task, domain):
        yield Finding("goal-met", "warning", task.id, "the script's goals are met before anything is done")


def _all_met(task: Task, domain: Domain) -> bool:
    script, environment = task.user_scenario.script, domain.environment(task)
    for goal in script.goals if script else ():
        answer = (environment.call(goal.tool, goal.arguments, "user").content or "").lower()
        if not all(expected.lower() in answer for expected in goal.expects):
            return False
    return True
