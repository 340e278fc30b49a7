"""Twelve kinds of secrets, searched for in everything that a run leaves: files, output, errors, exports."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from pytest_tau.chat import ChatRequest
from pytest_tau.testing import ModelServer
from pytest_tau.testing.completions import refusal
from pytest_tau.testing.faults import Fault

pytestmark = pytest.mark.usefixtures("warm_processes")

TAU = "from pytest_tau.cli import main; raise SystemExit(main())"
#: An argument of model calls each, with a value that is nowhere else.
ARGUMENTS = {
    "api_key": "sk-seCret01-api-key-value",
    "extra_headers": {"X-Own-Header": "seCret02-header-value", "Authorization": "Bearer seCret03-bearer-value"},
    "organization": "org-seCret04organization",
    "project": "proj_seCret05project",
    "user": "seCret06-user-of-an-account",
    "aws_access_key_id": "AKIASECRET07ACCESSKEY",
    "aws_secret_access_key": "seCret08-aws-secret",
    "aws_role_name": "arn:aws:iam::123456789012:role/seCret09",
    "vertex_project": "seCret10-vertex-project",
    "vertex_credentials": '{"private_key": "seCret11-vertex-credentials"}',
    "azure_ad_token": "eyJhbGciOi.seCret12payload.signature",
    "tenant_id": "seCret13-tenant",
    "metadata": {"user_id": "seCret14-person", "kept": "yes"},
    "extra_body": {"organization": "seCret15-nested-organization", "apiKey": "seCret16-camel"},
    "safety_identifier": "seCret17-hash-of-a-person",
    "api_base": "http://login:seCret18-password@127.0.0.1:9/v1?api-key=seCret19-in-a-url",
    "top_p": 0.75,
}
KINDS = [f"secret{number:02}" for number in range(1, 20)]
FAILING = """
    def answer(role, request):
        return "###STOP###" if role == "user" else "Done."
"""
RUNS = {
    "passed": ("", ["--tau-record"]),
    "failed": (FAILING, ["-vv", "-rA", "--tb=long", "--showlocals", "--setup-show", "--durations=5"]),
    "dry": ("", ["--tau-dry-run"]),
    "workers": (FAILING, ["-n", "2", "--tau-record"]),
}
REPORTS = ["--junitxml=r.xml", "--tau-html=r.html", "--tau-markdown=r.md"]


class Quoting(Fault):
    """A refusal that quotes what was sent."""

    def play(self, request, wire):
        wire.send(refusal(401, f"Incorrect key in {json.dumps(ARGUMENTS)} {request}", code="invalid_api_key"))


def kinds_in(text: str) -> list[str]:
    return [kind for kind in KINDS if kind in text.lower()]


def left_in(project) -> dict[str, list[str]]:
    """The files of a project that have a secret in them, with the kinds; not the log of the model itself."""
    found = {}
    for path in project.path.rglob("*"):
        if path.is_file() and path.suffix != ".pyc" and path.name not in ("calls.jsonl", "conftest.py", "pytest.ini"):
            kinds = kinds_in(path.read_bytes().decode("utf-8", "replace"))
            if kinds:
                found[path.relative_to(project.path).as_posix()] = kinds
    return found


@pytest.fixture
def secretive(models):
    """Runs pytest with all secrets among the arguments of both models."""

    def run(*args):
        given = json.dumps(ARGUMENTS)
        return models.run("--tau-agent-llm-args", given, "--tau-user-llm-args", given, *args)

    return run


def tau(project, *args):
    """The output of a command, to both streams."""
    done = subprocess.run([sys.executable, "-c", TAU, *args], cwd=project.path, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()
    return (done.stdout + done.stderr).decode()


def test_the_search_finds_every_kind_in_the_command_line():
    assert kinds_in(json.dumps(ARGUMENTS)) == KINDS


@pytest.mark.parametrize(("script", "more"), RUNS.values(), ids=RUNS)
def test_no_secret_is_in_what_a_run_leaves(models, project, secretive, script, more):
    models.script(script)
    reports = REPORTS if "--tau-dry-run" not in more else []
    run = secretive(*reports, *more)
    assert run.ret in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED), run.text
    assert not kinds_in(run.text)
    assert left_in(project) == {}
    if reports:
        asked = models.asked[0]["args"]
        assert asked["organization"] == ARGUMENTS["organization"], "the model is given all of them"
        (manifest,) = project.path.glob(".tau/runs/*/run.json")
        kept = {"extra_body": {}, "metadata": {"kept": "yes"}, "temperature": 0.0, "top_p": 0.75}
        assert json.loads(manifest.read_text(encoding="utf-8"))["settings"]["agent_llm_args"] == kept


def test_no_secret_is_in_an_error_of_litellm_that_quotes_it(models, project, monkeypatch, litellm_at_hand):
    """The text of a provider's error goes through the package that calls it; the server quotes what it was sent."""
    del litellm_at_hand
    (project.path / "conftest.py").unlink()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another-of-the-environment")
    args = {name: ARGUMENTS[name] for name in ("api_key", "organization", "user", "extra_headers", "metadata")}
    args |= {"aws_role_name": ARGUMENTS["aws_role_name"], "vertex_project": ARGUMENTS["vertex_project"]}
    sent = json.dumps(args)
    quoted = [kind for kind in KINDS if kind in sent.lower()]
    with ModelServer(lambda _request: Quoting()) as server:
        given = json.dumps({**args, "api_base": server.base_url, "num_retries": 0})
        options = ["--tau-agent-llm", "openai/a", "--tau-agent-llm-args", given, "--tau-user-llm", "openai/u"]
        options += ["--tau-user-llm-args", given]
        run = project.run(*options, *REPORTS, "-vv", "-l", "-rA", "--tau-record")
    run.outcomes(errors=1)
    run.line("ModelError")
    assert not set(quoted) & set(kinds_in(run.text))
    assert not {kind for kinds in left_in(project).values() for kind in kinds} & set(quoted)


