"""Agents that call their own tools: unchanged, in the state of their trial, and never on the data behind it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Project, Run

STORE = '''
import asyncio
import threading

BIKES = {"b1": {"free": True}, "b2": {"free": False}}
TOUCHED = []


def find(bike: str) -> dict:
    """Show a bike."""
    return BIKES[bike]


def rent(bike: str, name: str) -> dict:
    """Rent a bike."""
    found = find(bike)
    if not found["free"]:
        raise ValueError(f"{bike} is not free")
    found.update(free=False, name=name)
    return found


async def rent_later(bike: str, name: str) -> dict:
    """Rent a bike, without blocking."""
    await asyncio.sleep(0)
    return rent(bike, name)


def snapshot():
    return BIKES


def restore(state):
    BIKES.clear()
    BIKES.update(state)
'''

CONFTEST = """
import pytest_tau
import store


def pytest_tau_domains():
    shared = {{"snapshot": store.snapshot, "restore": store.restore, "reads": {{"find"}}, "tasks": "tasks.json"}}
    return [pytest_tau.domain_of("bikes", tools=[{tools}], patch={patch}, **shared)]
"""

TASK = {
    "id": "rent-it",
    "user_scenario": {"instructions": "You are Ann. You want to rent bike b1."},
    "evaluation_criteria": {
        "actions": [{"action_id": "rent", "name": "rent", "arguments": {"bike": "b1", "name": "Ann"}}],
        "reward_basis": ["DB", "ACTION"],
    },
}

#: A loop as in production: it looks its tools up, passes arguments by name, and reads what they return and raise.
LOOP = """
import store
from store import find, rent

TOOLS = {"find": find, "rent": rent}


def run(messages):
    assert TOOLS["find"](bike="b1") == {"free": True}
    try:
        TOOLS["rent"](bike="b2", name="Ann")
    except ValueError as error:
        assert str(error) == "b2 is not free"
    found = TOOLS["rent"](**{"bike": "b1", "name": "Ann"})
    assert found["name"] == "Ann"
    return "Done: b1."
"""


@pytest.fixture
def run(project: Project, monkeypatch: pytest.MonkeyPatch):
    """Runs an agent whose own tools are replaced."""
    monkeypatch.syspath_prepend(str(project.path))

    def run(
        agent: str,
        *args: str,
        name: str = "run",
        patch: str = '["my_agent.TOOLS"]',
        tools: str = "store.find, store.rent",
        write: str = "rent",
        conftest: str = CONFTEST,
    ) -> Run:
        project.write("store.py", STORE)
        project.write("my_agent.py", agent)
        project.write("conftest.py", conftest.format(tools=tools, patch=patch))
        project.write("tasks.json", json.dumps([TASK]).replace('"name": "rent"', f'"name": "{write}"'))
        return project.run("--tau-domain", "bikes", "--tau-agent", f"my_agent.py:{name}", *args)

    return run


def calls_of(project: Project) -> list[list[str]]:
    """The tools that each trial has called, in order."""
    (file,) = project.path.glob(".tau/runs/*/simulations.jsonl")
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        messages = json.loads(line)["messages"]
        found.append([call["name"] for message in messages for call in message.get("tool_calls") or ()])
    return found


FORMS = {
    "function of the conversation": ("run", ""),
    "function of the text": ("answer", "def answer(text):\n    return run([text])"),
    "asynchronous function with blocking tools": ("answer", "async def answer(text):\n    return run([text])"),
    "class": ("Agent", "class Agent:\n    def run(self, text):\n        return run([text])"),
    "function of messages and tools": ("chat", "def chat(messages, tools):\n    return run(messages)"),
    "class with respond": ("Agent", "class Agent:\n    def respond(self, message):\n        return run([message])"),
    "factory": ("make", "def make(tools):\n    return lambda messages, tools: run(messages)"),
    "own loop": (
        "Agent",
        "import pytest_tau\n@pytest_tau.own_loop\ndef Agent(trial):\n    return lambda text: run([text])",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_an_agent_calls_its_own_tools_in_the_state_of_its_trial(run, project, form) -> None:
    name, more = FORMS[form]
    found = run(f"{LOOP}\n{more}\n", "--tau-trials", "3", name=name)
    found.outcomes(passed=3)
    assert calls_of(project) == [["find", "rent", "rent"]] * 3


def test_with_workers(run) -> None:
    run(LOOP, "--tau-trials", "4", "-n", "2").outcomes(passed=4)


PLACES = {
    "dict": ("TOOLS = {'find': find, 'rent': rent}", "TOOLS['find'], TOOLS['rent']", "my_agent.TOOLS"),
    "dict of dicts": (
        "TOOLS = {'a': {'do': find}, 'b': {'do': rent}}",
        "TOOLS['a']['do'], TOOLS['b']['do']",
        "my_agent.TOOLS",
    ),
    "list": ("TOOLS = [find, rent]", "TOOLS", "my_agent.TOOLS"),
    "tuple": ("TOOLS = (find, rent)", "TOOLS", "my_agent.TOOLS"),
    "its module": ("", "find, rent", "my_agent"),
    "attribute that is a module": ("", "store.find, store.rent", "my_agent.store"),
    "module of the tools": ("", "store.find, store.rent", "store"),
    "object": (
        "class Box: pass\nTOOLS = Box()\nTOOLS.find, TOOLS.rent = find, rent",
        "TOOLS.find, TOOLS.rent",
        "my_agent.TOOLS",
    ),
    "decorated": (
        "import functools\ndef traced(f):\n    return functools.wraps(f)(lambda **given: f(**given))\n"
        "TOOLS = [traced(find), traced(rent)]",
        "TOOLS",
        "my_agent.TOOLS",
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_places(run, project, place) -> None:
    source, pair, patch = PLACES[place]
    agent = f"""
