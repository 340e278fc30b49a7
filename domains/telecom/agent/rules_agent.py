"""The agent: it identifies the customer and follows the policy by a table of rules, without a model."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_tau.models import AssistantMessage, ToolCall

from ..constants import RETAINED_CUSTOMERS
from .account import Account
from .dialog import ToolUse
from .troubleshooting import PROBLEMS, QUESTIONS, REPORTS, STEPS

if TYPE_CHECKING:
    from pytest_tau.environment import Tool

    from .dialog import Dialog
    from .troubleshooting import Problem, Rule

_PHONE = re.compile(r"\b\d{3}[-. ]?\d{3}[-. ]?\d{4}\b")
_CUSTOMER = re.compile(r"\bC\d{3,}\b")
_HOME = re.compile(r"\b(?:at home|not (?:\w+ )?(?:abroad|travell?ing)|no)\b", re.IGNORECASE)
_AWAY = re.compile(r"\b(?:abroad|travell?ing|outside|overseas|yes)\b", re.IGNORECASE)
_SAID = re.compile(r"^.*?\bsays: ", re.DOTALL)
_BROKEN = re.compile(r"\bnot (?:solved|fixed|working|resolved)\b|\bstill\b", re.IGNORECASE)
#: The policy's notice of a transfer to a human agent: a sentence in capitals, quoted.
_NOTICE = re.compile(r"[`'\"]([A-Z][A-Z ,.!]{20,})[`'\"]")
_DEFAULT_NOTICE = "You are being transferred to a human agent."
_ANYTHING_ELSE = "Is there anything else?"
_MAX_ROUNDS, _MAX_ATTEMPTS, _MAX_QUESTIONS = 2, 3, 10


class RulesAgent:
    """An agent that identifies the customer, works through the table, and transfers what it cannot solve.

    Attributes:
        foreign_records: Calls that show two bundled customers' records, for tests that show them to somebody else.
    """

    foreign_records: ClassVar[tuple[tuple[str, dict[str, str]], ...]] = tuple(
        ("get_customer_by_id", {"customer_id": customer_id}) for customer_id in RETAINED_CUSTOMERS
    )

    def __init__(self, tools: list[Tool], policy: str) -> None:
        notice = _NOTICE.search(policy)
        self._notice = notice[1] if notice else _DEFAULT_NOTICE
        self._abroad: bool | None = None
        self._results: dict[str, str] = {}
        self._dialog: Dialog[None] | None = None

    async def respond(self, message: Any) -> AssistantMessage:
        """Return the next text or tool call, given the customer's words or a tool's result.

        The method waits for nothing; it is asynchronous so that it needs no thread.
        """
        text = message.content or ""
        try:
            if self._dialog is None:
                self._dialog = self._conversation(text)
                step = next(self._dialog)
            else:
                step = self._dialog.send(text)
        except StopIteration:
            step = self._notice
        if isinstance(step, ToolUse):
            return AssistantMessage(tool_calls=[ToolCall(name=step.tool, arguments=step.arguments)])
        return AssistantMessage(content=step)

    def _conversation(self, opening: str) -> Dialog[None]:
        """Conduct the whole conversation; transfer to a human agent if anything is left unsolved."""
        account = yield from self._identify(opening)
        if account is None:
            yield from self._transfer("the customer could not be identified")
            return
        report = yield from self._answer_questions(opening, account)
        problem = yield from self._classify(report)
        for _ in range(_MAX_ROUNDS if problem else 0):
            self._results.clear()
            if not (yield from self._solve(problem, account)):
                break
            answer = yield f"Your problem is solved by what your phone shows now. {_ANYTHING_ELSE}"
            if not _BROKEN.search(answer):
                break
        yield from self._transfer(problem or "not one that this agent can help with")

    def _answer_questions(self, text: str, account: Account) -> Dialog[str]:
        """Answer questions from the records; return the first text that is not a question."""
        for _ in range(_MAX_QUESTIONS):
            question = next((row for row in QUESTIONS if re.search(row[0], text, re.IGNORECASE)), None)
            if question is None:
                break
            _, kind, field, template = question
            answer = yield from account.read_field(kind, field)
            text = yield f"{template.format(answer)} {_ANYTHING_ELSE}"
        return text

    def _transfer(self, problem: str) -> Dialog[None]:
        """Transfer the customer, then repeat the policy's notice for as long as somebody listens."""
        summary = f"Problem: {problem}. Everything that the policy offers has been tried or is ruled out."
        yield ToolUse("transfer_to_human_agents", {"summary": summary})
        while True:
            yield self._notice

    # Identification

    def _classify(self, text: str) -> Dialog[str]:
        """Return the name of the reported problem; empty if it is none of the table."""
        for _ in range(_MAX_ATTEMPTS):
            for problem, pattern in REPORTS:
                if re.search(pattern, text, re.IGNORECASE):
                    return problem
            text = yield "Please tell me what is wrong: no service, mobile data, or picture messages (MMS)?"
        return ""

    def _identify(self, text: str) -> Dialog[Account | None]:
        """Return the account of the line that has the problem; None if it cannot be found."""
        for _ in range(_MAX_ATTEMPTS):
            number, customer_id = _PHONE.search(text), _CUSTOMER.search(text)
            if number:
                customer = yield ToolUse("get_customer_by_phone", {"phone_number": number[0]})
                if not customer.startswith("Error"):
                    return (yield from self._line(json.loads(customer), number[0]))
            elif customer_id:
                customer = yield ToolUse("get_customer_by_id", {"customer_id": customer_id[0]})
                if not customer.startswith("Error"):
                    text = yield "Thank you. Please tell me the phone number of the line that has the problem."
                    return (yield from self._line(json.loads(customer), text))
            text = yield "Please tell me the phone number of the line that has the problem."
        return None

    def _line(self, customer: dict[str, Any], number: str) -> Dialog[Account | None]:
        """Return the account with the line of this number; None if the customer has no such line."""
        for line_id in customer["line_ids"]:
            line = json.loads((yield ToolUse("get_details_by_id", {"id": line_id})))
            if line["phone_number"] in number:
                return Account(customer, line)
        return None

    # Solving

    def _solve(self, problem: str, account: Account) -> Dialog[bool]:
        """Work on a problem until its test is passed; return whether it is solved."""
        plan = PROBLEMS[problem]
        if (yield from self._is_solved(plan)):
            return True
        for earlier in plan.prerequisites:
            if not (yield from self._solve(earlier, account)):
                return False
        if plan.prerequisites and (yield from self._is_solved(plan)):
            return True
        for rule in plan.rules:
            outcome = yield from self._apply(rule, account)
            if outcome == "unfixable":
                return False
            if outcome == "changed" and (yield from self._is_solved(plan)):
                return True
        return False

    def _is_solved(self, problem: Problem) -> Dialog[bool]:
        result = yield from self._check(problem.test)
        return re.search(problem.solved, result, re.IGNORECASE) is not None

    def _apply(self, rule: Rule, account: Account) -> Dialog[str]:
        """Apply a rule and its remedy if its cause is present; return ``changed``, ``unfixable`` or ``fine``."""
        if rule.abroad and not (yield from self._is_abroad()):
            return "fine"
        if rule.account:
            procedure = {
                "suspension": account.lift_suspension,
                "line roaming": account.enable_roaming,
                "allowance": account.refuel,
            }[rule.account]
            if not (yield from procedure()):
                return "fine"
        elif rule.check and not rule.applies((yield from self._check(rule.check))):
            return "fine"
        elif not rule.remedy:
            return "unfixable"
        for step in rule.remedy:
            yield STEPS[step]
        self._results.clear()
        return "changed"

    def _check(self, check: str) -> Dialog[str]:
        """Return a check's result; the customer repeats a check only after something has changed."""
        if check not in self._results:
            # The customer's own words come before the phone's answer.
            self._results[check] = _SAID.sub("", (yield STEPS[check]))
        return self._results[check]

    def _is_abroad(self) -> Dialog[bool]:
        if self._abroad is None:
            answer = yield "Are you travelling or abroad at the moment?"
            self._abroad = bool(_AWAY.search(answer)) and not _HOME.search(answer)
        return self._abroad