def test_no_secret_is_in_what_the_commands_write_of_a_run(models, project, secretive):
    models.script(FAILING)
    secretive()
    (folder,) = (str(path) for path in project.path.glob(".tau/runs/*"))
    shown = tau(project, "view", folder) + tau(project, "bless", folder) + tau(project, "compare", "baseline", folder)
    for name in ("tau2", "csv", "jsonl"):
        shown += tau(project, "export", folder, "--format", name, "-o", f"out.{name}")
    shown += tau(project, "merge", folder, "-o", "merged")
    assert not kinds_in(shown)
    assert left_in(project) == {}


def test_what_an_older_run_has_recorded_is_not_passed_on(models, project):
    """Runs of earlier versions have recorded the organization."""
    models.run()
    (manifest,) = project.path.glob(".tau/runs/*/run.json")
    info = json.loads(manifest.read_text(encoding="utf-8"))
    info["settings"]["agent_llm_args"] = {"organization": "org-seCret04organization", "top_p": 0.75}
    manifest.write_text(json.dumps(info), encoding="utf-8")
    tau(project, "bless", str(manifest.parent))
    tau(project, "export", str(manifest.parent), "--format", "tau2", "-o", "out.json")
    assert set(left_in(project)) == {manifest.relative_to(project.path).as_posix()}
    assert "0.75" in (project.path / "out.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("earlier", [False, True], ids=["now", "of an earlier version"])
def test_a_recording_is_replayed_for_another_account(models, project, monkeypatch, earlier):
    def args(organization):
        given = json.dumps({"organization": organization, "user": "someone", "top_p": 0.75})
        return ["--tau-agent-llm-args", given, "--tau-user-llm-args", given]

    with monkeypatch.context() as patch:
        if earlier:
            patch.setattr(ChatRequest, "public_args", property(lambda request: dict(request.args)))
        models.run("--tau-record", *args("org-one")).outcomes(passed=1)
    (name,) = models.cassettes()
    assert ("org-one" in (project.path / name).read_text(encoding="utf-8")) == earlier
    models.calls()
    models.run("--tau-replay", *args("org-two")).outcomes(passed=1)
    assert models.calls() == []


def test_the_command_that_runs_a_trial_again_has_the_other_arguments(models, secretive):
    models.script(FAILING)
    command = secretive().line("again: pytest")
    assert "top_p" in command
    assert "127.0.0.1:9/v1?api-key=***" in command
    assert '"api_key": "***"' in command
    for name in ("organization", "project", "user", "tenant_id", "safety_identifier", "vertex_project"):
        assert f'"{name}"' not in command


def test_names_in_a_schema_are_no_accounts():
    schema = {"type": "json_schema", "json_schema": {"properties": {"user": {}, "project": {}, "organization": {}}}}
    request = ChatRequest(model="m", messages=[], args={"response_format": schema, "user": "x", "max_tokens": 5})
    assert request.public_args == {"max_tokens": 5, "response_format": schema}


#: What an exception may quote of a request, with a value that is nowhere else.
QUOTED = {
    "key": "Incorrect API key provided: sk-quotedAAkey01",
    "login": "https://login:quotedBB@host.example/v1 refused",
    "query": "https://host.example/v1?sig=quotedCC%2Bpart&api-version=2",
    "bearer": "sent Authorization: Bearer quotedDD.0123",
    "basic": "headers {'Authorization': 'Basic quotedEE=='}",
    "cookie": "Cookie: session=quotedFF; theme=quotedGG",
    "pairs": "[(b'x-api-key', b'quotedHH0123')]",
    "json": '{"client_secret": "quotedII 0123", "model": "m"}',
    "assigned": "password=quotedJJ0123 for user",
    "token": "glpat-quotedKK0123456789",
    "pem": "-----BEGIN PRIVATE KEY-----quotedLL-----END PRIVATE KEY-----",
    "of the environment": "using quotedMM-of-the-environment",
    "of the arguments": "asked with quotedNN-of-the-query",
}
MARKS = [f"quoted{letter * 2}" for letter in "ABCDEFGHIJKLMN"]
RAISING = f"""
import logging
TEXT = " | ".join({list(QUOTED.values())!r})

class it:

    def respond(self, message):
        logging.getLogger("client").warning(TEXT)
        raise RuntimeError(TEXT)
"""


def marks_in(text: str) -> list[str]:
    return [mark for mark in MARKS if mark in text]


def marked_files(project) -> dict[str, list[str]]:
    files = (path for path in project.path.rglob("*") if path.is_file() and path.suffix not in (".pyc", ".py"))
    found = {path.name: marks_in(path.read_bytes().decode("utf-8", "replace")) for path in files}
    return {name: marks for name, marks in found.items() if marks}


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["one process", "workers"])
def test_keys_in_the_text_of_an_agents_exception_leave_no_trial(project, a_task, monkeypatch, workers):
    monkeypatch.setenv("OWN_API_TOKEN", "quotedMM-of-the-environment")
    project.tasks("mock/t.tau.json", [a_task()])
    project.write("parts.py", RAISING)
    args = json.dumps({"extra_query": {"sig": "quotedNN-of-the-query"}})
    options = [
        "--tau-agent",
        "parts.py:it",
        "--tau-user",
        "gold",
        "--tau-logs=logs",
        "--tau-record",
        "--tau-agent-llm",
        "openai/m",
    ]
    options += ["--tau-agent-llm-args", args, *REPORTS, "-vv", "-rA", "-o", "junit_logging=all", *workers]
    run = project.run(*options)
    run.outcomes(failed=1)
    run.line("RuntimeError: Incorrect API key provided: ***")
    assert marks_in(run.text) == []
    assert marked_files(project) == {}


