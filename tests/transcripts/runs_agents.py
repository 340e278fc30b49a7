"""Bundled domains and agents, tests and hooks of one's own."""

from __future__ import annotations

from .projects import scripted, shelf
from .running import Run

OWN = """
    import pytest


    @pytest.mark.tau(domain="mock", tasks="create*", trials=2)
    def test_creates(tau_simulation, tau_task, tau_trial):
        assert tau_simulation.reward == 1
        assert tau_simulation.called("create_task", title=tau_task.criteria.actions[0].arguments["title"])
        assert tau_simulation.trial == tau_trial


    @pytest.mark.tau(domain="mock", tasks="create-task", agent="noop")
    def test_fails(tau_simulation):
        assert tau_simulation.reward == 1


    @pytest.mark.tau(domain="mock", tasks="create-task")
    def test_asks_for_more(tau_simulation):
        assert tau_simulation.called("get_users"), "did not look"


    @pytest.mark.tau(domain="mock", tasks="create-task")
    def test_tools(tau_env, tau_agent, tau_user):
        assert "Ada" in tau_env.call("get_users", {}).content
        assert (tau_agent.name, tau_user.name) == ("gold", "gold")


    exec(compile("def lost(messages, tools): raise OSError('line dead')", "provider.py", "exec"))  # as in parts.py


    @pytest.mark.tau(domain="mock", tasks="create-task", user=lost)
    def test_lost(tau_simulation):
        pass


    def test_plain():
        pass
"""
OVERRIDES = """
    import pytest


    @pytest.fixture
    def tau_agent():
        return lambda messages, tools: "I am the override."


    @pytest.fixture
    def tau_simulation(tau_simulation):
        print("turns:", len(tau_simulation.messages))
        return tau_simulation


    @pytest.fixture(autouse=True)
    def around(request):
        print("before", request.node.name)
        yield
        print("after", request.node.name)
"""
HOOKS = """
    def pytest_tau_make_agent(item, task, domain, config):
        print("make_agent", item.nodeid, task.id, domain.name, config.trials)


    def pytest_tau_make_user(item):
        print("make_user", item.nodeid)


    def pytest_tau_simulation_started(task, trial):
        print("started", task.id, trial)


    def pytest_tau_message(message):
        print("message", message.role)


    def pytest_tau_simulation_finished(simulation):
        print("finished", simulation.reward)
"""
FAILING = {
    "domains": "def pytest_tau_domains(config):\n    raise RuntimeError('domains broke')\n",
    "evaluators": "def pytest_tau_evaluators(config):\n    raise RuntimeError('evaluators broke')\n",
    "modify": "def pytest_tau_modify_tasks(tasks):\n    raise RuntimeError('modify_tasks broke')\n",
    "agent": "def pytest_tau_make_agent(item):\n    raise RuntimeError('make_agent broke')\n",
    "no agent": "def pytest_tau_make_agent(item):\n    return 3\n",
    "started": "def pytest_tau_simulation_started(item):\n    raise RuntimeError('started broke')\n",
    "message": "def pytest_tau_message(message):\n    raise RuntimeError('message broke')\n",
    "finished": "def pytest_tau_simulation_finished(simulation):\n    raise RuntimeError('finished broke')\n",
}


def failing_hooks() -> tuple[str | dict[str, str], ...]:
    """Return each hook that fails, and a run with it."""
    steps: list[str | dict[str, str]] = []
    for code in FAILING.values():
        steps += [{"conftest.py": code}, "pytest --tb=line --tau-domain mock --tau-task create-task --tau-results none"]
    return tuple(steps)


RUNS = [
    Run("own_tests", ("pytest --assert=rewrite --junitxml=junit.xml -rA",), {"test_own.py": OWN}),
    Run("own_tests_verbose", ("pytest -v --tb=line --tau-concurrency 4",), {"test_own.py": OWN}, unordered=True),
    Run(
        "fixtures",
        ("pytest -s --tau-domain mock --tau-task create-task",),
        {"conftest.py": OVERRIDES},
    ),
    Run("hooks", ("pytest -s --tau-domain mock --tau-task create-task --tau-trials 2",), {"conftest.py": HOOKS}),
    Run("hooks_failing", failing_hooks()),
    Run(
        "own_domain",
        (
            "pytest --tau-domain shelf,mock --tau-num-tasks 2 -v --tb=short",
            "pytest --tau-domain shelf --tau-policy-variant long --tau-agent noop",
        ),
        shelf(),
    ),
    Run("retail", ("pytest --tau-domain retail --tau-split small --tau-agent rules",)),
    Run(
        "saboteur",
        ("pytest --tau-domain retail --tau-split small --tau-agent saboteur:forgets-last-write --tau-num-tasks 4",),
    ),
    Run("telecom", ("pytest --tau-domain telecom --tau-split small --tau-agent saboteur:wrong-item",)),
    Run("airline", ("pytest --tau-domain airline --tau-split small --tau-agent rules -v",)),
    Run("solo", ("pytest --tau-domain mock --tau-solo --tau-agent gold --tau-num-tasks 3",)),
    Run(
        "generated",
        (
            "pytest --tau-domain retail,telecom --tau-generate 2 --tau-agent rules -v",
            "pytest --tau-domain retail --tau-generate 1 --tau-difficulty requests=2 --tau-agent noop --tau-seed 7",
        ),
    ),
    Run(
        "commands",
        (
            "pytest --tb=no -q --tau-trials 2",
            "COLUMNS=400 tau view -o page.html",
            "COLUMNS=400 tau compare .tau/runs .tau/runs",
            "tau regrade .tau/runs",
            "tau bless",
            "tau lint mock",
        ),
        scripted("good-1", "bad-1", "lost-1"),
    ),
]
