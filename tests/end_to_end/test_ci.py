"""The GitHub Action and the GitLab template: their shell, run by bash with stand-ins for gh, curl and pytest."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.exhaustive

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
GITLAB = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text(encoding="utf-8"))[".pytest-tau"]
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
MARKER = "<!-- pytest-tau: tau -->"

#: The stand-in for gh carries out --jq with it.
needs_jq = pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")

#: Records its arguments, and answers as GitHub does: the comments of a file, through --jq.
GH = """#!/usr/bin/env bash
printf '%s\\n' "$*" >> "$CALLS"
for argument in "$@"; do
  case "$argument" in body=@*) cp "${argument#body=@}" "$SENT";; esac
done
while [ $# -gt 0 ]; do
  if [ "$1" = --jq ]; then jq -r "$2" < "$COMMENTS"; fi
  shift
done
"""
#: Records its arguments, and answers as GitLab does.
CURL = """#!/usr/bin/env bash
printf '%s\\n' "$*" >> "$CALLS"
out=
while [ $# -gt 0 ]; do
  case "$1" in
    --output) out="$2"; shift;;
    body@*) cp "${1#body@}" "$SENT";;
    http*) url="$1";;
  esac
  shift
done
case "$url" in
  */user) echo '{"id": 7}';;
  */download) [ -f "$ARTIFACT" ] || exit 22; cp "$ARTIFACT" "$out";;
  *notes\\?*) cat "$COMMENTS";;
esac
"""
#: In place of Python: pytest writes what a run writes, and all else is Python's.
PYTHON = f"""#!/usr/bin/env bash
if [ "$1" = -m ] && [ "$2" = pytest ]; then
  printf '%s\\n' "${{@:3}}" > "$GIVEN"
  mkdir -p .tau/ci/run/current
  echo '{{}}' > .tau/ci/run/current/run.json
  printf '%s\\n' "${{SUMMARY-All good.}}" > .tau/ci/summary.md
  exit "${{STATUS:-0}}"
fi
exec "{sys.executable}" "$@"
"""


@pytest.fixture
def shell(tmp_path: Path) -> Any:
    """Runs a command by bash in a folder of its own; returns the finished process."""
    folder, tools = tmp_path / "work", tmp_path / "bin"
    folder.mkdir()
    tools.mkdir()
    for name, text in (("gh", GH), ("curl", CURL), ("python", PYTHON)):
        (tools / name).write_text(text, encoding="utf-8")
        (tools / name).chmod(0o755)
    files = {name: str(tmp_path / name.lower()) for name in ("CALLS", "SENT", "GIVEN", "COMMENTS", "ARTIFACT")}
    Path(files["COMMENTS"]).write_text("[]", encoding="utf-8")

    def run(command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        given = {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(tmp_path), "GITHUB_ACTION_PATH": str(ROOT)}
        return subprocess.run(
            ["bash", "-e", "-c", command],
            cwd=folder,
            env=given | files | variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    run.folder, run.files = folder, {name: Path(path) for name, path in files.items()}  # type: ignore[attr-defined]
    return run


def step(shell: Any, name: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a step of the action as GitHub does: its command, with the variables of ``env``."""
    missing = set(STEPS[name].get("env", ())) - set(variables) - {"TAU_PYTHON", "TAU_FOLDER", "TAU_SHARD"}
    assert not missing, f"the step {name} has the variables {missing}, too"
    return shell(STEPS[name]["run"], **variables)


GITHUB = {
    "GITHUB_REPOSITORY": "own/repo",
    "GITHUB_SERVER_URL": "https://github.test",
    "GITHUB_RUN_ID": "5",
    "GITHUB_EVENT_NAME": "pull_request",
    "GH_TOKEN": "secret",
    "TAU_HEAD": "own/repo",
    "TAU_NAME": "tau",
    "TAU_PULL_REQUEST": "3",
    "TAU_STATUS": "1",
}


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


# The action


def test_no_step_has_an_expression_in_its_shell() -> None:
    for each in ACTION["runs"]["steps"]:
        assert "${{" not in each.get("run", "")
    for file in (ROOT / "ci").iterdir():
        assert "${{" not in re.sub(r"\$\{\{?\w*\[@\]\+[^\n]*", "", file.read_text(encoding="utf-8")), file


