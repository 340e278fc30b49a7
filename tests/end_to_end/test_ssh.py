"""pytest-xdist over ssh, with a server of our own on this machine."""

from __future__ import annotations

import getpass
import shlex
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin")
pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(SSHD is None or shutil.which("ssh") is None, reason="sshd or ssh is not installed"),
]
OWN_TEST = """
import pytest

@pytest.mark.tau(domain="mock", tasks="create*", trials=2)
def test_own(tau_simulation):
    assert tau_simulation.messages
"""


@pytest.fixture
def ssh_config(tmp_path):
    """The configuration of a client, for the host ``far``."""
    folder = tmp_path / "ssh"
    folder.mkdir(mode=0o700)
    Path("/run/sshd").mkdir(exist_ok=True)  # sshd of root wants it
    for name in ("host", "key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/key.pub\n"
        f"PidFile {folder}/pid\nUsePAM no\nStrictModes no\nPasswordAuthentication no\n"
    )
    config = folder / "ssh_config"
    config.write_text(
        f"Host far\n  HostName 127.0.0.1\n  Port {port}\n  User {getpass.getuser()}\n  IdentityFile {folder}/key\n"
        "  UserKnownHostsFile /dev/null\n  StrictHostKeyChecking no\n  LogLevel ERROR\n"
    )
    server = subprocess.Popen([str(SSHD), "-D", "-f", folder / "sshd_config"], stderr=subprocess.DEVNULL)
    for _ in range(100):
        if subprocess.run(["ssh", "-F", config, "far", "true"], check=False, capture_output=True).returncode == 0:
            break
        time.sleep(0.1)
    yield config
    server.kill()
    server.wait()


def test_the_worked_example_of_the_page(tmp_path, ssh_config):
    project, far = tmp_path / "project", tmp_path / "far"
    (project / "tests").mkdir(parents=True)
    far.mkdir()
    (project / "pytest.ini").write_text("[pytest]\nfilterwarnings =\n    ignore:The --rsyncdir\n")
    (project / "agent.py").write_text("class Agent:\n    def respond(self, message):\n        return 'Hm.'\n")
    (project / "tests" / "test_own.py").write_text(OWN_TEST)

    # The environment may be in a folder with a space, which ends an option of a specification.
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o700)

    def run(*args, chdir=far):
        spec = f"ssh=far//ssh_config={ssh_config}//python={python}//chdir={chdir}"
        command = [
            "-m",
            "pytest",
            "--dist",
            "load",
            "--tx",
            spec,
            "--max-worker-restart",
            "2",
            "--tau-user",
            "noop",
            *args,
        ]
        return subprocess.run([sys.executable, *command], cwd=project, check=False, capture_output=True, text=True)

    done = run("--rsyncdir", ".", "--tau-agent", "agent.py:Agent", "tests")
    assert "4 passed" in done.stdout, done.stdout + done.stderr
    (stored,) = (project / ".tau/runs").iterdir()
    assert len((stored / "simulations.jsonl").read_text().splitlines()) == 4
    # What was copied before, without --rsyncdir.
    shutil.copytree(project, tmp_path / "copy", ignore=shutil.ignore_patterns(".tau"))
    done = run("--tau-agent", "agent:Agent", ".", chdir=tmp_path / "copy")
    assert "4 passed" in done.stdout, done.stdout + done.stderr
    (tmp_path / "other.py").write_text((project / "agent.py").read_text())
    done = run("--rsyncdir", ".", "--tau-agent", "../other.py:Agent", "tests")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "ERROR: worker gw0: agent '../other.py:Agent': no file" in done.stderr
