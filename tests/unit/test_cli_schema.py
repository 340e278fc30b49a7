"""``tau schema``: schemas that are valid, that accept what pytest-tau accepts, and that refuse what it refuses."""

from __future__ import annotations

import copy
import functools
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from pytest_tau import load_domain
from pytest_tau.capability import bundled_options
from pytest_tau.cli import main
from pytest_tau.cli.schema import manifest_schema, simulation_schema
from pytest_tau.domains import domain_names
from pytest_tau.environment.arguments import misfits
from pytest_tau.environment.task_schema import task_file_schema
from pytest_tau.models import load_task_file
from pytest_tau.plugin.options_schema import options_schema
from pytest_tau.plugin.options_table import OPTIONS

ALL_OPTIONS = OPTIONS | bundled_options()
ROOT = Path(__file__).parents[2]
TASK_FILES = [
    path
    for folder in ("airline", "banking_knowledge", "mock", "retail", "telecom")
    for path in sorted((ROOT / "tasks" / folder).glob("*.json"))
    if path.name != "split_tasks.json"
]
TASK: dict[str, Any] = {
    "id": "t",
    "user_scenario": {"instructions": "Add a task 'Buy milk' for user_1."},
    "evaluation_criteria": {
        "actions": [{"action_id": "a", "name": "create_task", "arguments": {"user_id": "user_1", "title": "Buy milk"}}]
    },
}


def validator(schema: dict[str, Any]) -> Draft7Validator:
    Draft7Validator.check_schema(schema)
    return Draft7Validator(schema)


@functools.cache
def of_domain(name: str) -> Draft7Validator:
    return validator(
        task_file_schema(load_domain(name).spec, ["DB", "ENV_ASSERTION", "ACTION", "COMMUNICATE", "NL_ASSERTION"])
    )


