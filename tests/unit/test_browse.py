"""``tau domains``, ``tau tasks``, ``tau tools``, ``tau domain`` and ``tau options``: lists for a person."""

from __future__ import annotations

import html.parser
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau import load_domain
from pytest_tau.capability import bundled_options
from pytest_tau.models import Task
from pytest_tau.plugin.options_table import OPTIONS
from pytest_tau.reports.domain import describe_domain, domain_markdown, domain_page

from . import tiny
from .chromium import browser, chromium

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain

    from .commands import Tau

HOSTILE = "</pre></details><script>alert(1)</script>``` | <img src=x onerror=alert(2)>\x1b[2J\u202e"


def own_domain(folder: Path, name: str = "shop") -> None:
    """A project whose conftest.py provides a domain."""
    action = {"action_id": "a", "name": "refund", "arguments": {"order": "W1"}}
    task = {"id": "r1", "user_scenario": {"instructions": "Refund W1."}, "evaluation_criteria": {"actions": [action]}}
    (folder / "shop.json").write_text(json.dumps([task]), encoding="utf-8")
    (folder / "conftest.py").write_text(
        f'''
from pathlib import Path

from pytest_tau import domain_of

def refund(order: str, urgent: bool = False) -> str:
    """Refund an order."""
    return f"refunded {{order}}"

def pytest_tau_domains():
    return [domain_of({name!r}, tools=[refund], policy="Be kind.", tasks="shop.json", reads=["refund"])]
''',
        encoding="utf-8",
    )


@pytest.fixture(scope="module")
def telecom() -> dict[str, Any]:
    return describe_domain(load_domain("telecom"))


# Lists


def test_domains_are_listed_and_searched(tau: Tau) -> None:
    ran = tau("domains")
    names = [line.split()[0] for line in ran.lines[:-1]]
    assert ran.status == 0
    assert names == sorted(names)
    assert {"airline", "mock", "retail", "telecom", "telecom-workflow"} <= set(names)
    (mock,) = (line.split(maxsplit=1)[1] for line in ran.lines if line.startswith("mock "))
    assert mock == "18 tasks, 4 tools of the agent, 2 tools of the user"
    assert [line.split()[0] for line in tau("domains", "TELE").lines] == ["telecom", "telecom-workflow", "2"]
    assert tau("domains", "nothing").lines == ["0 domains; 'tau domain NAME' describes one"]


def test_tasks_are_listed_and_searched(tau: Tau) -> None:
    ran = tau("tasks", "retail", "--split", "small")
    assert ran.status == 0
    assert len(ran.lines) == 13
    assert ran.lines[0].startswith("cancel-unneeded ")
    assert ran.lines[-1].startswith("12 tasks (split small; the domain has base, small, ")
    found = tau("tasks", "retail", "what-is-on-my", "--split", "small").lines
    assert [line.split()[0] for line in found[:-1]] == ["what-is-on-my-gift-cards"]
    assert found[-1].startswith("1 of 12 tasks")
    # Also by a reference action, which the line does not show.
    assert len(tau("tasks", "retail", "exchange_delivered_order_items").lines) > 2


def test_tools_are_listed_and_searched(tau: Tau) -> None:
    ran = tau("tools", "telecom", "roaming")
    assert ran.status == 0
    assert ran.lines[0] == "enable_roaming(customer_id: string, line_id: string)"
    assert ran.lines[1].startswith("  agent, write: Allow a line to use mobile data abroad.")
    assert "  user, write: Flip data roaming" in ran.out
    assert ran.lines[-1].startswith("4 of 43 tools")


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("domain", "retial"), "unknown domain 'retial'"),
        (("tasks", "retail", "--split", "smal"), "unknown split 'smal'"),
        (("domain", "mock", "--open"), "--open shows the page: expected -o FILE.html with it"),
        (("domain", "mock", "-o", "m.json", "--open"), "--open shows the page: expected -o FILE.html with it"),
        (("domain", "mock", "--format", "pdf"), "invalid choice: 'pdf'"),
        (("domain", "mock", "--data", "."), "--data: expected a folder with domains/<name>/ in it"),
    ],
)
def test_what_cannot_be_shown_is_an_error(tau: Tau, args: tuple[str, ...], expected: str) -> None:
    ran = tau(*args)
    assert (ran.status, ran.out) == (2, "")
    assert expected in ran.err


