"""The command ``tau serve``: its start, its end, and options that cannot be used."""

from __future__ import annotations

import importlib
import os
import signal
import socket
import subprocess
import sys

import httpx
import pytest

from pytest_tau.cli import main

COMMAND = [sys.executable, "-c", "from pytest_tau.cli import main; raise SystemExit(main())", "serve"]


def started(*arguments, **variables):
    environment = {**os.environ, **variables}
    return subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


def lines(process):
    found = []
    while not found or not found[-1].startswith("Ctrl-C"):
        line = process.stdout.readline()
        assert line, process.stderr.read()
        found.append(line.rstrip("\n"))
    return found


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server(number):
    process = started("mock", "--port", "0")
    shown = lines(process)
    base = shown[0].removeprefix("mock: ")
    assert shown == [f"mock: {base}", f"OpenAPI: {base}/openapi.json", "Ctrl-C ends the server."]
    with httpx.Client(trust_env=False) as client:  # its connection is open at the end
        assert client.post(f"{base}/environments").status_code == 201
        process.send_signal(number)
        assert process.communicate(timeout=20) == ("", "")
    assert process.returncode == 0


@pytest.mark.exhaustive
def test_a_new_token_is_shown_once():
    process = started("mock", "--port", "0", "--token", "--mcp")
    shown = lines(process)
    base = shown[0].removeprefix("mock: ")
    assert shown[2] == f"MCP: {base}/mcp"
    token = shown[3].removeprefix("token: ")
    assert len(token) >= 32
    assert httpx.get(base, trust_env=False).status_code == 401
    assert httpx.get(base, headers={"Authorization": f"Bearer {token}"}, trust_env=False).status_code == 200
    process.terminate()
    assert process.communicate(timeout=20) == ("", "")


@pytest.mark.exhaustive
def test_the_token_of_the_environment_is_not_shown():
    process = started("mock", "--port", "0", TAU_SERVE_TOKEN="0123456789abcdef")
    shown = lines(process)
    assert not any("token" in line or "0123456789abcdef" in line for line in shown)
    base = shown[0].removeprefix("mock: ")
    assert httpx.get(base, trust_env=False).status_code == 401
    headers = {"Authorization": "Bearer 0123456789abcdef"}
    assert httpx.get(base, headers=headers, trust_env=False).status_code == 200
    process.terminate()
    process.communicate(timeout=20)


@pytest.mark.exhaustive
def test_any_address_but_loopback_needs_a_token():
    process = started("mock", "--host", "0.0.0.0", "--port", "0")
    shown = lines(process)
    port = shown[0].rpartition(":")[2]
    assert shown[2].startswith("token: ")
    assert httpx.get(f"http://127.0.0.1:{port}", trust_env=False).status_code == 401
    process.terminate()
    process.communicate(timeout=20)


def test_a_port_in_use_is_an_error(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["serve", "mock", "--port", port]) == 2
        message = capsys.readouterr().err
        assert message == (
            f"tau serve: cannot listen on 127.0.0.1, port {port}: the port is in use: choose another by --port, or "
            "--port 0 for a free one\n"
        )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["telekom"], "unknown domain 'telekom'; did you mean 'telecom'?"),
        (["mock", "--task", "none"], "--task: unknown task 'none'"),
        (["mock", "--port", "70000"], "--port: expected 0 to 65535, got 70000"),
        (["mock", "--max-environments", "0"], "--max-environments: expected 1 or more, got 0"),
        (["mock", "--max-per-client", "0"], "--max-per-client: expected 1 or more, got 0"),
        (["mock", "--max-body", "-1"], "--max-body: expected 1 or more, got -1"),
        (["mock", "--max-seconds", "0"], "--max-seconds: expected a number of seconds above 0, got 0"),
        (["mock", "--idle", "nan"], "--idle: expected a number of seconds above 0, got nan"),
        (["mock", "--judge", "llm"], "judge 'llm' needs a model: add --judge-llm MODEL"),
        (["mock", "--host", "203.0.113.7", "--port", "0"], "cannot listen on 203.0.113.7, port 0: "),
    ],
)
def test_what_cannot_be_used_is_an_error(arguments, said, capsys):
    assert main(["serve", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("token", ["short", "with a blank in it", "0123456789abcdeé"])
def test_a_token_that_cannot_be_used_is_an_error_that_does_not_show_it(token, capsys, monkeypatch):
    monkeypatch.setenv("TAU_SERVE_TOKEN", token)
    assert main(["serve", "mock"]) == 2
    message = capsys.readouterr().err
    assert "$TAU_SERVE_TOKEN: expected at least 16 characters" in message
    assert token not in message


def test_without_aiohttp_the_error_names_the_extra(capsys, monkeypatch):
    real = importlib.import_module

    def without(name, package=None):
        if name == "aiohttp.web":
            raise ImportError("No module named 'aiohttp'")
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", without)
    assert main(["serve", "mock"]) == 2
    assert "tau serve needs aiohttp: pip install './pytest-tau[endpoint]'" in capsys.readouterr().err
