"""An agent without a model: it follows the policy by a table of rules (``--tau-agent rules``)."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from pytest_tau.models import AssistantMessage, ToolCall

from .account import Account, Use, Work
from .troubleshooting import PATHS, QUESTIONS, REPORTS, STEPS, Path, Rule

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_tau.environment import Tool

    Told: TypeAlias = Generator[str | Use, str, str]

_PHONE = re.compile(r"\b\d{3}[-. ]?\d{3}[-. ]?\d{4}\b")
_CUSTOMER = re.compile(r"\bC\d{3,}\b")
_HOME = re.compile(r"\b(?:at home|not (?:\w+ )?(?:abroad|travell?ing)|no)\b", re.IGNORECASE)
_AWAY = re.compile(r"\b(?:abroad|travell?ing|outside|overseas|yes)\b", re.IGNORECASE)
_SAID = re.compile(r"^.*?\bsays: ", re.DOTALL)
_BROKEN = re.compile(r"\bnot (?:solved|fixed|working|resolved)\b|\bstill\b", re.IGNORECASE)
#: What the policy has the customer told when a human agent takes over: a sentence in capitals, quoted.
_NOTICE = re.compile(r"[`'\"]([A-Z][A-Z ,.!]{20,})[`'\"]")
_PLAIN_NOTICE = "You are being transferred to a human agent."
_ELSE = "Is there anything else?"
_ROUNDS, _ATTEMPTS, _MOST_QUESTIONS = 2, 3, 10


class RulesAgent:
    """Identifies the customer, works through the table, and hands over what it cannot mend.

    Attributes:
        strangers: Readings of two bundled customers' records, for who wants to see them shown to somebody else.
    """

    strangers: ClassVar[tuple[tuple[str, dict[str, str]], ...]] = (
        ("get_customer_by_id", {"customer_id": "C2011"}),
        ("get_customer_by_id", {"customer_id": "C2012"}),
    )

    def __init__(self, tools: list[Tool], policy: str) -> None:
        self._can = {tool.name for tool in tools}
        notice = _NOTICE.search(policy)
        self._notice = notice[1] if notice else _PLAIN_NOTICE
        self._abroad: bool | None = None
        self._shown: dict[str, str] = {}
        self._talk: Generator[str | Use, str, Any] | None = None

    async def respond(self, message: Any) -> AssistantMessage:
        """The next thing to say or to do, given the customer's words or a tool's result.

        It waits for nothing; being asynchronous, it needs no thread.
        """
        text = message.content or ""
        try:
            if self._talk is None:
                self._talk = self._conversation(text)
                step = next(self._talk)
            else:
                step = self._talk.send(text)
        except StopIteration:
            step = self._notice
        if isinstance(step, Use):
            return AssistantMessage(tool_calls=[ToolCall(name=step.tool, arguments=step.arguments)])
        return AssistantMessage(content=step)

    def _conversation(self, opening: str) -> Work:
        """All of it; whatever is left unsolved goes to a human agent."""
        account = yield from self._identify(opening)
        if account is None:
            return (yield from self._hand_over("the customer could not be identified"))
        wish = yield from self._questions(opening, account)
        problem = yield from self._problem(wish)
        for _ in range(_ROUNDS if problem else 0):
            self._shown.clear()
            if not (yield from self._solve(problem, account)):
                break
            answer = yield f"Your problem is solved by what your phone shows now. {_ELSE}"
            if not _BROKEN.search(answer):
                break
        return (yield from self._hand_over(problem or "not one that this agent can help with"))

    def _questions(self, text: str, account: Account) -> Told:
        """Answer what the records answer; then there is something else to do."""
        for _ in range(_MOST_QUESTIONS):
            asked = next((row for row in QUESTIONS if re.search(row[0], text, re.IGNORECASE)), None)
            if asked is None:
                break
            _, kind, field, told = asked
            answer = yield from account.tell(kind, field)
            text = yield f"{told.format(answer)} {_ELSE}"
        return text

    def _hand_over(self, problem: str) -> Work:
        summary = f"Problem: {problem}. Everything that the policy offers has been tried or is ruled out."
        yield Use("transfer_to_human_agents", {"summary": summary})
        while True:
            yield self._notice

    # Who and what

    def _problem(self, text: str) -> Told:
        """What is wrong, of the paths; empty where it is none of them."""
        for _ in range(_ATTEMPTS):
            for problem, pattern in REPORTS:
                if re.search(pattern, text, re.IGNORECASE):
                    return problem
            text = yield "Please tell me what is wrong: no service, mobile data, or picture messages (MMS)?"
        return ""

    def _identify(self, text: str) -> Generator[str | Use, str, Account | None]:
        """The account of the line that has the problem."""
        for _ in range(_ATTEMPTS):
            number, customer_id = _PHONE.search(text), _CUSTOMER.search(text)
            if number:
                found = yield Use("get_customer_by_phone", {"phone_number": number[0]})
                if not found.startswith("Error"):
                    return (yield from self._line(json.loads(found), number[0]))
            elif customer_id:
                found = yield Use("get_customer_by_id", {"customer_id": customer_id[0]})
                if not found.startswith("Error"):
                    text = yield "Thank you. Please tell me the phone number of the line that has the problem."
                    return (yield from self._line(json.loads(found), text))
            text = yield "Please tell me the phone number of the line that has the problem."
        return None

    def _line(self, customer: dict[str, Any], number: str) -> Generator[str | Use, str, Account | None]:
        """The line of this number."""
        for line_id in customer["line_ids"]:
            line = json.loads((yield Use("get_details_by_id", {"id": line_id})))
            if line["phone_number"] in number:
                return Account(customer, line)
        return None

    # Solving

    def _solve(self, problem: str, account: Account) -> Work:
        """Work on a problem until its test says that it is gone; false where it does not go."""
        path = PATHS[problem]
        if (yield from self._is_gone(path)):
            return True
        for earlier in path.first:
            if not (yield from self._solve(earlier, account)):
                return False
        if path.first and (yield from self._is_gone(path)):
            return True
        for rule in path.rules:
            outcome = yield from self._apply(rule, account)
            if outcome == "hopeless":
                return False
            if outcome == "changed" and (yield from self._is_gone(path)):
                return True
        return False

    def _is_gone(self, path: Path) -> Work:
        shown = yield from self._look(path.test)
        return re.search(path.solved, shown, re.IGNORECASE) is not None

    def _apply(self, rule: Rule, account: Account) -> Told:
        """Look whether a rule is about this case, and mend it: ``changed``, ``hopeless``, or ``fine``."""
        if rule.abroad and not (yield from self._is_abroad()):
            return "fine"
        if rule.account:
            work = {
                "suspension": account.lift_suspension,
                "line roaming": account.enable_roaming,
                "allowance": account.refuel,
            }[rule.account]
            if not (yield from work()):
                return "fine"
        elif rule.look and not rule.applies((yield from self._look(rule.look))):
            return "fine"
        elif not rule.remedy:
            return "hopeless"
        for step in rule.remedy:
            yield STEPS[step]
        self._shown.clear()
        return "changed"

    def _look(self, check: str) -> Told:
        """What a check shows; not asked for again before something has changed."""
        if check not in self._shown:
            # What was done comes before what the phone said to it.
            self._shown[check] = _SAID.sub("", (yield STEPS[check]))
        return self._shown[check]

    def _is_abroad(self) -> Work:
        if self._abroad is None:
            answer = yield "Are you travelling or abroad at the moment?"
            self._abroad = bool(_AWAY.search(answer)) and not _HOME.search(answer)
        return self._abroad
