"""--tau-user-fault: which trials count, what is run again, what is stored and shown, and where it is refused."""

from __future__ import annotations

import csv
import json

import pytest

from pytest_tau.cli import main

WORKERS = [(), ("-n", "2")]
#: An agent that passes tasks with "good" in their id, and a user that makes up an order in those with "faulty"; in
#: "once" only with the first seed of a trial.
PARTS = """
from pytest_tau.testing import ScriptedParticipant, call

class Agent(ScriptedParticipant):
    def __init__(self, task):
        made = call("create_task", user_id="user_1", title="Buy milk")
        super().__init__(["Which one?", *([made] if "good" in task.id else []), "Done."])

class User:
    first = {}

    def __init__(self, task, seed):
        self.turn, self.id, self.again = 0, task.id, self.first.setdefault(task.id, seed) != seed

    def respond(self, message):
        self.turn += 1
        faulty = "faulty" in self.id and not (self.again and "once" in self.id)
        made_up = "It is order #W1234567." if faulty else "That one."
        return ["Buy milk, please.", made_up, "Thanks. ###STOP###"][self.turn - 1]

class Faulty(User):
    def __init__(self, task, seed):
        super().__init__(task, seed)
        self.id = "faulty"
"""
IDS = ("good-1", "good-faulty", "bad-faulty", "bad-2", "good-3")


@pytest.fixture
def run(project, a_task):
    def run(*args, ids=IDS):
        project.write("parts.py", PARTS)
        project.tasks("mock/t.tau.json", [a_task(each) for each in ids])
        return project.run("--tau-agent", "parts.py:Agent", "--tau-user", "parts.py:User", *args)

    return run


def entries(project):
    files = sorted((project.path / ".tau" / "runs").glob("*/simulations.jsonl"))
    return {one["task_id"]: one for one in map(json.loads, files[-1].read_text(encoding="utf-8").splitlines())}