import store
from store import find, rent
{source}

def run(text):
    first, second = {pair}
    assert first(bike="b1")["free"]
    return "Done: " + second(bike="b1", name="Ann")["name"]
"""
    run(agent, patch=f'["{patch}"]').outcomes(passed=1)
    assert calls_of(project) == [["find", "rent"]]


def test_positional_arguments_have_names(run, project) -> None:
    run(LOOP + "\ndef answer(text):\n    TOOLS['rent']('b1', name='Ann')\n    return 'Done'", name="answer").outcomes(
        passed=1
    )


def test_arguments_that_do_not_fit_are_a_failed_call(run, project) -> None:
    agent = """
from store import find, rent
TOOLS = [find, rent]

def run(text):
    try:
        rented = TOOLS[1](bike="b1", nam="Ann")
    except TypeError as error:
        return f"Sorry: {error}"
"""
    found = run(agent)
    found.outcomes(failed=1)
    found.line("nam", "Sorry")
    assert calls_of(project)[0][0] == "rent"


def test_asynchronous_tools(run, project) -> None:
    agent = """
from store import find, rent_later
TOOLS = {"find": find, "rent": rent_later}

async def run(text):
    assert TOOLS["find"]("b1")["free"]
    return "Done: " + (await TOOLS["rent"](bike="b1", name="Ann"))["name"]
"""
    run(agent, "--tau-trials", "2", tools="store.find, store.rent_later", write="rent_later").outcomes(passed=2)
    assert calls_of(project) == [["find", "rent_later"]] * 2


THREADS = {
    "thread": "thread = threading.Thread(target=work)\n    thread.start()\n    thread.join()",
    "pool of the trial": "with ThreadPoolExecutor() as pool:\n        pool.submit(work).result()",
    "pool made before": "POOL.submit(work).result()",
    "map of a pool": "list(POOL.map(lambda _: work(), [1]))",
}


@pytest.mark.parametrize("way", THREADS)
def test_threads_of_an_agent_belong_to_its_trial(run, project, way) -> None:
    agent = f"""
import threading
from concurrent.futures import ThreadPoolExecutor
from store import find, rent

TOOLS = [find, rent]
POOL = ThreadPoolExecutor(1)
POOL.submit(int).result()

def run(text):
    def work():
        TOOLS[1](bike="b1", name="Ann")
    {THREADS[way]}
    return "Done: " + TOOLS[0]("b1")["name"]
"""
    run(agent, "--tau-trials", "3").outcomes(passed=3)
    assert calls_of(project) == [["rent", "find"]] * 3


WORKER = """
import queue
import threading
from store import find, rent

TOOLS = [find, rent]
JOBS = queue.Queue()

def work():
    while True:
        done = JOBS.get()
        try:
            done.append(TOOLS[1](bike="b1", name="Ann"))
        except Exception as error:
            done.append(error)
        done[0].set()

threading.Thread(target=work, daemon=True).start()

def run(text):
    done = [threading.Event()]
    JOBS.put(done)
    done[0].wait()
    return f"It says {done[1]!r}"
"""


def test_a_call_of_an_unknown_thread_is_refused_and_is_no_failure_of_the_agent(run, project) -> None:
    found = run(WORKER)
    found.outcomes(errors=1)
    found.line("tool 'rent' was called by the thread", "which belongs to no trial", "contextvars.copy_context().run")
    assert calls_of(project) == [[]]


def test_a_call_after_the_trial_does_not_reach_the_original(run, project) -> None:
    agent = """
import threading
import store

TOOLS = {"find": store.find, "rent": store.rent}
ENDED = threading.Event()

def late():
    ENDED.wait(5)
    try:
        TOOLS["rent"](bike="b1", name="Late")
    except RuntimeError as error:
        store.TOUCHED.append(str(error))

def run(text):
    store.TOUCHED.append(threading.Thread(target=late))
    store.TOUCHED[0].start()
    return "Done: " + TOOLS["rent"](bike="b1", name="Ann")["name"]
"""
    more = """

def pytest_sessionfinish():
    import sys
    agent = next(each for name, each in sys.modules.items() if "my_agent" in name)
    agent.ENDED.set()
    store.TOUCHED[0].join()
    print("refused:", store.TOUCHED[1], store.BIKES["b1"])
    print("outside:", agent.TOOLS["rent"](bike="b1", name="Outside"), store.BIKES["b1"])