def test_forks_get_no_comment_and_no_secret() -> None:
    condition = STEPS["Comment on the pull request"]["if"]
    assert "github.event_name == 'pull_request'" in condition
    assert "head.repo.full_name == github.repository" in condition
    with_token = [each["name"] for each in ACTION["runs"]["steps"] if "inputs.token" in json.dumps(each)]
    assert with_token == ["Comment on the pull request"]
    saved = STEPS["Keep the run as the baseline of this branch"]["if"]
    assert "github.event_name != 'pull_request'" in saved


@pytest.mark.parametrize(
    ("event", "name", "status"),
    [
        ("pull_request", "tau", 0),
        ("push", "agent_2-x", 0),
        ("pull_request_target", "tau", 2),
        ("push", "a b", 2),
        ("push", "$(id)", 2),
        ("push", "", 2),
    ],
)
def test_events_and_names_are_checked(shell: Any, event: str, name: str, status: int) -> None:
    done = step(shell, "Check the inputs", TAU_NAME=name, GITHUB_EVENT_NAME=event)
    assert done.returncode == status
    assert done.stdout.startswith("::error::pytest-tau: ") == bool(status)


@pytest.mark.parametrize(("shard", "status"), [("2/4", 0), ("4", 2), ("0/4", 2), ("1/4;id", 2)])
def test_parts_are_checked_and_name_their_artifacts(shell: Any, shard: str, status: int) -> None:
    output = shell.folder.parent / "output"
    variables = {"TAU_NAME": "tau", "TAU_SHARD": shard, "GITHUB_OUTPUT": str(output)}
    done = step(shell, "Check the inputs", **variables)
    assert (done.returncode, lines(output)) == (status, [] if status else ["part=-2"])
    assert done.stdout.startswith("::error::pytest-tau: shard: ") == bool(status)
    names = [each["with"]["name"] for each in STEPS.values() if each.get("uses", "").startswith("actions/upload-")]
    assert names == [f"${{{{ inputs.name }}}}-{what}${{{{ steps.check.outputs.part }}}}" for what in ("report", "run")]


def test_a_part_is_no_measure_and_no_verdict(shell: Any) -> None:
    run_tests(shell)
    given, output = run_tests(shell, "-k x", TAU_SHARD="2/4", STATUS="1")
    assert given[:4] == ["-k", "x", "--tau-shard", "2/4"]
    assert "--tau-baseline" not in given
    assert output == ["status=1", "baseline=none"]
    for name in ("Fetch the last run of the base branch", "Comment on the pull request"):
        assert "inputs.shard == ''" in STEPS[name]["if"]
    statuses = {"0": 0, "1": 0, "2": 2, "5": 5, "": 2}
    for status, code in statuses.items():
        assert step(shell, "Report the outcome", TAU_STATUS=status, TAU_SHARD="2/4").returncode == code


def run_tests(shell: Any, arguments: str = "", **variables: str) -> tuple[list[str], list[str]]:
    output = shell.folder.parent / "output"
    output.unlink(missing_ok=True)
    done = step(
        shell,
        "Run the tests",
        TAU_ARGUMENTS=arguments,
        **{"TAU_BASELINE": "true", "GITHUB_OUTPUT": str(output), "GITHUB_EVENT_NAME": "push"} | variables,
    )
    assert done.returncode == 0, done.stderr
    return lines(shell.files["GIVEN"]), lines(output)


def test_arguments_are_given_as_they_are_and_never_run(shell: Any) -> None:
    given, output = run_tests(shell, "--tau-task 'a b' -k \"$(touch hacked)\" --x=`id` ; rm -rf /")
    assert given[:8] == ["--tau-task", "a b", "-k", "$(touch hacked)", "--x=`id`", ";", "rm", "-rf"]
    assert given[9:11] == ["--tau-results", ".tau/ci/run"]
    assert output == ["status=0", "baseline=new"]
    assert not (shell.folder / "hacked").exists()


def test_arguments_that_cannot_be_read_run_nothing(shell: Any) -> None:
    done = step(shell, "Run the tests", TAU_ARGUMENTS="-k 'unfinished", TAU_BASELINE="true")
    assert done.returncode == 2
    assert done.stdout.startswith(
        "::error::pytest-tau: arguments: No closing quotation: expected arguments quoted as in"
    )
    assert done.stderr == ""
    assert not shell.files["GIVEN"].exists()


