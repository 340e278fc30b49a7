"""--tau-snapshot and the fixture tau_snapshot: trajectories compared with stored ones."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import pytest

pytest.importorskip("syrupy")

#: Before this syrupy looks for unused snapshots not beyond the files that it is given.
LOOKS_EVERYWHERE = int(version("syrupy").partition(".")[0]) >= 7

BUY_MILK = """\
conversation
  agent calls create_task(title="Buy milk", user_id="user_1") -> """
NO_OWN_ENVIRONMENT = ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT")


@pytest.fixture
def snap(project, a_task, monkeypatch):
    """Runs pytest with syrupy in a project with one task file; syrupy must not take this process for a worker."""
    for name in NO_OWN_ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    project.tasks("mock/t.tau.json", [a_task()])

    def run(*args):
        return project.run("-psyrupy", *args)

    run.project = project
    return run


def stored(project):
    """Every stored trajectory: its path below the project, and its text."""
    found = sorted(project.path.rglob("*.tausnap"))
    return {file.relative_to(project.path).as_posix(): file.read_text(encoding="utf-8") for file in found}


def own_test(project, body, marks='domain="mock", tasks="create-task"', name="tests/test_milk.py"):
    """A test of one's own, of a task that the reference solves."""
    project.write(
        name,
        f"""
        import pytest

        @pytest.mark.tau({marks})
        def test_trajectory(tau_simulation, tau_snapshot):
            {body}
        """,
    )


# The items of tasks


def test_the_trajectory_of_a_task_is_stored_as_text_and_compared(snap):
    first = snap("--tau-snapshot")
    first.outcomes(failed=1)
    first.line("reward 1, but no snapshot is stored")
    first.line("store it: pytest", "mock/t.tau.json::buy-milk[trial-0]", "--tau-snapshot=calls --snapshot-update")
    first.line("FAILED", "- no snapshot is stored")
    first.lacks("Traceback")
    assert not stored(snap.project)

    snap("--tau-snapshot", "--snapshot-update").outcomes(passed=1)
    ((path, text),) = stored(snap.project).items()
    assert path == "mock/__snapshots__/t.tau/buy-milk[trial-0].tausnap"
    head, _, rest = text.partition("-> ")
    assert head + "-> " == BUY_MILK
    digest, _, rest = rest.partition("\n")
    assert len(digest) == 8
    assert rest == (
        "database\n"
        '  agent tasks/task_3: added {"description": null, "status": "pending", "task_id": "task_3", "title": "Buy milk"}\n'
        '  agent users/user_1/tasks/2: added "task_3"\n'
        "verdict\n"
        "  reward 1 = DB 1 x COMMUNICATE 1\n"
        "  ended by user_stop ###STOP###\n"
    )

    again = snap("--tau-snapshot")
    again.outcomes(passed=1)
    again.line("1 snapshot passed.")


def test_a_departure_is_a_failure_of_its_own_with_a_diff_and_can_be_accepted(snap, scripted):
    snap("--tau-snapshot", "--snapshot-update").outcomes(passed=1)
    looking = 'call("get_users")', 'call("create_task", user_id="user_1", title="Buy milk")', '"Done."'
    options = ("--tau-snapshot", "--tau-agent", scripted(*looking), "--tau-user", "gold")
    run = snap(*options)
    run.outcomes(failed=1)
    run.line("reward 1, but the trajectory differs from the stored one")
    run.line("in mock/__snapshots__/t.tau/buy-milk[trial-0].tausnap")
    run.line("+  agent calls get_users() ->")
    run.lacks("-  agent calls create_task")
    run.line("if this is intended: pytest", "--tau-agent", "--tau-snapshot=calls --snapshot-update")
    run.line("FAILED", "- the trajectory differs from the stored one")
    run.line("tau: mock: 1 task, 1 trial; 1 passed")

    snap(*options, "--snapshot-update").line("1 snapshot updated.")
    snap(*options).outcomes(passed=1)


def test_failed_trial_is_reported_and_its_snapshot_stays(snap):
    snap("--tau-snapshot", "--snapshot-update").outcomes(passed=1)
    before = stored(snap.project)
    run = snap("--tau-snapshot", "--tau-agent", "noop", "--snapshot-update")
    run.outcomes(failed=1)
    run.line("reward 0 = DB 0")
    run.lacks("snapshot", "unused")
    assert stored(snap.project) == before


def test_messages_are_stored_with_every_text(snap):
    snap("--tau-snapshot=messages", "--snapshot-update").outcomes(passed=1)
    (text,) = stored(snap.project).values()
    assert "  agent: Hi! How can I help you today?\n  user: Have 'Buy milk' put on my list.\n" in text
    assert '  agent calls create_task(title="Buy milk", user_id="user_1")\n    -> {"task_id": "task_3",' in text
    assert "verdict\n" in text
    snap("--tau-snapshot=messages").outcomes(passed=1)