class TestCount:
    @pytest.mark.parametrize("workers", WORKERS)
    def test_it_is_reported_and_changes_nothing(self, run, project, workers):
        found = run(*workers)
        found.outcomes(passed=3, failed=2)
        found.line("5 tasks, 5 trials; 3 passed, 2 failed; pass^1 0.600")
        found.line("user faults", "2 of 5 trials, made-up-detail 2")
        found.line("pass^1 0.600 with these trials, 0.667 without them")
        found.line("user faults: made-up-detail, message 3: the id #W1234567 was given nowhere")
        stored = entries(project)["good-faulty"]["facts"]["user_validity"]
        assert [each["check"] for each in stored["findings"]] == ["made-up-detail"]
        assert entries(project)["good-1"]["facts"]["user_validity"]["findings"] == []

    def test_nothing_is_shown_without_a_fault(self, run):
        run(ids=("good-1", "bad-2")).lacks("user fault")

    def test_csv_and_junit(self, run, project, tmp_path):
        run("--junitxml", "junit.xml")
        xml = (project.path / "junit.xml").read_text(encoding="utf-8")
        assert xml.count('name="tau_user_faults" value="made-up-detail"') == 2
        (folder,) = (project.path / ".tau" / "runs").iterdir()
        assert main(["export", str(folder), "--format", "csv", "-o", str(tmp_path / "t.csv")]) == 0
        lines = (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()
        rows = {row["task_id"]: row for row in csv.DictReader(lines)}
        assert rows["good-faulty"]["user_faults"] == "made-up-detail"
        assert rows["good-1"]["user_faults"] == ""

    def test_the_gate(self, run):
        found = run("--tau-gate", "user_valid>=0.9", "--tau-gate", "pass^1>=0.6")
        assert found.ret == pytest.ExitCode.TESTS_FAILED
        found.line("gate user_valid >= 0.9: 0.600", "missed")
        found.line("gate pass^1 >= 0.6: 0.600", "met")


class TestExclude:
    @pytest.mark.parametrize("workers", WORKERS)
    def test_trials_are_skipped_and_both_rates_shown(self, run, workers):
        found = run("--tau-user-fault", "exclude", "-rs", *workers)
        found.outcomes(passed=2, failed=1, skipped=2)
        found.line("5 tasks, 5 trials; 2 passed, 1 failed, 2 excluded; pass^1 0.667")
        found.line("pass^1 0.600 with these trials, 0.667 without them")
        found.line("rates exclude them")
        found.line("excluded, fault of the user: made-up-detail, message 3")

    def test_quiet_runs_show_both_rates_too(self, run):
        run("--tau-user-fault", "exclude", "-q").line("pass^1 0.600 with these trials, 0.667 without them")

    def test_gates_use_the_rate_without_them_but_user_valid_does_not(self, run):
        gates = ("--tau-gate", "pass^1>=0.66", "--tau-gate", "user_valid<=0.6")
        found = run("--tau-user-fault", "exclude", *gates)
        assert found.ret == 0
        found.line(
            "gate pass^1 >= 0.66: 0.667",
            "met, but 0.66 lies within",
            "; over 3 trials, 2 more excluded because of the user",
        )
        assert "excluded" not in found.line("gate user_valid <= 0.6: 0.600")

    def test_it_is_part_of_the_run_when_it_is_resumed_compared_and_read_again(self, run, project, capsys):
        run("--tau-user-fault", "exclude", "--tau-run-name", "one")
        found = run("--tau-user-fault", "exclude", "--tau-resume")
        found.outcomes(passed=2, failed=1, skipped=2)
        found.line("5 of 5 trials reused")
        run("--tau-resume").line("user_fault: ")
        run("--tau-user-fault", "exclude", "--tau-run-name", "two")
        folder = project.path / ".tau" / "runs"
        assert main(["compare", str(folder / "one"), str(folder / "two")]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert "2 trials excluded from rates before and 2 after" in shown
        assert "faults of the user: 2 of 5 trials (pass^1 0.600 with them, 0.667 without them)" in shown

    def test_html_and_markdown(self, run, project):
        reports = ("--tau-html", "r.html", "--tau-markdown", "s.md")
        run("--tau-user-fault", "exclude", *reports, "--tau-gate", "pass^1>=0.66")
        page = (project.path / "s.md").read_text(encoding="utf-8")
        assert "; over 3 trials, 2 more excluded because of the user" in page
        assert "2 passed, 1 failed, 2 excluded" in page
        assert "pass^1 0.600 with these trials, 0.667 without them" in page
        assert (project.path / "r.html").is_file()

    def test_a_test_of_ones_own_is_skipped(self, project, run):
        run()
        project.write(
            "test_own.py",
            "import pytest\n\n@pytest.mark.tau(domain='mock', tasks='create-task')\n"
            "def test_it(tau_simulation):\n    assert 0\n",
        )
        options = ("--tau-agent", "parts.py:Agent", "--tau-user", "parts.py:Faulty", "--tau-user-fault", "exclude")
        project.run("test_own.py", *options).outcomes(skipped=1)


class TestRerun:
    IDS = ("good-faulty-once", "bad-faulty-once", "good-faulty", "good-1")

    @pytest.mark.parametrize("workers", WORKERS)
    def test_attempts_are_discarded_kept_and_counted(self, run, project, workers):
        found = run("--tau-user-fault", "rerun:2", *workers, ids=self.IDS)
        found.outcomes(passed=3, failed=1)
        found.line("user faults", "1 of 4 trials, made-up-detail 1")
        found.line("4 attempts discarded")
        found.line("pass^1 0.750 of first attempts")
        kept = entries(project)
        once = kept["good-faulty-once"]
        assert (once["excluded"], once["attempts"], once["first_reward"]) == (None, 2, 1.0)
        (discarded,) = once["info"]["discarded_attempts"]
        assert discarded["facts"]["user_validity"]["findings"][0]["check"] == "made-up-detail"
        assert discarded["reward"] == 1.0
        assert "#W1234567" in json.dumps(discarded["messages"])
        assert "#W1234567" not in json.dumps(kept["good-faulty-once"]["messages"])
        # The last attempt is kept whatever its user does.
        always = kept["good-faulty"]
        assert always["attempts"] == 3
        assert len(always["info"]["discarded_attempts"]) == 2
        assert [each["check"] for each in always["facts"]["user_validity"]["findings"]] == ["made-up-detail"]

    def test_an_attempt_starts_from_the_initial_state(self, run, project):
        run("--tau-user-fault", "rerun", ids=("good-faulty-once",)).outcomes(passed=1)
        assert entries(project)["good-faulty-once"]["reward_info"]["reward"] == 1

    SCRIPT = """
    asked = []

    def answer(role, request):
        if role == "user" and "Which" in request.messages[-1]["content"]:
            asked.append(request.args["seed"])
            BUDGET
            return "Order #W1234567." if len(set(asked)) == 1 else "That one."
        if role == "agent" and len(request.messages) == 3:
            return "Which one?"
        return reference(role, request)
    """

    def test_cassettes_replay_all_attempts(self, models, project):
        models.script(self.SCRIPT.replace("BUDGET", "pass"))
        options = ("--tau-user-fault", "rerun")
        models.run(*options, "--tau-record").outcomes(passed=1)
        calls = len(models.calls())
        before = entries(project)["buy-milk"]
        assert len(before["info"]["discarded_attempts"]) == 1
        assert sum(used["calls"] for used in before["model_usage"].values()) == calls
        found = models.run(*options, "--tau-replay")
        found.outcomes(passed=1)
        assert models.calls() == []
        after = entries(project)["buy-milk"]
        assert after["info"]["discarded_attempts"] == before["info"]["discarded_attempts"]
        assert after["messages"][-1]["content"] == before["messages"][-1]["content"]

    def test_an_error_or_a_budget_does_not_lose_what_was_paid_for(self, models, project):
        models.script(self.SCRIPT.replace("BUDGET", "if len(asked) > 1: raise ModelError('provider down')"))
        found = models.run("--tau-user-fault", "rerun:3")
        found.outcomes(passed=1)
        found.line("1 of 1 trial, made-up-detail 1")
        (discarded,) = entries(project)["buy-milk"]["info"]["discarded_attempts"]
        assert "provider down" in discarded["error"]

    def test_the_budget_of_the_run_is_spent_in_the_second_attempt(self, models, project):
        models.script(self.SCRIPT.replace("BUDGET", "pass"))
        found = models.run("--tau-user-fault", "rerun:3", "--tau-budget", "2")
        found.outcomes(passed=1)
        found.line("made-up-detail 1")


@pytest.mark.parametrize("value", ["sometimes", "rerun:0", "rerun:x", "rerun:", "exclude:2", "rerun:1000"])
def test_a_mistake_is_a_usage_error(run, value):
    run("--tau-user-fault", value).usage_error("--tau-user-fault: expected count, exclude, rerun, or rerun:N")


@pytest.mark.exhaustive
def test_it_is_refused_for_replays_and_without_a_user(run, project):
    run()
    (folder,) = (project.path / ".tau" / "runs").iterdir()
    file = project.path / "recorded.json"
    assert main(["export", str(folder), "--format", "tau2", "-o", str(file)]) == 0
    for mode in ("exclude", "rerun"):
        replay = ("--tau-agent", f"replay:{file}", "--tau-user-fault", mode)
        project.run(*replay).usage_error(f"--tau-user-fault: {mode}: a recording has the same user again")
        solo = ("--tau-agent", "parts.py:Agent", "--tau-solo", "--tau-user-fault", mode)
        project.run(*solo).usage_error(f"--tau-user-fault: {mode}: there is no user in solo mode")
    project.run("--tau-agent", f"replay:{file}", "--tau-user-fault", "count").outcomes(passed=3, failed=2)


class TestUsersCommand:
    def test_profiles_of_two_runs(self, run, project, capsys):
        run()
        run("--tau-run-name", "second", ids=("good-1",))
        runs = sorted((project.path / ".tau" / "runs").iterdir())
        assert main(["users", *map(str, runs)]) == 0
        out = capsys.readouterr().out
        rows = {line[:34].strip(): line[34:].split() for line in out.splitlines()}
        assert rows["trials"] == ["5", "1"]
        assert rows["turns of the user in a trial"] == ["3.0", "3.0"]
        assert rows["trials with a fault, share"] == ["0.400", "0.000"]
        assert rows["made-up-detail, trials"] == ["2", "0"]

    def test_json_and_a_missing_run(self, run, project, capsys):
        run()
        capsys.readouterr()
        (folder,) = (project.path / ".tau" / "runs").iterdir()
        assert main(["users", str(folder), "--json"]) == 0
        (one,) = json.loads(capsys.readouterr().out)
        assert (one["run"], one["trials"], one["faulty"]) == (folder.name, 5, 0.4)
        assert one["endings"] == {"###STOP###": 1.0}
        assert main(["users", "nothing"]) == 2
        assert "nothing" in capsys.readouterr().err


#: A message that is another one each time.
WORDS = "' '.join(chr(97 + (len(messages) + each) % 26) * 3 for each in range(4))"
LOOKS_FIRST = f"""
def agent(messages, tools):
    if any(each["role"] == "tool" for each in messages):
        return {WORDS}
    call = {{"id": "look", "type": "function", "function": {{"name": "get_users", "arguments": "{{}}"}}}}
    return {{"role": "assistant", "content": None, "tool_calls": [call]}}
"""
#: Agents that get nowhere by themselves.
STUCK = {
    "repeats": "return 'Which wing of the hotel is it?'",
    "nonsense": "return 'Blah blah.'",
    "new nonsense": f"return {WORDS}",
    "fails": """
    if messages[-1]["role"] == "tool":
        return NONSENSE[len(messages) % 7 :: 3]
    call = {"id": f"c{len(messages)}", "type": "function", "function": {"name": "no_such_tool", "arguments": '{"a": '}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}
""",
}


class TestNotUnderstood:
    """What the scripted user has not understood is a fault like the others, in every place where they are."""

    @pytest.fixture
    def deaf(self, project, a_task):
        def run(*args):
            project.write("own.py", LOOKS_FIRST)
            project.tasks("mock/t.tau.json", [a_task("one")])
            return project.run("--tau-agent", "own.py:agent", "--tau-user", "scripted", *args)

        return run

    @pytest.mark.parametrize("workers", WORKERS)
    def test_the_report_and_the_summary(self, deaf, workers):
        found = deaf(*workers)
        found.outcomes(failed=1)
        text = found.text
        assert text.index("the scripted user did not understand") < text.index("reward 0")
        found.line("looks like the user's fault: it did not understand")
        found.line("1 of 1 failure: the user did not understand the agent")
        found.lacks("user faults: not-understood")  # said already

    def test_what_is_stored(self, deaf, project):
        deaf()
        stored = entries(project)["one"]
        assert stored["info"]["blame"]["party"] == "user"
        assert "not-understood" in {each["check"] for each in stored["facts"]["user_validity"]["findings"]}
        kinds = [each.get("misunderstanding") for each in stored["messages"] if each["role"] == "user"]
        assert kinds[:2] == [None, "not understood"]
        (folder,) = (project.path / ".tau" / "runs").iterdir()
        assert main(["view", str(folder), "-o", str(project.path / "page.html")]) == 0

    def test_it_is_excluded(self, deaf):
        found = deaf("--tau-user-fault", "exclude")
        found.outcomes(skipped=1)
        found.line("1 excluded")

    def test_it_is_run_again(self, deaf):
        deaf("--tau-user-fault", "rerun").line("1 attempt discarded")

    @pytest.mark.parametrize("agent", STUCK)
    def test_an_agent_that_gets_nowhere_by_itself_is_not_excluded(self, agent, project, a_task):
        project.write("own.py", f"NONSENSE = 'abcdefghijklmnop'\n\n\ndef agent(messages, tools):\n    {STUCK[agent]}\n")
        project.tasks("mock/t.tau.json", [a_task("one")])
        args = ("--tau-agent", "own.py:agent", "--tau-user", "scripted", "--tau-user-fault", "exclude")
        found = project.run(*args, "--tau-gate", "pass^1>=0.9")
        found.line("1 task, 1 trial; 1 failed; pass^1 0.000")
        found.line("gate pass^1 >= 0.9: 0.000: missed")
        found.lacks("the user's fault")
        found.line("undecided whether" if "nonsense" in agent else "looks like the agent's fault")
