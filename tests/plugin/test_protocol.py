"""--tau-protocol tau2, --tau-texts, a checkout as --tau-data: what is needed, what is recorded, what is replayed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pytest_tau.protocol import load_texts, read_checkout, write_texts

ROOT = Path(__file__).parents[2]
MADE_UP = ROOT / "tests" / "made_up_checkout"
#: A reply without text in the first conversation, none after that.
EMPTY_ONCE = """
def answer(role, request):
    if role == "agent" and not Path("well").exists():
        Path("well").touch()
        return ""
    return reference(role, request)
"""


@pytest.fixture
def texts(project, a_task):
    """A project with a task of the mock domain and a file of official texts; returns the options."""
    project.tasks("mock/t.tau.json", [a_task()])
    write_texts(project.path / "texts.json", read_checkout(MADE_UP))
    return "--tau-protocol", "tau2", "--tau-texts", "texts.json"


class TestMistakes:
    def test_no_texts(self, models, texts):
        run = models.run("--tau-protocol", "tau2")
        run.usage_error("--tau-protocol: the official texts are read from a checkout", "neither is given")
        assert models.asked == []

    def test_texts_for_the_own_protocol(self, models, texts):
        models.run("--tau-texts", "texts.json").usage_error("--tau-texts: is used by --tau-protocol tau2 only")

    def test_an_unknown_protocol(self, models, texts):
        models.run("--tau-protocol", "tau3").usage_error("--tau-protocol: expected tau or tau2, got 'tau3'")

    def test_a_folder_with_data_only(self, models, texts, project):
        (project.path / "data" / "domains").mkdir(parents=True)
        run = models.run("--tau-protocol", "tau2", "--tau-data", "data")
        run.usage_error("--tau-data", "has data only, no sources")

    def test_a_tool_without_a_text(self, models, texts, project):
        document = json.loads((project.path / "texts.json").read_text(encoding="utf-8"))
        del document["tools"]["mock"]["user"][0]
        project.write("texts.json", json.dumps(document))
        run = models.run(*texts)
        assert run.ret == pytest.ExitCode.USAGE_ERROR
        run.line("no official text of the tools of domain 'mock': check_notifications (user) in", "texts.json")
        assert models.asked == []

    @pytest.mark.parametrize(
        ("prompt", "options"),
        [("agent", []), ("user", []), ("agent_gt", ["--tau-agent", "llm-gt"]), ("agent_solo", ["--tau-solo"])],
    )
    def test_a_prompt_that_the_run_needs(self, models, texts, project, prompt, options):
        document = json.loads((project.path / "texts.json").read_text(encoding="utf-8"))
        del document["prompts"][prompt]
        document["not_found"] = [f"prompts.{prompt}: looked for it"]
        project.write("texts.json", json.dumps(document))
        run = models.run(*texts, *options)
        run.usage_error(f"no official text of the prompt '{prompt}' in", "texts.json (looked for it)")
        assert models.asked == []

    def test_a_judge_without_a_prompt(self, models, texts, project):
        document = json.loads((project.path / "texts.json").read_text(encoding="utf-8"))
        del document["judge"]
        project.write("texts.json", json.dumps(document))
        run = models.run(*texts, "--tau-judge-llm", "fake/judge")
        run.usage_error("no official text of the judge's prompt in", "add judge to it")


class TestRuns:
    def test_a_file_of_texts(self, models, texts):
        run = models.run(*texts)
        run.outcomes(passed=1)
        agent = next(call for call in models.asked if call["role"] == "agent")
        assert agent["said"][0]["content"].startswith("<rules>\nMade-up rules")

    def test_a_checkout(self, models, project, monkeypatch):
        checkout = Path(shutil.copytree(MADE_UP, project.path / "checkout"))
        shutil.copytree(ROOT / "domains" / "mock", checkout / "data/tau2/domains/mock")
        shutil.copy(ROOT / "tasks" / "mock" / "tasks.json", checkout / "data/tau2/domains/mock/tasks.json")
        options = ["--tau-domain", "mock", "--tau-data", "checkout", "--tau-task", "create-task"]
        models.script("""
            def answer(role, request):
                return "###STOP###"
        """)
        models.run(*options, "--tau-protocol", "tau2").outcomes(failed=1)
        assert models.asked[0]["said"][0]["content"].startswith("Made up: you are a customer with {{tools}}")

    def test_it_is_recorded(self, models, texts, project):
        models.run(*texts).outcomes(passed=1)
        (info,) = (json.loads(file.read_text()) for file in (project.path / ".tau" / "runs").glob("*/run.json"))
        assert info["settings"]["protocol"] == "tau2"
        assert info["hashes"]["prompts"]["texts"] == load_texts(project.path / "texts.json").fingerprint

    def test_a_conversation_that_was_run_again_is_replayed(self, models, texts):
        models.script(EMPTY_ONCE)
        models.run(*texts, "--tau-record").outcomes(passed=1)
        recorded = len(models.calls())
        models.run(*texts, "--tau-replay").outcomes(passed=1)
        assert recorded == 6
        assert models.calls() == []

    def test_a_trial_without_a_usable_reply_is_not_counted(self, models, texts):
        models.script("""
            def answer(role, request):
                return "" if role == "agent" else reference(role, request)
        """)
        run = models.run(*texts)
        run.outcomes(errors=1)
        run.line("sent an empty reply", "(in the last of 4 conversations)")
        run.line("looks like the provider's fault: the replies of a model could not be used")
        run.line("tau: mock: 1 task, 1 trial; 1 error")
        assert models.calls() == ["agent"] * 4 + ["user"] * 4


class TestComparability:
    LINE = (
        "tau: comparability: custom (user's prompt: mine.md; bundled data), incomplete (mock: 2 trials of tasks outside"
    )

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_it_is_in_the_summary_and_the_manifest(self, models, texts, project, workers):
        project.write("mine.md", "Play this: {{scenario}}")
        run = models.run(*texts, "--tau-user-prompt", "mine.md", "--tau-trials", "2", *workers)
        run.outcomes(passed=2)
        run.line(self.LINE)
        (info,) = (json.loads(file.read_text()) for file in (project.path / ".tau" / "runs").glob("*/run.json"))
        assert info["comparability"]["kind"] == "custom"
        assert info["comparability"]["deviations"] == ["user's prompt: mine.md", "bundled data"]

    def test_it_is_in_the_report(self, models, texts, project):
        models.run(*texts, "--tau-html", "report.html").outcomes(passed=1)
        assert '"Comparability"' in (project.path / "report.html").read_text(encoding="utf-8")

    def test_another_domain_has_none(self, shelf):
        run = shelf.run("--tau-agent", "gold")
        run.lacks("comparability")
