"""The recipes of the page about many machines: run where they can run here, else checked against what they must have."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "machines.md").read_text(encoding="utf-8")
DOMAIN = "--tau-domain airline --tau-agent rules"
HERE = "--tau-domain mock --tau-split small --tau-agent gold"


def recipe(heading):
    """The first block of code below a heading, as it stands there."""
    return re.search(rf"^### {heading}\n+(?:[^`]*\n)?```\w+\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1]


@pytest.fixture
def shell(tmp_path):
    """Runs a line of a recipe here: with other tasks, and a store in a folder."""
    url = (tmp_path / "store").as_uri()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TAU_"))}

    def run(line, **variables):
        assert DOMAIN in line or line.startswith("tau merge")
        line = re.sub(r"s3://bucket/runs|file:///shared/runs", url, line.replace(DOMAIN, HERE))
        environment = {**clean, "PATH": path, **{name: str(value) for name, value in variables.items()}}
        return subprocess.run(
            ["sh", "-ec", line], cwd=tmp_path, env=environment, check=False, capture_output=True, text=True
        )

    return run


def assert_whole(shell, lines, verdict, index, total, first, **variables):
    """Two machines run all, and the verdict is met; after one of them it is not."""
    for number in (0, 1):
        done = shell(lines, **{index: number + first, total: 2}, **variables)
        assert done.returncode == 0, done.stdout + done.stderr
        assert shell(verdict, **variables).returncode == 1 - number


@pytest.mark.exhaustive
def test_github(shell):
    jobs = yaml.safe_load(recipe("GitHub"))["jobs"]
    assert jobs["verdict"]["needs"] == "trials"
    names = {"${{ strategy.job-index }}": "TAU_SHARD_INDEX", "${{ strategy.job-total }}": "TAU_SHARD_TOTAL"}
    assert {value: key for key, value in jobs["trials"]["env"].items() if value in names} == names
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    run, verdict = (each for each in commands if not each.startswith("pip"))
    assert_whole(shell, run, verdict, "TAU_SHARD_INDEX", "TAU_SHARD_TOTAL", 0, RUN="1-1")


def test_action():
    """The workflow gives the action what it takes, and downloads what it has stored."""
    text = PAGE[PAGE.index("pytest-tau's [action](ci.md) needs no store") :]
    jobs = yaml.safe_load(re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1])["jobs"]
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (given,) = (step["with"] for step in jobs["trials"]["steps"] if "pytest-tau" in step.get("uses", ""))
    assert given.keys() <= action["inputs"].keys()
    shards = jobs["trials"]["strategy"]["matrix"]["shard"]
    assert given["shard"] == f"${{{{ matrix.shard }}}}/{len(shards)}"
    assert shards == [*range(1, len(shards) + 1)]
    (stored,) = (step["with"] for step in action["runs"]["steps"] if step["name"] == "Store the part of the run")
    name = stored["name"].replace("${{ inputs.name }}", action["inputs"]["name"]["default"])
    name = name.replace("${{ steps.check.outputs.part }}", "-2")
    download, merge = jobs["verdict"]["steps"][2:]
    assert fnmatch(name, download["with"]["pattern"])
    assert merge["run"].split()[:3] == ["tau", "merge", download["with"]["path"]]


@pytest.mark.exhaustive
def test_gitlab(shell):
    jobs = yaml.safe_load(recipe("GitLab"))
    assert (jobs["trials"]["parallel"], jobs["verdict"]["needs"]) == (4, ["trials"])
    (run,), (verdict,) = jobs["trials"]["script"], jobs["verdict"]["script"]
    assert_whole(shell, run, verdict, "CI_NODE_INDEX", "CI_NODE_TOTAL", 1, CI_PIPELINE_ID=7)


@pytest.mark.exhaustive
def test_slurm(shell):
    script = recipe("SLURM")
    assert script.startswith("#!/bin/bash\n#SBATCH --array=0-15\n")
    run = script[script.index("pytest") :]
    variables = {"SLURM_ARRAY_JOB_ID": 5, "SLURM_ARRAY_TASK_MIN": 0}
    verdict = "tau merge file:///shared/runs/5"
    assert_whole(shell, run, verdict, "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", 0, **variables)


@pytest.mark.exhaustive
def test_kubernetes(shell):
    job = yaml.safe_load(recipe("Kubernetes"))
    assert (job["apiVersion"], job["kind"], job["spec"]["completionMode"]) == ("batch/v1", "Job", "Indexed")
    assert job["spec"]["template"]["spec"]["restartPolicy"] == "Never"
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["sh", "-c"]
    done = shell(container["args"][0], JOB_COMPLETION_INDEX=0)
    assert "tau: queue: 3 of 3 tests run here" in done.stdout, done.stdout + done.stderr
    assert shell("tau merge s3://bucket/runs/night").returncode == 0
    validate = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")
    validate.validate(job, "1.29", strict=True)


@pytest.mark.exhaustive
def test_ray(tmp_path):
    pytest.importorskip("ray", reason="ray is not installed")
    text = (
        (ROOT / "examples" / "machines" / "ray_run.py")
        .read_text(encoding="utf-8")
        .replace('"airline", "--tau-agent", "rules"', '"mock", "--tau-split", "small", "--tau-agent", "gold"')
    )
    (tmp_path / "recipe.py").write_text(text.replace("s3://bucket/runs", (tmp_path / "store").as_uri()))
    subprocess.run([sys.executable, "recipe.py"], cwd=tmp_path, check=True)
    merge = [sys.executable, "-c", "import sys; from pytest_tau.cli import main; sys.exit(main())", "merge"]
    subprocess.run([*merge, (tmp_path / "store" / "night").as_uri()], cwd=tmp_path, check=True)


@pytest.mark.parametrize("name", ["ray_run.py", "modal_run.py"])
def test_python_recipes_compile(name):
    compile((ROOT / "examples" / "machines" / name).read_text(encoding="utf-8"), name, "exec")