def test_the_second_run_of_a_branch_is_compared_with_the_first(shell: Any) -> None:
    first, _ = run_tests(shell)
    second, _ = run_tests(shell)
    assert "--tau-baseline" not in first
    assert second[second.index("--tau-baseline") + 1] == ".tau/ci/baseline"
    third, _ = run_tests(shell, TAU_BASELINE="false")
    assert "--tau-baseline" not in third


def test_failures_are_an_output_and_end_the_job_at_last(shell: Any) -> None:
    _, output = run_tests(shell, STATUS="1")
    assert output == ["status=1", "baseline=new"]
    assert step(shell, "Report the outcome", TAU_STATUS="1").returncode == 1
    assert step(shell, "Report the outcome", TAU_STATUS="0").returncode == 0
    assert step(shell, "Report the outcome", TAU_STATUS="").returncode == 2


@pytest.mark.parametrize("variables", [{"STATUS": "2"}, {"STATUS": "4"}, {"GITHUB_EVENT_NAME": "pull_request"}])
def test_a_run_that_is_no_measure_does_not_become_the_baseline(shell: Any, variables: dict[str, str]) -> None:
    _, output = run_tests(shell, **variables)
    assert output[1] == "baseline=none"
    assert not (shell.folder / ".tau/ci/baseline").exists()


def test_the_summary_is_part_of_the_job_also_for_forks(shell: Any, tmp_path: Path) -> None:
    run_tests(shell, GITHUB_STEP_SUMMARY=str(tmp_path / "shown"), GITHUB_EVENT_NAME="pull_request")
    assert lines(tmp_path / "shown") == ["All good."]


def comment(shell: Any, *comments: dict[str, Any], **variables: str) -> list[str]:
    shell.files["COMMENTS"].write_text(json.dumps(list(comments)), encoding="utf-8")
    shell.files["CALLS"].unlink(missing_ok=True)
    done = step(shell, "Comment on the pull request", **GITHUB | variables)
    assert done.returncode == 0, done.stderr
    assert "secret" not in done.stdout + done.stderr
    return lines(shell.files["CALLS"])


def of_bot(number: int, body: str, kind: str = "Bot") -> dict[str, Any]:
    return {"id": number, "body": body, "user": {"type": kind}}


@needs_jq
def test_a_comment_is_written_and_then_updated(shell: Any) -> None:
    run_tests(shell)
    *_, written = comment(shell)
    assert "--method POST repos/own/repo/issues/3/comments" in written
    body = shell.files["SENT"].read_text(encoding="utf-8")
    assert body.startswith(f"{MARKER}\n")
    assert "All good." in body
    assert "https://github.test/own/repo/actions/runs/5" in body
    others = (of_bot(1, "hello"), of_bot(2, body, "User"), of_bot(3, body.replace("tau -->", "tau2 -->")))
    *_, updated = comment(shell, *others, of_bot(4, body), of_bot(5, body))
    assert "--method PATCH repos/own/repo/issues/comments/4 " in updated


@needs_jq
def test_a_long_summary_is_cut_between_characters(shell: Any) -> None:
    # Whatever the place of the cut, it is between lines.
    for start in ("", "x", "xy"):
        run_tests(shell, SUMMARY=f"{start}\n<details><summary>{'é' * 1_000}</summary>\n" + f"{'é日' * 300}\n" * 45)
        comment(shell)
        body = shell.files["SENT"].read_text(encoding="utf-8")
        assert 55_000 < len(body.encode()) < 65_000
        assert body.count("<details>") == body.count("</details>") == 1
        assert "\n\n</details>\n\n(shortened: the whole summary is in the artifact)\n" in body


@needs_jq
def test_a_short_summary_is_written_as_it_is(shell: Any) -> None:
    run_tests(shell, SUMMARY="<details>a\n</details>\nend")
    comment(shell)
    assert "\n<details>a\n</details>\nend\n\n[Run and" in shell.files["SENT"].read_text(encoding="utf-8")


@needs_jq
def test_without_results_the_comment_says_so(shell: Any) -> None:
    comment(shell, TAU_STATUS="4")
    assert "exit status 4 and has no results" in shell.files["SENT"].read_text(encoding="utf-8")