def test_the_domains_of_a_project_are_found(tau: Tau, tmp_path: Path) -> None:
    own_domain(tmp_path)
    (shop,) = (line.split(maxsplit=1)[1] for line in tau("domains").lines if line.startswith("shop "))
    assert shop == "1 task, 1 tool of the agent, of this project"
    assert tau("tasks", "shop").lines[0] == "r1  Refund W1."
    assert tau("tools", "shop").lines[0].startswith("refund(order: string, urgent: boolean = false)")
    (tool,) = tau("domain", "shop", "--format", "json").json["tools"]
    assert tool["example"]["call"] == 'refund(order="W1")'
    assert tool["example"]["result"] == "refunded W1"
    assert tool["tasks"] == 1


def test_a_domain_that_cannot_be_loaded_is_listed_with_the_reason(tau: Tau, tmp_path: Path) -> None:
    (tmp_path / "data" / "domains").mkdir(parents=True)
    ran = tau("domains", "mock", "--data", "data")
    assert ran.status == 0
    assert " ".join(ran.lines[0].split()).startswith("mock cannot be loaded: no data of domain 'mock'")


# The description


def test_a_domain_is_described(telecom: dict[str, Any]) -> None:
    assert [(each["name"], each["solo"]) for each in telecom["policies"]] == [
        ("manual", False),
        ("manual", True),
        ("workflow", False),
        ("workflow", True),
    ]
    tools = {tool["name"]: tool for tool in telecom["tools"]}
    assert {tool["side"] for tool in tools.values()} == {"agent", "user"}
    refuel = tools["refuel_data"]
    assert refuel["kind"] == "write"
    assert refuel["signature"].startswith("refuel_data(customer_id: string, line_id: string, gb_amount: number")
    assert refuel["example"]["call"].startswith("refuel_data(customer_id=")
    assert not refuel["example"]["result"].startswith("Error")
    assert telecom["unused_tools"] == [name for name, tool in tools.items() if not tool["tasks"]]
    assert "refuel_data" not in telecom["unused_tools"]
    # An example without a reference action is found in the data.
    assert tools["get_customer_by_phone"]["example"]["task"] is None
    tables = {(table["side"], table["name"]): table for table in telecom["tables"]}
    assert tables["agent", "customers"]["records"] == len(load_domain("telecom").environment().agent_db.customers)  # type: ignore[attr-defined]
    assert {"name": "customer_id", "type": "str"}.items() <= tables["agent", "customers"]["fields"][0].items()
    assert tables["agent", "customers"]["sample"]["customer_id"]
    task = telecom["tasks"][0]
    assert task["splits"][0] == "base"
    assert (task["intent"], task["actions"][0]["side"]) == ("data", "user")
    assert telecom["splits"]["small"] == 21


def test_an_example_changes_no_data(domain: Domain) -> None:
    before = domain.environment().dump()
    found = describe_domain(domain)
    assert domain.environment().dump() == before
    assert {tool["name"] for tool in found["tools"] if tool["example"]} >= {"look", "remove", "count"}


@pytest.mark.parametrize("name", ["airline", "mock", "retail", "telecom"])
def test_the_examples_of_bundled_domains_succeed(name: str) -> None:
    found = describe_domain(load_domain(name))
    examples = [tool["example"] for tool in found["tools"] if tool["example"]]
    assert len(examples) >= len(found["tools"]) - 3
    assert not [each for each in examples if each["result"].startswith("Error")]