def test_a_domain_has_its_snapshots_where_pytest_was_started(snap):
    args = ("--tau-domain", "mock", "--tau-task", "create-task", "--tau-trials", "2", "--tau-snapshot")
    snap(*args, "--snapshot-update").outcomes(passed=2)
    places = [f"__snapshots__/domains/mock/create-task[trial-{trial}].tausnap" for trial in (0, 1)]
    assert list(stored(snap.project)) == places
    snap(*args).line("2 snapshots passed.")


def test_the_ini_has_it_too(snap):
    snap.project.ini("tau_snapshot = calls")
    snap().line("reward 1, but no snapshot is stored")


def test_invalid_settings_are_reported_before_anything_runs(snap):
    snap("--tau-snapshot=call").usage_error("--tau-snapshot: expected calls or messages, got 'call'")
    blocked = snap.project.run("--tau-snapshot")
    blocked.usage_error("--tau-snapshot needs syrupy, which is disabled by -p no:syrupy")


def test_without_syrupy_the_extra_is_named(pytester, monkeypatch, a_task):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makefile(".json", **{"t.tau": json.dumps({"domain": "mock", "tasks": [a_task()]})})
    run = pytester.runpytest_inprocess("-ppytest_tau.plugin", "--tau-snapshot")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(["*--tau-snapshot needs syrupy: pip install './pytest-tau?snapshot?'*"])
    pytester.makepyfile("def test_it(tau_snapshot): pass")
    run = pytester.runpytest_inprocess("-ppytest_tau.plugin", "test_without_syrupy_the_extra_is_named.py")
    run.stdout.fnmatch_lines(["*the fixture tau_snapshot needs syrupy: pip install*"])


def test_a_run_that_asks_for_no_snapshot_imports_nothing_of_it(project, a_task):
    project.tasks("mock/t.tau.json", [a_task()])
    project.write(
        "conftest.py",
        """
        import sys

        OURS = "pytest_tau.capabilities.snapshots.extension"
        for name in [name for name in sys.modules if name.startswith(OURS)]:
            del sys.modules[name]  # of other tests in this process

        def pytest_sessionfinish():
            print("imported:", [name for name in sys.modules if name.startswith(OURS)])
        """,
    )
    run = project.run("-s", "-psyrupy")
    run.outcomes(passed=1)
    run.line("imported: []")


# Tests of one's own


def test_a_test_compares_its_simulation(snap):
    own_test(snap.project, "assert tau_simulation == tau_snapshot")
    snap("tests", "--snapshot-update").outcomes(passed=1)
    (path,) = stored(snap.project)
    assert path == "tests/__snapshots__/test_milk/test_trajectory[create-task-trial-0].tausnap"
    snap("tests").line("1 snapshot passed.")

    changed = stored(snap.project)[path].replace("Order new chairs", "Order old chairs", 1)
    snap.project.write(path, changed)
    run = snap("tests", "--assert=rewrite", "--color=no")
    run.outcomes(failed=1)
    run.line("assert [+ received] == [- snapshot]")
    run.line("-   agent calls create_task(title=", "old chairs")
    run.line("+   agent calls create_task(title=", "new chairs")


def test_a_test_selects_what_it_compares_and_may_do_so_more_than_once(snap):
    body = """assert tau_simulation == tau_snapshot(selection={"calls", "verdict"})
            assert tau_simulation == tau_snapshot(selection={"database"}, name="state")
            assert tau_simulation == tau_snapshot(selection={"messages"})"""
    own_test(snap.project, body)
    snap("tests", "--snapshot-update").line("3 snapshots generated.")
    place = "tests/__snapshots__/test_milk/test_trajectory[create-task-trial-0]"
    texts = {path.removeprefix(place): text.splitlines() for path, text in stored(snap.project).items()}
    calls, state, third = texts[".tausnap"], texts["[state].tausnap"], texts[".2.tausnap"]
    assert calls[1].endswith(")")
    assert calls[2:] == ["verdict", "  reward 1 = DB 1 x COMMUNICATE 1", "  ended by user_stop ###STOP###"]
    assert third[:2] == ["conversation", "  agent: Hi! How can I help you today?"]
    assert not any("calls" in line for line in third)
    assert state[0] == "database"
    snap("tests").line("3 snapshots passed.")


def test_unknown_part_is_reported_with_the_known_ones(snap):
    own_test(snap.project, 'tau_snapshot(selection={"call"})')
    snap("tests").line("unknown part of a snapshot 'call'", "calls", "messages", "results", "database", "verdict")


def test_only_simulations_are_compared(snap):
    own_test(snap.project, "assert tau_simulation.calls == tau_snapshot")
    run = snap("tests", "--assert=rewrite", "--snapshot-update")
    run.outcomes(failed=1)
    run.line("tau_snapshot: expected a simulation such as tau_simulation, got a list")


