"""Recorded verdicts: a change that moves one of them needs another number of the grading rules.

Record new cases, or the verdicts of new rules, with ``PYTEST_TAU_VERDICTS=record pytest tests/unit/test_grading_rules.py``.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.chat import LLM, ChatReply, TrialModels
from pytest_tau.errors import JudgeError, UnusableReplyError
from pytest_tau.evaluation import GRADING_RULES, OFFICIAL, PROFILES, Evaluation, UniformJudge
from pytest_tau.evaluation.llm_judge import LLMJudge
from pytest_tau.evaluation.official_judge import OfficialJudge
from pytest_tau.files import digest
from pytest_tau.models import CustomCheck
from pytest_tau.protocol import JudgeTexts
from pytest_tau.runs.fingerprints import grader

from .tiny import STOP, action, agent, call, check, evaluate, run, task, user

if TYPE_CHECKING:
    from pytest_tau.environment import Domain

FILE = Path(__file__).with_name("grading_rules.json")
LAMP = {"item_id": "lamp", "name": "Light"}
BROKEN = call("rename", **LAMP).model_copy(update={"malformed": "not JSON"})

CRITERIA: dict[str, dict[str, Any]] = {
    "change": {
        "actions": [action("rename", **LAMP), action("switch", "user")],
        "env_assertions": [check("named", **LAMP), check("phone_on", "user", value=False)],
        "communicate_info": ["light", "1481.50", "1,481"],
        "nl_assertions": ["The agent is polite."],
    },
    "no change": {"actions": [], "communicate_info": []},
    "assertions only": {"env_assertions": [check("counted", value=True), check("named", item_id="none", name="x")]},
    "twice": {"actions": [action("rename", **LAMP), action("rename", compare=["item_id"], **LAMP)]},
    "any arguments": {"actions": [action("rename", compare=[], **LAMP)]},
    "neither state nor actions": {"communicate_info": ["light"]},
}
MADE = agent(call("rename", **LAMP))
TALKS: dict[str, list[Any]] = {
    "silent": [],
    "all done": [MADE, user(call("switch")), agent("The Light costs $1,481.50.")],
    "twice, by either side": [MADE, MADE, agent(call("switch")), agent("Lights, 1481.5")],
    "fewer arguments": [agent(call("rename", item_id="lamp")), agent("-1,481.50 is no light")],
    "other arguments": [agent(call("rename", item_id="lamp", name="Other")), agent("light 1,481 12,1481.50")],
    "malformed": [agent(BROKEN), agent("LIGHT")],
    "failed": [agent(call("half_done", item_id="lamp")), agent(call("count", by=1))],
    "said by the user": [user("light 1481.50 1,481")],
}
ENDS = ("user_stop", "agent_stop", "max_steps", "too_many_errors", "timeout")
COMPONENTS = ["DB", "ENV_ASSERTION", "ACTION", "COMMUNICATE", "NL_ASSERTION"]


class Politeness:
    name = "POLITENESS"

    def evaluate(self, task: object, messages: object, environment: object) -> CustomCheck:
        return CustomCheck(name=self.name, reward=0.5)


def shown(domain: Domain, criteria: dict[str, Any] | None, messages: list[Any], **options: Any) -> str:
    """A verdict as a line: the reward, its factors, and each check."""
    found = evaluate(task(criteria), messages, domain=domain, **options)
    factors = " ".join(f"{name} {value:g}" for name, value in found.reward_breakdown.items())
    checks = {
        "env": [each.met for each in found.env_assertions or []],
        "action": [each.action_match for each in found.action_checks or []],
        "said": [each.met for each in found.communicate_checks or []],
        "judged": [each.met for each in found.nl_assertions or []],
        "other": [each.reward for each in found.custom_checks or []],
    }
    bits = " ".join(f"{name}:{','.join(f'{value:g}' for value in values)}" for name, values in checks.items() if values)
    notes = {name: value for name, value in (found.info or {}).items() if name not in ("grading", "judge")}
    return " | ".join(filter(None, [f"{found.reward:g}", factors, bits, json.dumps(notes) if notes else ""]))


def verdicts(domain: Domain) -> dict[str, str]:
    """Every verdict of this file, by the name of its case."""
    found: dict[str, str] = {}
    accept = UniformJudge("accept", met=True)
    for profile, (wanted, criteria), (talk, messages) in itertools.product(PROFILES, CRITERIA.items(), TALKS.items()):
        whole = criteria | {"reward_basis": COMPONENTS}
        case = f"{profile}: {wanted}: {talk}"
        found[case] = shown(domain, whole, [*messages, STOP], grading=profile, judge=accept)
    for profile, end, last in itertools.product(PROFILES, ENDS, (STOP, agent("Done."))):
        case = f"{profile}: ended by {end} after {last.role}"
        found[case] = shown(domain, CRITERIA["no change"], [last], grading=profile, termination_reason=end)
        case = f"{profile}: alone, ended by {end} after {last.role}"
        talk = [agent(call("switch")), last]
        criteria = {"actions": [action("switch", "user")], "reward_basis": ["ACTION"]}
        found[case] = shown(domain, criteria, talk, grading=profile, termination_reason=end, solo=True)
    silent = [agent("Hello."), STOP]
    found["default basis"] = shown(domain, CRITERIA["change"], silent)
    found["no criteria"] = shown(domain, None, silent)
    rejected = UniformJudge("reject", met=False)
    found["judged untrue"] = shown(domain, {"nl_assertions": ["It is."], "reward_basis": ["NL_ASSERTION"]}, silent,
                                   judge=rejected)  # fmt: skip
    found["not judged"] = shown(domain, {"nl_assertions": ["It is."], "reward_basis": ["NL_ASSERTION"]}, silent)
    found["of a plugin"] = shown(domain, {"reward_basis": ["POLITENESS"]}, silent, evaluators=[Politeness()])
    return found | judged()


class Scripted:
    """A model that gives the same answer each time."""

    def __init__(self, answer: str) -> None:
        self.answer, self.requests = answer, list[Any]()

    async def complete(self, request: Any) -> ChatReply:
        self.requests.append(request)
        return ChatReply(message={"role": "assistant", "content": self.answer})


ENTRY = '{"statement": 1, "reason": "so", "met": %s}'
ANSWERS = {
    "true": '{"verdicts": [' + ENTRY % "true" + "]}",
    "false": 'A draft: {"verdicts": []} {"verdicts": [' + ENTRY % "false" + "]}",
    "a number": '{"verdicts": [' + ENTRY % "1" + "]}",
    "none": '{"verdicts": []}',
    "twice": '{"verdicts": [' + ENTRY % "true" + "," + ENTRY % "true" + "]}",
    "another statement": '{"verdicts": [{"statement": 2, "reason": "so", "met": true}]}',
    "cut off": '{"verdicts": [' + ENTRY % "true" + "]} {" + '"verdicts": [',
    "quoted": '{"quoted": 1, "verdicts": []}',
    "official, true": '{"results": [{"met": true, "why": "so"}]}',
    "official, false": '{"results": [{"met": false}]}',
    "official, a text": '{"results": [{"met": "yes"}]}',
    "official, none": '{"results": []}',
}
TALK = [agent("Hi"), agent(call("look", item_id="lamp")), user('{"quoted": 1, "verdicts": []}'), STOP]


def judged() -> dict[str, str]:
    """What the judges ask and how they read answers."""
    found = {}
    texts = JudgeTexts(
        system="Judge.", user="{{transcript}} {{statements}}", results="results", met="met", reason="why"
    )
    for name, answer in ANSWERS.items():
        chat = Scripted(answer)
        model = TrialModels({"judge": LLM("openai/judge", chat, {})}).get("judge")
        assert model is not None
        judge = OfficialJudge(model, "j", texts) if name.startswith("official") else LLMJudge(model, "j")
        try:
            result = ", ".join(str(verdict.met) for verdict in run(judge.judge(["It is."], TALK))) or "no verdict"
        except (JudgeError, UnusableReplyError) as error:
            result = type(error).__name__
        asked = " ".join(json.dumps(chat.requests[0].messages).replace("\\n", " ").split())
        found[f"judge: {name}"] = f"{result} | {len(chat.requests)} asked | prompt {digest(asked)}"
    return found


def test_a_verdict_that_moves_needs_another_number(domain: Domain) -> None:
    found = verdicts(domain)
    recorded: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    before = recorded.get("verdicts", {})
    moved = {case: (before[case], found[case]) for case in before if case in found and before[case] != found[case]}
    if moved and recorded["rules"] == GRADING_RULES:
        pytest.fail(
            f"{len(moved)} verdicts have moved: raise GRADING_RULES, then record; the first: {next(iter(moved.items()))}"
        )
    if os.environ.get("PYTEST_TAU_VERDICTS") == "record":
        FILE.write_text(json.dumps({"rules": GRADING_RULES, "verdicts": found}, indent=1) + "\n", encoding="utf-8")
    else:
        assert recorded == {"rules": GRADING_RULES, "verdicts": found}, "record them, see above"


def test_the_grader_is_the_number_the_profile_and_the_evaluators() -> None:
    lenient = dataclasses.replace(OFFICIAL, name="mine", whole_phrases=True)
    stricter = dataclasses.replace(lenient, requestor_counts=True)
    evaluations = [Evaluation(each) for each in (*PROFILES.values(), lenient, stricter)]
    evaluations.append(Evaluation(evaluators=[Politeness()]))
    found = [grader(each) for each in evaluations]
    assert len(set(found)) == len(found)
    assert all(each.startswith(f"{GRADING_RULES}-") for each in found)
    assert grader(Evaluation()) == grader(Evaluation(OFFICIAL))
