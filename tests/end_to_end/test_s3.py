"""A store that is a real S3 server, on this machine: moto's."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.exhaustive
pytest.importorskip("moto.server", reason="moto[server,s3] is not installed")
pytest.importorskip("s3fs", reason="s3fs is not installed")
URL = "s3://bucket/runs"


@pytest.fixture
def environment(tmp_path):
    """The environment of processes that use the server."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    access = {"AWS_ACCESS_KEY_ID": "sesame1", "AWS_SECRET_ACCESS_KEY": "sesame2", "AWS_DEFAULT_REGION": "us-east-1"}
    client = boto3.client(
        "s3",
        endpoint_url=f"http://{host}:{port}",
        aws_access_key_id="sesame1",
        aws_secret_access_key="sesame2",
        region_name="us-east-1",
    )
    client.create_bucket(Bucket="bucket")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TAU_", "AWS_"))}
    yield {**clean, **access, "AWS_ENDPOINT_URL": f"http://{host}:{port}"}
    server.stop()


def test_two_machines_on_one_queue_are_one_run(tmp_path, environment):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "--tau-domain", "mock", "--tau-agent", "gold"]
    command += ["--tau-results", URL, "--tau-run-name", "night", "--tau-queue", "--tau-queue-lease", "4"]
    both = [
        subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    texts = [process.communicate(timeout=300)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], texts
    tau = [sys.executable, "-c", "import sys; from pytest_tau.cli import main; sys.exit(main())"]
    arguments = ["merge", f"{URL}/night", "--gate", "pass^1>=0.9"]
    done = subprocess.run(
        [*tau, *arguments], cwd=tmp_path, env=environment, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mock: 16 tasks, 16 trials; 16 passed" in done.stdout
    stored = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"sesame" not in stored
    assert "sesame" not in "".join(texts)
