"""Run the trials of a run on Modal, from a queue."""

import subprocess

import modal

image = modal.Image.debian_slim().pip_install("s3fs").add_local_dir(".", "/project", copy=True)
image = image.run_commands("pip install '/project/pytest-tau[store]' -e /project")
app = modal.App("trials", image=image, secrets=[modal.Secret.from_name("aws")])
RUN = ["pytest", "--tau-domain", "airline", "--tau-agent", "rules", "--tau-queue"]
RUN += ["--tau-results", "s3://bucket/runs", "--tau-run-name", "night"]


@app.function(timeout=7200)
def work(number: int) -> int:
    return subprocess.run(RUN, cwd="/project", check=False).returncode


@app.local_entrypoint()
def main() -> None:
    print(list(work.map(range(16))))