@pytest.mark.parametrize("variables", [{"TAU_HEAD": "other/repo"}, {"GITHUB_EVENT_NAME": "pull_request_target"}])
def test_the_script_itself_refuses_forks(shell: Any, variables: dict[str, str]) -> None:
    assert comment(shell, **variables) == []


# GitLab

MERGE_REQUEST = {
    "CI_API_V4_URL": "https://gitlab.test/api/v4",
    "CI_JOB_NAME": "agent",
    "CI_JOB_TOKEN": "job",
    "CI_JOB_URL": "https://gitlab.test/job/1",
    "CI_MERGE_REQUEST_IID": "3",
    "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "9",
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "release/1 & more",
    "CI_PROJECT_ID": "9",
    "TAU_ARGUMENTS": "--tau-task 'a b' $(touch hacked)",
    "TAU_GITLAB_TOKEN": "token",
    "TAU_NAME": "tau",
}


def gitlab(shell: Any, *notes: dict[str, Any], **variables: str) -> list[str]:
    shell.files["COMMENTS"].write_text(json.dumps(list(notes)), encoding="utf-8")
    shell.files["CALLS"].unlink(missing_ok=True)
    (script,) = GITLAB["script"]
    done = shell(script, **MERGE_REQUEST | variables)
    assert str(done.returncode) == variables.get("STATUS", "0"), done.stderr
    return lines(shell.files["CALLS"])


def test_variables_that_cannot_be_read_run_nothing_on_gitlab(shell: Any) -> None:
    (script,) = GITLAB["script"]
    done = shell(script, **MERGE_REQUEST | {"TAU_ARGUMENTS": "-k 'unfinished"})
    assert done.returncode == 1
    assert "pytest-tau: TAU_ARGUMENTS: No closing quotation" in done.stderr
    assert not shell.files["GIVEN"].exists()


def test_a_long_note_is_cut_between_lines(shell: Any) -> None:
    gitlab(shell, SUMMARY="<details>\n" + f"{'é' * 200}\n" * 250, STATUS="0")
    body = shell.files["SENT"].read_text(encoding="utf-8")
    assert body.count("<details>") == body.count("</details>") == 1


def note(number: int, body: str, author: int = 7) -> dict[str, Any]:
    return {"id": number, "body": body, "author": {"id": author}}


def test_a_note_is_written_and_then_updated(shell: Any) -> None:
    first, *_, written = gitlab(shell)
    assert "projects/9/jobs/artifacts/release%2F1%20%26%20more/download" in first
    assert "--request POST" in written
    assert lines(shell.files["GIVEN"])[:4] == ["--tau-task", "a b", "$(touch", "hacked)"]
    assert not (shell.folder / "hacked").exists()
    body = shell.files["SENT"].read_text(encoding="utf-8")
    assert body.startswith(f"{MARKER}\n")
    *_, updated = gitlab(shell, note(1, body, 8), note(2, "hello"), note(3, body), STATUS="1")
    assert "--request PUT" in updated
    assert updated.endswith("/merge_requests/3/notes/3")


def test_the_baseline_is_the_artifact_of_the_target_branch(shell: Any) -> None:
    with zipfile.ZipFile(shell.files["ARTIFACT"], "w") as archive:
        archive.writestr(".tau/ci/baseline/run.json", "{}")
    gitlab(shell)
    given = lines(shell.files["GIVEN"])
    assert given[given.index("--tau-baseline") + 1] == ".tau/ci/earlier/.tau/ci/baseline"


def test_a_merge_request_of_a_fork_gets_no_note(shell: Any) -> None:
    made = gitlab(shell, CI_MERGE_REQUEST_SOURCE_PROJECT_ID="10")
    assert not any("PRIVATE-TOKEN" in each for each in made)
    assert not any("PRIVATE-TOKEN" in each for each in gitlab(shell, TAU_GITLAB_TOKEN=""))


def test_a_branch_keeps_its_run_for_later(shell: Any) -> None:
    gitlab(shell, CI_MERGE_REQUEST_IID="", CI_MERGE_REQUEST_TARGET_BRANCH_NAME="", STATUS="1")
    assert (shell.folder / ".tau/ci/baseline/run.json").is_file()
    assert ".tau/ci/baseline" in GITLAB["artifacts"]["paths"]