def test_the_changes_of_another_simulation_are_not_made_up(snap):
    body = 'assert tau_simulation.model_copy(update={"id": "other"}) == tau_snapshot'
    own_test(snap.project, body)
    run = snap("tests", "--assert=rewrite", "--snapshot-update")
    run.line("database changes are known only for tau_simulation")


def test_the_tests_of_the_documentation_do_what_they_show(snap):
    page = (
        (Path(__file__).parents[2] / "docs" / "own_tests.md")
        .read_text(encoding="utf-8")
        .partition("\n## Snapshots\n")[2]
    )
    snap.project.write("tests/test_shown.py", page.partition("```python\n")[2].partition("```")[0])
    snap("tests", "--snapshot-update").outcomes(passed=2)
    snap("tests").line("3 snapshots passed.")
    assert "[state].tausnap" in " ".join(stored(snap.project))


# Unused snapshots, and those of other tests


def test_unused_ones_are_found_and_deleted(snap, a_task):
    snap.project.tasks("mock/t.tau.json", [a_task(), a_task("buy-more")])
    snap("--tau-snapshot", "--snapshot-update").outcomes(passed=2)
    snap.project.tasks("mock/t.tau.json", [a_task()])
    run = snap("--tau-snapshot")
    run.outcomes(passed=1)
    run.line("1 snapshot passed. 1 snapshot unused.")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run = snap("--tau-snapshot", "--snapshot-update")
    run.line("Deleted buy-more[trial-0]")
    assert list(stored(snap.project)) == ["mock/__snapshots__/t.tau/buy-milk[trial-0].tausnap"]
    assert snap("--tau-snapshot").ret == pytest.ExitCode.OK


def test_those_of_a_module_that_is_gone_are_found(snap):
    own_test(snap.project, "assert tau_simulation == tau_snapshot")
    own_test(snap.project, "assert tau_simulation == tau_snapshot", name="tests/test_other.py")
    snap("tests", "--snapshot-update").outcomes(passed=2)
    (snap.project.path / "tests/test_other.py").unlink()
    run = snap("tests") if LOOKS_EVERYWHERE else snap()
    run.line("1 snapshot unused.")


@pytest.mark.parametrize(
    "narrow",
    [
        ["--tau-task", "buy-milk"],
        ["-k", "milk"],
        ["mock/t.tau.json::buy-milk[trial-0]"],
    ],
    ids=lambda options: options[0].split("::")[0],
)
def test_snapshots_of_deselected_trials_are_not_unused(snap, a_task, narrow):
    snap.project.tasks("mock/t.tau.json", [a_task(), a_task("buy-more")])
    snap("--tau-snapshot", "--snapshot-update").outcomes(passed=2)
    run = snap("--tau-snapshot", "--snapshot-update", *narrow)
    run.line("1 snapshot passed.")
    assert run.ret == pytest.ExitCode.OK
    assert len(stored(snap.project)) == 2


@pytest.mark.exhaustive
def test_trials_and_other_splits_and_domains_are_not_unused(shelf, snap):
    everything = ("--tau-domain", "mock,shelf", "--tau-split", "full", "--tau-trials", "2", "--tau-judge", "accept")
    snap(*everything, "--tau-snapshot", "--snapshot-update")
    before = stored(shelf)
    run = snap("--tau-domain", "mock", "--tau-judge", "accept", "--tau-snapshot", "--snapshot-update")
    assert run.ret == pytest.ExitCode.OK
    assert stored(shelf) == before
    gone = shelf.write("__snapshots__/domains/shelf/gone[trial-0].tausnap", "verdict\n")
    snap("--tau-domain", "mock,shelf", "--tau-judge", "accept", "--tau-snapshot", "--snapshot-update")
    assert not gone.exists()
    assert stored(shelf) == before


def test_a_skipped_test_still_wants_its_snapshot(snap):
    own_test(snap.project, "assert tau_simulation == tau_snapshot")
    snap("tests", "--snapshot-update").outcomes(passed=1)
    own_test(snap.project, "pytest.skip('today not')")
    run = snap("tests", "--snapshot-update")
    run.outcomes(skipped=1)
    assert len(stored(snap.project)) == 1


def test_snapshots_of_ones_own_are_left_alone_and_leave_ours_alone(snap):
    own_test(snap.project, "assert tau_simulation == tau_snapshot")
    snap.project.write("tests/test_plain.py", "def test_plain(snapshot): assert [1, 2] == snapshot")
    snap("tests", "--tau-snapshot", "--snapshot-update").outcomes(passed=2)
    files = {file: file.read_bytes() for file in snap.project.path.rglob("__snapshots__/**/*") if file.is_file()}
    assert len(files) == 2
    for only in ("tests/test_plain.py", "tests/test_milk.py", "tests"):
        snap(only, "--snapshot-update")
        assert {file: file.read_bytes() for file in files} == files