def test_the_description_is_written_in_each_format(tau: Tau, tmp_path: Path) -> None:
    assert tau("domain", "mock", "-o", "mock.html").out == "mock.html\n"
    page = (tmp_path / "mock.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "http" not in page.replace("http-equiv", "").replace("https://example", "")
    assert tau("domain", "mock", "-o", "out/m.json").out == "out/m.json\n"
    stored = json.loads((tmp_path / "out/m.json").read_text(encoding="utf-8"))
    assert stored == tau("domain", "mock", "--format", "json").json
    tau("domain", "mock", "-o", "mock.md")
    assert (tmp_path / "mock.md").read_text(encoding="utf-8").startswith("# mock\n")
    assert tau("domain", "mock", "--format", "html").out.startswith("<!doctype html>")


def test_the_description_is_printed_unless_a_file_is_named(tau: Tau, tmp_path: Path) -> None:
    printed = tau("domain", "mock").out
    assert printed.startswith("# mock\n\n## Policy\n")
    assert "\n### create\\_task\n" in printed
    assert list(tmp_path.glob("mock*")) == []


def test_the_page_is_opened_when_asked(tau: Tau, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    tau("domain", "mock", "-o", "mock.html")
    assert opened == []
    tau("domain", "mock", "-o", "mock.html", "--open")
    assert opened == [(tmp_path / "mock.html").resolve().as_uri()]


# Texts of others


class _Tags(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.fixture
def hostile(tmp_path: Path) -> dict[str, Any]:
    """A description in which every text is hostile."""
    action = {"action_id": "a", "name": "look", "arguments": {"item_id": HOSTILE}}
    task = {"id": HOSTILE, "user_scenario": {"persona": HOSTILE, "instructions": HOSTILE}, "ticket": HOSTILE}
    graded = {"actions": [action], "reward_basis": ["DB"]}
    found = describe_domain(tiny.make(tmp_path / "domain"))
    found["tasks"] = describe_domain_task(Task.model_validate(task | {"evaluation_criteria": graded}))
    return replaced(found)


def describe_domain_task(task: Task) -> list[dict[str, Any]]:
    from pytest_tau.reports.domain.describe import _task

    return [_task(task, {HOSTILE: [task.id]})]


def replaced(value: Any) -> Any:
    """Every text that is not one of this package, replaced."""
    if isinstance(value, dict):
        kept = {"side", "kind"}
        return {key: part if key in kept else replaced(part) for key, part in value.items()}
    if isinstance(value, list):
        return [replaced(part) for part in value]
    return HOSTILE if isinstance(value, str) else value


def test_hostile_texts_stay_texts(hostile: dict[str, Any]) -> None:
    parser = _Tags()
    parser.feed(domain_page(hostile))
    assert not {"script", "img"} & set(parser.tags)
    assert not [name for name in parser.attributes if name.startswith("on")]
    markdown = domain_markdown(hostile)
    for text in (domain_page(hostile), markdown):
        assert "\x1b" not in text
        assert "\u202e" not in text
    # Outside of blocks of code, which a longer fence ends, what would be HTML is escaped or in a span of code.
    outside = re.sub(r"^(`{3,})text\n.*?^\1$", "", markdown, flags=re.DOTALL | re.MULTILINE)
    outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", re.sub(r"\\[`<]", "", outside))
    assert "<" not in outside


@pytest.mark.exhaustive
@pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and $CHROMIUM names none")
def test_the_page_fits_the_screen_and_asks_for_nothing(
    tmp_path: Path, telecom: dict[str, Any], hostile: dict[str, Any]
) -> None:
    binary = chromium()
    assert binary is not None
    with browser(binary) as page:
        for name, found, width in (("telecom", telecom, 1300), ("telecom", telecom, 390), ("hostile", hostile, 390)):
            file = tmp_path / f"{name}.html"
            file.write_text(domain_page(found), encoding="utf-8")
            page.size(width)
            page.open(file)
            page.js("document.querySelectorAll('details').forEach((each) => (each.open = true))")
            assert page.js("document.documentElement.scrollWidth") <= width
            assert page.text("h1")
            assert page.count("script") == 0
            assert [url for url in page.requests if not url.startswith(("file:", "data:", "about:"))] == []
            assert page.complaints == []


# Options of test runs


def test_options_are_listed_by_group(tau: Tau, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = tau("options").out.splitlines()
    assert [line for line in lines if not line.startswith(" ") and line][:3] == [
        "common:",
        "selection:",
        "conversations:",
    ]
    known = [*OPTIONS.values(), *bundled_options().values()]
    for option in known:
        assert len([line for line in lines if f"{line} ".startswith(f"  --tau-{option.name} ")]) == 1
    assert len([line for line in lines if line.startswith("  --tau-")]) == len(known)
    assert max(map(len, lines)) <= 80
    one = tau("options", "results", "and", "reports").lines
    assert [line for line in one if line and not line.startswith(" ")] == ["results and reports:"]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("budget",), ["--tau-budget", "--tau-budget-per-trial"]),
        (("tau_rerun",), ["--tau-rerun"]),
        (("--tau-max-steps",), ["--tau-max-steps"]),
        (
            ("selection",),
            [f"--tau-{name}" for name in ("split", "generate", "difficulty", "shard", "seed", "concurrency")],
        ),
    ],
)
def test_options_of_a_group_or_a_name(tau: Tau, words: tuple[str, ...], shown: list[str]) -> None:
    assert re.findall(r"^  (--tau-[\w-]+)", tau("options", *words).out, re.MULTILINE) == shown


def test_an_unknown_group_or_option_is_reported(tau: Tau) -> None:
    ran = tau("options", "budgte")
    assert (ran.status, ran.out) == (2, "")
    assert "no group and no option is called 'budgte'; did you mean 'budget'? (groups: common, selection," in ran.err
