"""--tau-user-persona and --tau-enforce-protocol: what is asked of models, recorded, shown, and compared on resuming."""

from __future__ import annotations

import json

import pytest

from pytest_tau.participants.personas import draw_persona

PERSONA = ("--tau-user-persona", "verbosity=minimal")
BOTH = """
def it(messages, tools):
    call = {"id": "1", "type": "function", "function": {"name": "get_users", "arguments": "{}"}}
    return {"role": "assistant", "content": "I will look.", "tool_calls": [call]}
"""


def info_of(project):
    (file,) = (project.path / ".tau" / "runs").glob("*/run.json")
    return json.loads(file.read_text(encoding="utf-8"))


class TestPersona:
    def test_the_model_of_the_user_is_asked_for_it(self, models, project):
        run = models.run(*PERSONA)
        run.outcomes(passed=1)
        run.line("tau: ", "persona verbosity=minimal")
        systems = {call["role"]: call["said"][0]["content"] for call in models.asked}
        assert systems["user"].endswith("thanks and no other pleasantries.")
        assert "pleasantries" not in systems["agent"]
        info = info_of(project)
        assert info["settings"]["user_persona"] == {"verbosity": "minimal"}
        assert "persona verbosity=minimal" in info["comparability"]["deviations"]
        assert set(info["user_prompts"]) == {"user", "user_tools"}

    def test_an_agent_that_ignores_a_no_is_seen_by_a_rule_alone(self, project):
        project.write(
            "deaf.py",
            """
            from pytest_tau.models import UserMessage
            from pytest_tau_domains.retail.agent.rules_agent import RulesAgent

            class Deaf(RulesAgent):
                async def respond(self, message):
                    no = getattr(message, "content", None) == "No, wait, do not do that."
                    return await super().respond(UserMessage(content="Yes, please.") if no else message)
            """,
        )
        asked = (
            "--tau-domain",
            "retail",
            "--tau-task",
            "cancel-unneeded",
            "--tau-user-persona",
            "behaviour=contradicting",
        )
        run = project.run(*asked, "--tau-agent", "deaf.py:Deaf")
        run.outcomes(passed=1)
        run.line("tau: persona contradicting: a change that the agent makes after the user's no has the same reward")
        run.line("broken rules: confirmation (1 trial, 1 breach)")
        assert project.run(*asked, "--tau-agent", "deaf.py:Deaf", "--tau-gate", "policy.confirmation>=1").ret == 1
        heard = project.run(*asked, "--tau-agent", "rules", "--tau-gate", "policy.confirmation>=1")
        assert heard.ret == 0

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_weights_are_drawn_by_the_seed_and_grouped(self, models, project, workers):
        weights = "verbosity=minimal:0.5,standard:0.5"
        options = ("--tau-user-persona", weights, "--tau-trials", "6", "--tau-group-by", "persona")
        run = models.run(*options, *workers)
        run.outcomes(passed=6)
        run.line("minimal")
        run.line("standard")
        (file,) = (project.path / ".tau" / "runs").glob("*/simulations.jsonl")
        entries = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        drawn = {entry["trial"]: entry["conditions"]["persona"]["verbosity"] for entry in entries}
        given = {"verbosity": {"minimal": 0.5, "standard": 0.5}}
        assert drawn == {entry["trial"]: draw_persona(given, entry["seed"])["verbosity"] for entry in entries}
        assert info_of(project)["settings"]["user_persona"] == given

    @pytest.mark.parametrize("value", ["verbose=minimal", "verbosity=short", "{"])
    def test_a_mistake_is_reported_before_any_call(self, models, value):
        models.run("--tau-user-persona", value).usage_error("--tau-user-persona: ")
        assert models.asked == []

    def test_a_run_with_another_persona_is_not_resumed(self, models):
        models.run(*PERSONA).outcomes(passed=1)
        run = models.run("--tau-resume", "--tau-user-persona", "verbosity=standard")
        assert run.ret == pytest.ExitCode.USAGE_ERROR
        run.line("user_persona: ")


class TestProtocol:
    def test_it_is_the_agents_failure(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task()])
        project.write("parts.py", BOTH)
        options = ("--tau-agent", "parts.py:it", "--tau-user", "gold", "--tau-enforce-protocol")
        run = project.run(*options)
        run.outcomes(failed=1)
        run.line("enforce protocol")
        run.line("a message with both text and tool calls")
        run.line("pytest ", "--tau-enforce-protocol")
        info = info_of(project)
        assert info["settings"]["enforce_protocol"] is True
        assert "enforce protocol" in info["comparability"]["deviations"]
        run = project.run(*options[:-1], "--tau-resume")
        assert run.ret == pytest.ExitCode.USAGE_ERROR
        run.line("enforce_protocol: true in the earlier run, null now")