def test_theirs_alone_leaves_ours_and_ours_alone_leaves_theirs(snap):
    """syrupy's own format takes a file that it does not know for a forgotten one, and deletes it."""
    theirs = snap.project.write("tests/__snapshots__/test_gone.ambr", "# serializer version: 1\n")
    picture = snap.project.write("tests/__snapshots__/picture.svg", "<svg/>")
    own_test(snap.project, "assert tau_simulation == tau_snapshot")
    snap("tests", "--snapshot-update").outcomes(passed=1)
    assert theirs.exists() and picture.exists()
    (snap.project.path / "tests/test_milk.py").unlink()
    snap.project.write("tests/test_plain.py", "def test_plain(snapshot): assert [1, 2] == snapshot")
    snap("tests", "--snapshot-update").outcomes(passed=1)
    assert len(stored(snap.project)) == 1


# Over workers


@pytest.mark.exhaustive
def test_workers_write_compare_and_clean_up(snap, a_task):
    pytest.importorskip("xdist")
    snap.project.tasks("mock/t.tau.json", [a_task(name) for name in ("a", "b", "c", "d", "e", "f")])
    snap("--tau-snapshot", "--snapshot-update", "-n2").line("6 passed")
    assert len(stored(snap.project)) == 6
    assert snap("--tau-snapshot", "-n2").ret == pytest.ExitCode.OK
    file = "mock/__snapshots__/t.tau/d[trial-0].tausnap"
    snap.project.write(file, stored(snap.project)[file].replace("Buy milk", "Buy eggs", 1))
    run = snap("--tau-snapshot", "-n2")
    run.outcomes(failed=1, passed=5)
    run.line("-  agent calls create_task(title=", "Buy eggs")
    run.lacks("Traceback")
    snap.project.tasks("mock/t.tau.json", [a_task("a")])
    snap("--tau-snapshot", "-n2", "--snapshot-update")
    from syrupy.session import SnapshotSession

    looks_over_workers = hasattr(SnapshotSession, "add_worker_report")  # not at first
    assert len(stored(snap.project)) == (1 if looks_over_workers else 6)


# What differs from run to run


_CLOCKWORK = '''
import uuid
from datetime import datetime, timezone
from pathlib import Path

from pytest_tau.environment import Database, DomainSpec, Record, Table, Toolkit, tool

KNOWN = "11111111-2222-3333-4444-555555555555"


class Note(Record):
    note_id: str
    made: str


class Notes(Database):
    notes: Table[Note]


class NoteTools(Toolkit[Notes]):
    @tool("write")
    def make_note(self, like: str) -> Note:
        """Make a note.

        Args:
            like: Which one it is like.
        """
        note = Note(note_id=str(uuid.uuid4()), made=datetime.now(timezone.utc).isoformat())
        self.db.notes[note.note_id] = note
        return note


def pytest_tau_domains(config):
    here = Path(__file__).parent / "clockwork"
    return [DomainSpec("clockwork", here, here / "tasks", Notes, NoteTools)]
'''


def test_generated_ids_and_times_are_replaced_by_stable_words(snap):
    known = "11111111-2222-3333-4444-555555555555"
    project = snap.project
    project.write("conftest.py", _CLOCKWORK)
    project.write(
        "clockwork/db.json", json.dumps({"notes": {known: {"note_id": known, "made": "2020-01-02T03:04:05"}}})
    )
    project.write("clockwork/policy.md", "Make notes.")
    action = {"action_id": "note", "name": "make_note", "arguments": {"like": known}}
    criteria = {"actions": [action], "reward_basis": ["ACTION"]}
    scenario = {"instructions": "Have a note made."}
    project.tasks("clockwork/tasks/t.json", [{"id": "n", "user_scenario": scenario, "evaluation_criteria": criteria}])
    args = ("--tau-domain", "clockwork", "--tau-snapshot=messages")
    snap(*args, "--snapshot-update").outcomes(passed=1)
    (text,) = stored(project).values()
    assert f'agent calls make_note(like="{known}")' in text
    assert '    -> {"note_id": "<id 1>", "made": "<now>"}\n' in text
    assert '  agent notes/<id 1>: added {"made": "<now>", "note_id": "<id 1>"}\n' in text
    snap(*args).outcomes(passed=1)


def test_a_snapshot_that_a_plain_test_asks_for_while_it_runs_is_given(project):
    project.write(
        "test_it.py",
        """
        def test_it(request):
            assert request.getfixturevalue("tau_snapshot") != None
        """,
    )
    project.run("-p", "syrupy").outcomes(passed=1)