def changed(task: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy of a task with another value at a path."""
    task = copy.deepcopy(task)
    *parents, last = path.split("/")
    place: Any = task
    for part in parents:
        place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
    if isinstance(place, list):
        place[int(last)] = value
    else:
        place[last] = value
    return task


ANY, MOCK = validator(task_file_schema()), of_domain("mock")


# task


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", TASK_FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_bundled_task_is_valid(path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    assert [error.message for error in ANY.iter_errors(document)] == []
    names = [name for name in domain_names() if name.partition("-")[0] == path.parent.name]
    assert names
    for name in names:
        assert [error.message for error in of_domain(name).iter_errors(document)] == []


@pytest.mark.parametrize(
    "document",
    [
        TASK,
        {"$schema": "tasks.schema.json", **TASK},
        [TASK, {**TASK, "id": "u"}],
        [],
        {"tasks": [TASK]},
        {"$schema": "tasks.schema.json", "domain": "mock", "tasks": [TASK]},
        {**TASK, "evaluation_criteria": {"reward_basis": None}},
        {**TASK, "evaluation_criteria": None},
    ],
)
def test_every_form_of_a_file_is_valid_and_loads(document: Any, tmp_path: Path) -> None:
    assert ANY.is_valid(document)
    assert MOCK.is_valid(document)
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps(document))
    assert all(task.id == "t" for task in load_task_file(file).tasks[:1])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("id", 7),
        ("idd", "t"),
        ("user_scenario", None),
        ("user_scenario/instructions", ["Add"]),
        ("user_scenario/script", {"requests": []}),
        ("user_scenario/script", {"requests": [{"say": "Hello.", "insists": 1}]}),
        ("evaluation_criteria/actions/0/requestor", "agent"),
        ("evaluation_criteria/actions/0/argument", {}),
        ("evaluation_criteria/communicate_info", "5"),
        ("evaluation_criteria/env_assertions", [{"func_name": "assert_number_of_tasks"}]),
    ],
)
def test_a_broken_task_is_refused_for_every_domain(path: str, value: Any) -> None:
    broken = changed(TASK, path, value)
    for document in (broken, [broken], {"tasks": [broken]}):
        assert not ANY.is_valid(document)
        assert not MOCK.is_valid(document)


ACTION = "evaluation_criteria/actions/0"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (f"{ACTION}/name", "create_tasks"),
        (f"{ACTION}/requestor", "user"),
        (f"{ACTION}/arguments", {"user_id": "user_1"}),
        (f"{ACTION}/arguments/user_id", 1),
        (f"{ACTION}/arguments/titel", "Buy"),
        (ACTION, {"action_id": "a", "name": "create_task"}),
        (ACTION, {"action_id": "a", "name": "update_task_status", "arguments": {"task_id": "t", "status": "done"}}),
        (ACTION, {"action_id": "a", "requestor": "user", "name": "create_task", "arguments": {}}),
        ("evaluation_criteria/reward_basis", ["DB", "COMUNICATE"]),
        ("evaluation_criteria/env_assertions", [{"env_type": "assistant", "func_name": "assert_tasks"}]),
        ("initial_state", {"initialization_actions": [{"env_type": "user", "func_name": "create_task"}]}),
        ("user_scenario/script", {"requests": [{"say": "Hello."}], "goals": [{"tool": "create_task", "expects": []}]}),
        ("user_tools", ["create_task"]),
    ],
)
def test_what_does_not_fit_a_domain_is_refused(path: str, value: Any) -> None:
    broken = changed(TASK, path, value)
    assert ANY.is_valid(broken)
    assert not MOCK.is_valid(broken)
    assert not MOCK.is_valid([broken])


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["airline", "retail", "telecom"])
def test_reference_actions_are_checked_as_a_run_checks_them(name: str) -> None:
    """Each argument of each bundled action is removed, misspelt and replaced; both checks agree every time."""
    domain, check = load_domain(name), of_domain(name)
    tried = {True: 0, False: 0}
    for task in domain.tasks(split=None)[:40]:
        whole = json.loads(task.model_dump_json(exclude_none=True))
        for position, action in enumerate(task.criteria.actions or []):
            # Without the other actions, which are valid and would be checked as often.
            document = {
                **whole,
                "evaluation_criteria": {"actions": [whole["evaluation_criteria"]["actions"][position]]},
            }
            assert check.is_valid(document)
            toolkit = domain.spec.agent_tools if action.requestor == "assistant" else domain.spec.user_tools
            assert toolkit is not None
            schema = toolkit.tools()[action.name].parameters
            for key in list(action.arguments)[:3]:
                rest = {name: value for name, value in action.arguments.items() if name != key}
                for arguments in (rest, {**rest, f"{key}_": 1}, {**rest, key: {"x": 1}}, {**rest, key: "?"}):
                    fits = not misfits(arguments, schema)
                    broken = changed(document, f"{ACTION}/arguments", arguments)
                    assert check.is_valid(broken) == fits, (action.name, arguments)
                    tried[fits] += 1
    assert tried[False] > 20


def test_names_and_arguments_are_offered_with_their_descriptions() -> None:
    schema = MOCK.schema
    agent, user = (
        rule["then"]["properties"]["name"]
        for rule in schema["definitions"]["Action"]["allOf"]
        if "name" in rule["then"]["properties"]
    )
    assert agent["enum"] == ["create_task", "get_users", "update_task_status", "transfer_to_human_agents"]
    assert agent["enumDescriptions"][0] == "Add a pending task to somebody's list."
    assert set(user["enum"]) == set(load_domain("mock").spec.user_tools.tools())  # type: ignore[union-attr]
    arguments = schema["definitions"]["assistant.create_task"]
    assert arguments["properties"]["title"]["description"] == "A short name of the task."
    assert (
        schema["definitions"]["Request"]["properties"]["insist"]["description"]
        == "The number of repetitions after refusals."
    )


# run, simulation


@pytest.fixture
def run_folder(pytester: pytest.Pytester) -> Path:
    result = pytester.runpytest("-pno:asyncio", "--tau-domain", "mock", "--tau-trials", "2", "-k", "create")
    assert result.ret == 0
    (folder,) = (pytester.path / ".tau" / "runs").iterdir()
    return folder


def test_the_files_of_a_run_are_valid(run_folder: Path) -> None:
    manifest = json.loads((run_folder / "run.json").read_text(encoding="utf-8"))
    check = validator(manifest_schema())
    assert [error.message for error in check.iter_errors(manifest)] == []
    assert not check.is_valid({**manifest, "format": 2})
    assert not check.is_valid({**manifest, "more": 1})
    assert set(check.schema["properties"]) >= set(manifest)
    lines = (run_folder / "simulations.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) >= 2
    check = validator(simulation_schema())
    for line in lines:
        simulation = json.loads(line)
        assert [error.message for error in check.iter_errors(simulation)] == []
        assert not check.is_valid({**simulation, "termination_reason": "boredom"})
        assert not check.is_valid({key: value for key, value in simulation.items() if key != "task"})


def test_the_manifest_of_a_run_with_an_agent_of_a_fixture_is_valid(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("""
        import pytest

        class Agent:
            def respond(self, message):
                return "Bye."

        @pytest.fixture
        def tau_agent():
            return Agent()
    """)
    pytester.runpytest("-pno:asyncio", "--tau-domain", "mock", "-k", "create-task")
    (folder,) = (pytester.path / ".tau" / "runs").iterdir()
    manifest = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert manifest["participants"]["agent"] == ["fixture tau_agent"]
    assert [error.message for error in validator(manifest_schema()).iter_errors(manifest)] == []


# options


@pytest.mark.parametrize(
    "text",
    [
        '[pytest]\ntau_domain = ["retail"]\ntau_agent = "agent.py:Agent"\nminversion = "9.0"\n',
        '[tool.pytest.ini_options]\ntau_domain = "retail"\ntau_trials = 4\ntau_timeout = 2.5\ntau_solo = true\n',
        '[tool.pytest]\ntau_grading = "strict"\ntau_seed = "7"\n[tool.ruff]\nline-length = 100\n',
        '[pytest]\ntau_record = true\ntau_agent_llm_args = {temperature = 0.5}\ntau_rerun = ["failed", "error"]\n',
        '[pytest]\ntau_user_persona = {verbosity = "minimal"}\ntau_provider_limit = {openai = 4}\n',
        '[project]\nname = "x"\n',
    ],
)
def test_settings_are_valid(text: str) -> None:
    assert [
        error.message for error in validator(options_schema(ALL_OPTIONS.values())).iter_errors(tomllib.loads(text))
    ] == []


@pytest.mark.parametrize(
    "line",
    [
        'tau_agnet = "x"',
        'tau_grading = "kind"',
        'tau_solo = "yes"',
        "tau_trials = 2.5",
        "tau_domain = 7",
        'tau_record = "some"',
        "tau_snapshot = 1",
        "tau_trials = true",
        "tau_agent = 7",
    ],
)
@pytest.mark.parametrize("table", ["pytest", "tool.pytest", "tool.pytest.ini_options"])
def test_settings_that_cannot_be_used_are_refused(table: str, line: str) -> None:
    assert not validator(options_schema(ALL_OPTIONS.values())).is_valid(tomllib.loads(f"[{table}]\n{line}\n"))


def test_every_ini_key_has_a_description() -> None:
    keys = options_schema(ALL_OPTIONS.values())["definitions"]["options"]["properties"]
    assert set(keys) == {*(option.dest for option in ALL_OPTIONS.values()), "tau_files", "tau_tasks"}
    assert all(key["description"] for key in keys.values())


# The command


def test_a_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "task"]) == 0
    assert json.loads(capsys.readouterr().out) == task_file_schema()
    assert main(["schema", "run"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "run.json"


def test_all_schemas_are_printed_or_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["schema"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert list(printed) == ["task", "run", "simulation", "options", "program"]
    for schema in printed.values():
        Draft7Validator.check_schema(schema)
    assert printed["options"] == options_schema(ALL_OPTIONS.values())
    assert main(["schema", "-o", "schemas"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"schemas/{kind}.schema.json" for kind in printed]
    for kind, schema in printed.items():
        assert json.loads((tmp_path / "schemas" / f"{kind}.schema.json").read_text(encoding="utf-8")) == schema


def test_the_domain_of_a_conftest_has_a_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(tmp_path / "project")]) == 0
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setattr(sys, "path", sys.path[:])
    capsys.readouterr()
    try:
        assert main(["schema", "task", "--domain", "bookings", "--out", "task.schema.json"]) == 0
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "bookings"]:
            del sys.modules[name]
    check = validator(json.loads((tmp_path / "project" / "task.schema.json").read_text(encoding="utf-8")))
    tasks = json.loads((tmp_path / "project" / "bookings/tasks/bookings.json").read_text(encoding="utf-8"))
    assert check.is_valid(tasks)
    assert not check.is_valid(changed(tasks[0], ACTION + "/name", "cancel"))


def test_the_schema_of_the_options_does_not_depend_on_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tmp_path.joinpath("pytest.toml").write_text('[pytest]\naddopts = ["--no-such-option"]\n')
    tmp_path.joinpath("conftest.py").write_text("import no_such_module\n")
    monkeypatch.chdir(tmp_path)
    assert main(["schema", "options"]) == 0
    assert json.loads(capsys.readouterr().out) == options_schema(ALL_OPTIONS.values())


def test_the_commands_of_the_page_write_schemas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\$ tau (schema .*?)\s*#", page, re.MULTILINE)
    assert len(commands) == 4
    for command in commands:
        assert main(command.split()) == 0
    for file in capsys.readouterr().out.splitlines():
        Draft7Validator.check_schema(json.loads(Path(file).read_text(encoding="utf-8")))
    check = validator(json.loads(Path("retail.schema.json").read_text(encoding="utf-8")))
    for shown in re.findall(r"```json\n(.*?)```", page, re.DOTALL)[:1]:
        assert check.is_valid(json.loads(shown))


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["task", "--domain", "bank"], "unknown domain 'bank'"),
        (["run", "--domain", "mock"], "--domain applies to the schema of tasks, not to that of run"),
    ],
)
def test_unknown_schema_is_an_error(args: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", *args]) == 2
    assert problem in capsys.readouterr().err