"""
    found = run(agent, "-s", conftest=CONFTEST + more.replace("{", "{{").replace("}", "}}"))
    found.outcomes(passed=1)
    found.line("refused:", "called after run() had returned", "{'free': True}")
    found.line("outside: {'free': False, 'name': 'Outside'} {'free': False, 'name': 'Outside'}")


WRONG = {
    "unknown module": ('["nowhere.TOOLS"]', "'nowhere.TOOLS': cannot be found: ModuleNotFoundError"),
    "unknown attribute": ('["my_agent.TOOL"]', "'my_agent.TOOL': cannot be found: AttributeError"),
    "no tool": ('["my_agent.NUMBERS"]', "'my_agent.NUMBERS': has none of the domain's tools: find, rent"),
    "one is missing": (
        '["my_agent.HALF"]',
        "found in none of 'my_agent.HALF': rent, whose calls would reach the original",
    ),
    "read only": ('["my_agent.FIXED"]', "my_agent.FIXED.find cannot be replaced: AttributeError"),
    "a text": ('"my_agent.TOOLS"', "patch: expected a list of dotted names, got 'my_agent.TOOLS'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_replaced_is_a_usage_error(run, case) -> None:
    patch, problem = WRONG[case]
    agent = (
        LOOP
        + """
NUMBERS, HALF = {"one": 1}, [find]

class Fixed:
    __slots__ = ()
    find, rent = staticmethod(find), staticmethod(rent)

FIXED = Fixed()
"""
    )
    run(agent, patch=patch).usage_error(problem)


@pytest.mark.parametrize("name", ["run", "Agent"])
def test_an_agent_with_its_own_tools_needs_a_domain_that_says_where_they_are(run, name) -> None:
    agent = LOOP + "\nclass Agent:\n    def run(self, text):\n        return run([text])\n"
    run(agent, patch="[]", name=name).usage_error("is not a valid agent", "patch= of the domain")


@pytest.mark.parametrize("name", ["messages", "history", "conversation"])
def test_the_conversation_has_what_was_said_before(run, name) -> None:
    agent = """
import json
from store import find, rent
TOOLS = [find, rent]
HEARD = []

def run(messages):
    print("heard", json.dumps([each["role"] for each in messages]))
    if len(messages) == 1:
        messages.append({"role": "assistant", "content": None, "tool_calls": [1]})
        return "Which bike?"
    TOOLS[1](bike="b1", name="Ann")
    return "Done: b1."
"""
    found = run(agent.replace("messages", name), "-s")
    found.outcomes(passed=1)
    found.line('heard ["user"]')
    found.line('heard ["user", "assistant", "assistant", "user"]')


def test_methods_of_an_object_that_is_made_for_each_trial(project, monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(project.path))
    project.write(
        "store.py",
        """
        class Store:
            def __init__(self):
                self.free = {"b1": True}

            def rent(self, bike: str, name: str) -> bool:
                '''Rent a bike.'''
                self.free[bike] = False
                return True

            @staticmethod
            def find(bike: str) -> str:
                '''Show a bike.'''
                return bike
        """,
    )
    project.write(
        "my_agent.py",
        """
        from store import Store

        STORE = Store()
        BOUND = {"rent": STORE.rent, "find": STORE.find}

        def run(text):
            assert STORE.rent("b1", name="Ann") is True
            assert BOUND["rent"](bike="b1", name="Ann") is True
            assert Store().rent("b1", "Ann") is True
            assert STORE.find("b1") == BOUND["find"]("b1") == "b1"
            return "Done: " + str(STORE.free)
        """,
    )
    project.write(
        "conftest.py",
        """
        import pytest_tau
        from store import Store

        def pytest_tau_domains():
            places = ["my_agent.STORE", "my_agent.BOUND", "store.Store"]
            tools = [Store.find, Store.rent]
            made = {"make": Store, "snapshot": vars, "reads": {"find"}, "tasks": "tasks.json"}
            return [pytest_tau.domain_of("bikes", tools=tools, patch=places, **made)]
        """,
    )
    project.tasks("tasks.json", [TASK])
    found = project.run("--tau-domain", "bikes", "--tau-agent", "my_agent.py:run", "--tau-trials", "2")
    found.outcomes(passed=2)
    assert calls_of(project) == [["rent", "rent", "rent", "find", "find"]] * 2


def test_the_result_of_a_call_has_the_value(run, project) -> None:
    agent = """
import pytest_tau
from store import find, rent
TOOLS = [find, rent]

@pytest_tau.own_loop
def Agent(trial):
    tools = {tool.name: tool for tool in trial.tools}

    def run(text):
        found = tools["find"].call_result({"bike": "b1"})
        assert (found.value, found.text, found.is_error) == ({"free": True}, '{"free": true}', False)
        failed = tools["rent"].call_result({"bike": "b2", "name": "Ann"})
        assert (failed.value, failed.is_error, str(failed.error)) == (None, True, "b2 is not free")
        return "Done: " + tools["rent"].call_result({"bike": "b1", "name": "Ann"}).value["name"]

    return run
"""
    run(agent, name="Agent", patch="[]").outcomes(passed=1)