def test_keys_in_the_error_of_a_tool_reach_neither_the_agent_nor_a_file(shelf):
    source = (shelf.path / "conftest.py").read_text(encoding="utf-8")
    text = " | ".join(value for name, value in QUOTED.items() if not name.startswith("of "))
    shelf.write("conftest.py", source.replace('raise ToolError(f"no book {title}")', f"raise ToolError({text!r})"))
    shelf.write(
        "parts.py",
        """
        from pytest_tau.testing import ScriptedParticipant, call

        class it(ScriptedParticipant):
            def __init__(self):
                super().__init__([call("lend", title="none"), "Done."])
        """,
    )
    run = shelf.run("--tau-domain", "shelf", "--tau-agent", "parts.py:it", "--tau-user", "gold", *REPORTS, "-vv")
    run.outcomes(failed=2)
    assert marks_in(run.text) == []
    (stored,) = shelf.path.glob(".tau/runs/*/simulations.jsonl")
    assert "Incorrect API key provided: ***" in stored.read_text(encoding="utf-8")
    assert marked_files(shelf) == {}


@pytest.mark.parametrize("name", ["extra_query", "extra_headers", "extra_body"])
def test_a_signature_among_the_arguments_is_stored_nowhere(models, project, name):
    models.script(FAILING)
    args = json.dumps({name: {"sig": "quotedNN-of-the-query"}, "top_p": 0.75})
    run = models.run("--tau-agent-llm-args", args, "--tau-user-llm-args", args, "--tau-record", *REPORTS)
    run.outcomes(failed=1)
    assert marks_in(run.text) == []
    files = {name: marks for name, marks in marked_files(project).items() if name != "calls.jsonl"}
    assert files == {}
    assert models.asked[0]["args"][name] == {"sig": "quotedNN-of-the-query"}, "the model is given it"


def test_a_key_in_the_command_of_an_agent_is_not_in_the_command_that_runs_it_again(project, a_task):
    project.tasks("mock/t.tau.json", [a_task()])
    project.write("agent.py", "raise SystemExit(3)")
    agent = f"cmd:'{sys.executable}' agent.py --api-key sk-quotedAAkey01 --password=quotedJJ0123"
    run = project.run("--tau-agent", agent, "--tau-user", "gold", *REPORTS)
    run.outcomes(failed=1)
    assert "api-key ***" in run.line("again: pytest")
    assert marks_in(run.text) == []
    assert marked_files(project) == {}
