"""Run the trials of a run on a Ray cluster, twenty at a time."""

import subprocess
import sys

import ray

RUN = [sys.executable, "-m", "pytest", "--tau-domain", "airline", "--tau-agent", "rules"]
RUN += ["--tau-results", "s3://bucket/runs", "--tau-run-name", "night"]


@ray.remote(num_cpus=1, max_retries=2)
def run(ids: list[str]) -> int:
    """Run a list of trials; 1 is the status of a run in which some have failed."""
    status = subprocess.run([*RUN, "--tau-select", "-"], input="\n".join(ids), text=True, check=False).returncode
    if status > 1:
        raise RuntimeError(f"pytest has exited with {status}")
    return status


if __name__ == "__main__":
    listed = subprocess.run([*RUN, "--collect-only", "-q"], capture_output=True, text=True, check=True)
    trials = [line for line in listed.stdout.splitlines() if "::" in line]
    ray.init()
    ray.get([run.remote(trials[start : start + 20]) for start in range(0, len(trials), 20)])
