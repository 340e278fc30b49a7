"""The report as a person meets it: in a headless Chromium, with the keyboard."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from trial_records import trial_record, write_records

from pytest_tau import Capability, PageBlock, PageItem, TaskBlock, TaskPages
from pytest_tau.models import Review, ReviewFinding, add_review
from pytest_tau.reports.html import write_report
from pytest_tau.runs.reader import Run

from . import tiny
from .chromium import browser, chromium
from .report_pages import CRITERIA, WISH, OneDomain, bad, line, report, run_folder, simulated
from .test_report import HOSTILE, WANTED, hostile_run, trials

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau.environment import Domain

    from .chromium import Page

BINARY = chromium()
pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(
        BINARY is None,
        reason="there is no Chromium on the path, and $CHROMIUM names none (Debian: apt install chromium)",
    ),
]
WIDE, NARROW = (1400, 900), (390, 844)


@pytest.fixture(scope="module")
def one_browser() -> Iterator[Page]:
    """One for all tests of the module, as it takes a second to start."""
    assert BINARY is not None
    with browser(BINARY) as page:
        yield page


@pytest.fixture
def page(one_browser: Page) -> Iterator[Page]:
    """Wide and light; complaints of the page, and requests to anything but its own file, are failures."""
    one_browser.size(*WIDE)
    one_browser.colours("light")
    one_browser.complaints.clear()
    yield one_browser
    assert one_browser.complaints == []
    assert [url for url in one_browser.requests if not url.startswith(("file:", "data:", "about:"))] == []


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return tiny.make(tmp_path_factory.mktemp("tiny") / "domain")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, domain: Domain) -> dict[str, Path]:
    """Reports by name: of one run, of two, of a hostile one, of a long one."""
    folder = tmp_path_factory.mktemp("reports")
    outcomes = {"alpha": "pf", "beta": "ff", "gamma": "pe"}
    first = run_folder(folder / "first", *trials(domain, outcomes, agent_cost=0.25), planned={"tiny": {"alpha": 9}})
    changed = trials(domain, outcomes | {"alpha": "pp", "beta": "f", "delta": "p"})
    second = run_folder(folder / "second", *changed, settings={"agent": "desk.py:Desk", "agent_llm": "m"})
    one_agent = run_folder(folder / "third", *trials(domain, {"alpha": "p"}), settings={"agent": "rules"})
    runs = {"one": [first], "two": [first, second], "bare": [one_agent], "hostile": [hostile_run(folder / "h", domain)]}
    runs["long"] = [many(folder / "long", 10_000)]
    for name, shown in runs.items():
        report(folder / f"{name}.html", domain, *shown)
    return {name: folder / f"{name}.html" for name in runs}


def many(folder: Path, number: int) -> Run:
    """A run of so many trials; their conversations alone would take a minute to make."""
    outcomes = ["passed", "failed", "passed", "error"]
    trials = [trial_record(f"task-{n // 4}", n % 4, outcomes[n % 4], domain="tiny") for n in range(number)]
    write_records(folder, trials)
    return Run(folder)


def opened(page: Page, file: Path, fragment: str = "") -> Page:
    """The list, or what the fragment names once it is unpacked."""
    page.open(file, fragment)
    page.wait_for("!document.getElementById('list').hidden || document.querySelector('#detail h1')")
    return page


def current(page: Page) -> str:
    return page.text(".rows .row.current")


# The overview


def test_overview_shows_the_results_of_the_run(page: Page, files: dict[str, Path]) -> None:
    opened(page, files["one"])
    assert page.text("h1") == "first"
    facts = dict(text.split("\n")[:2] for text in page.texts(".denominators > div"))
    expected = {"Planned": "9", "Run": "5", "Passed": "2", "Failed": "3", "Errors": "1", "Not run": "3"}
    assert expected.items() <= facts.items()
    assert page.text(".rate .figure").split() == ["pass^1", "0.500"]
    assert "with errors as failures" in page.text(".rate")
    titles = [text.split("\n")[0] for text in page.texts("#charts .chart h3")]
    assert titles == [
        *("pass^k", "Reward by", "Cost against reward", "Length of conversations"),
        *("How conversations ended", "Checks that failed most"),
    ]
    page.wait_for("document.querySelectorAll('.plot svg').length === 3")
    assert page.count(".plot circle.dot") == 1, "pass^1"
    assert page.count(".plot line.whisker") == 2, "the interval of pass^1, and the range of pass^2"


def test_the_checks_of_a_trial_without_a_verdict_are_not_counted(page: Page, tmp_path: Path, domain: Domain) -> None:
    task = tiny.task(CRITERIA, task_id="alpha")
    lost = bad(domain, task, 1, termination_reason="user_error")
    assert lost.reward_info
    run = run_folder(tmp_path / "run", *trials(domain, {"alpha": "f"}), line(lost, task))
    report(tmp_path / "r.html", domain, run)
    opened(page, tmp_path / "r.html")
    (card,) = [text for text in page.texts("#charts .chart") if text.startswith("Checks that failed most")]
    bars = card.split("\n")
    assert bars[bars.index("DB") + 1] == "1"


def test_the_median_of_an_even_number_of_costs_is_between_them(page: Page, tmp_path: Path, domain: Domain) -> None:
    """Four trials that passed, at $1, $2, $4 and $9, and three that failed, at $1, $5 and $7."""
    lines = []
    for task, letter, cost in zip("abcdefg", "ppppfff", (9.0, 1.0, 4.0, 2.0, 7.0, 1.0, 5.0), strict=True):
        lines += trials(domain, {task: letter}, agent_cost=cost)
    report(tmp_path / "r.html", domain, run_folder(tmp_path / "run", *lines))
    opened(page, tmp_path / "r.html")
    (card,) = [text for text in page.texts("#charts .chart") if text.startswith("Cost against reward")]
    assert "passed: median $3.00" in card
    assert "failed: median $5.00" in card


def test_trials_excluded_from_rates_are_counted_apart(page: Page, tmp_path: Path, domain: Domain) -> None:
    excluded = trials(domain, {"b": "pf"}, excluded="fault of the user")
    report(tmp_path / "r.html", domain, run_folder(tmp_path / "run", *trials(domain, {"a": "pp"}), *excluded))
    opened(page, tmp_path / "r.html")
    facts = dict(text.split("\n")[:2] for text in page.texts(".denominators > div"))
    assert {"Run": "4", "Passed": "3", "Failed": "1", "Excluded from rates": "2"}.items() <= facts.items()
    assert page.text(".rate .figure").split() == ["pass^1", "1"]
    report(tmp_path / "r.html", domain, run_folder(tmp_path / "other", *excluded))
    opened(page, tmp_path / "r.html")
    assert "no trial counts in rates" in page.text(".rate")


def test_the_heading_is_the_agent_and_a_chart_without_data_is_not_shown(page: Page, files: dict[str, Path]) -> None:
    opened(page, files["bare"])
    assert page.text("h1") == "rules"
    assert "Run third" in page.text("#overview")
    assert page.js("document.title") == "rules – τ report"
    # One trial that passed, of unknown cost: no curve, no costs, no failed checks, nothing to group by.
    assert page.texts("#charts .chart h3") == ["Length of conversations", "How conversations ended"]
    assert page.count(".head .c-cost") == 0
    opened(page, files["two"])
    assert page.text("h1").split("\n") == ["A", "first", "and", "B", "desk.py:Desk, m"]


def test_a_bar_is_a_filter(page: Page, files: dict[str, Path]) -> None:
    opened(page, files["one"])
    bar = "[...document.querySelectorAll('.barline')].find((one) => one.innerText.includes('COMMUNICATE 42'))"
    page.js(f"{bar}.click()")
    assert page.text(".count") == "3 of 6 simulations"
    assert all("failed" in row for row in page.texts(".rows .row"))


# The table


def test_rows_show_task_outcome_and_failed_checks(page: Page, files: dict[str, Path]) -> None:
    opened(page, files["one"])
    rows = page.texts(".rows .row")
    assert len(rows) == 6
    assert [row.split("\n")[0] for row in rows] == ["✕ failed"] * 3 + ["! error"] + ["✓ passed"] * 2
    assert "not made: price, switch" in rows[0].split("\n"), "the words of the terminal"
    assert "infrastructure" in rows[3]
    assert rows[4].split("\n")[:4] == ["✓ passed", "alpha", "0", "1"]
    page.choose("Sort by", "-")
    assert [row.split("\n")[1:3] for row in page.texts(".rows .row")[:3]] == [
        ["alpha", "0"],
        ["alpha", "1"],
        ["beta", "0"],
    ]


def test_no_cell_is_cut_at_1280_pixels(page: Page, domain: Domain, tmp_path: Path) -> None:
    """Every trial has broken a rule: the column that all have in common stays, since it is bad."""
    simulations = [bad(domain, WANTED), bad(domain, WANTED)]
    for trial, simulation in enumerate(simulations):
        simulation.trial = trial
        simulation.facts["policy_rules"] = {"score": 0.0, "checked": ["confirmation"], "breaches": []}
    column = {"name": "policy", "field": "score", "label": "Policy", "kind": "kept"}
    run = run_folder(
        tmp_path / "run",
        *(line(simulation, WANTED) for simulation in simulations),
        capabilities={"policy_rules": {"settings": {}, "columns": [column]}},
    )
    report(tmp_path / "cut.html", domain, run)
    page.size(1280)
    opened(page, tmp_path / "cut.html")
    assert page.texts(".rows .c-policy") == ["broken", "broken"]
    cut = "[...document.querySelectorAll('.cell')].filter((cell) => cell.scrollWidth > cell.clientWidth)"
    assert page.js(f"{cut}.map((cell) => cell.textContent)") == []


def test_columns_of_some_trials_only(page: Page, domain: Domain, tmp_path: Path) -> None:
    facts: list[dict[str, Any]] = [
        {"facts": {"counting": {"word": "important-message", "share": 1}}},
        {},
        {},
    ]
    columns = [{"name": "word", "label": "Word", "kind": "text"}, {"name": "share", "label": "Share", "kind": "score"}]
    info = {"capabilities": {"counting": {"settings": {}, "columns": columns}}}
    fields = {"domain": "tiny", "failed_checks": ("DB",)}
    trials = [trial_record(f"task-{number}", 0, "failed", **fields, **more) for number, more in enumerate(facts)]
    write_records(tmp_path / "run", trials)
    (tmp_path / "run" / "run.json").write_text(json.dumps({"format": 1, **info}), encoding="utf-8")
    report(tmp_path / "some.html", domain, Run(tmp_path / "run"))
    opened(page, tmp_path / "some.html")
    heads, rows = page.texts(".row.head .cell"), [row.split("\n") for row in page.texts(".rows .row")]
    assert len(rows) == 3
    shown = [dict(zip(heads, row, strict=True)) for row in rows]
    assert [row["Word"] for row in shown] == ["important-message", "–", "–"]
    assert [row["Share"] for row in shown] == ["1", "–", "–"]
    # What is the same in every row has no column, unless it is bad.
    assert not {"Trial", "Reward", "Cost"} & {*heads}
    assert [row["What failed"] for row in shown] == ["DB"] * 3


def test_a_click_on_a_column_sorts_by_it(page: Page, files: dict[str, Path]) -> None:
    opened(page, files["one"])
    names = lambda: [row.split("\n")[1] for row in page.texts(".rows .row")]  # noqa: E731
    page.click(".c-task button")
    assert names() == ["alpha"] * 2 + ["beta"] * 2 + ["gamma"] * 2
    page.click(".c-task button")
    assert names() == ["gamma"] * 2 + ["beta"] * 2 + ["alpha"] * 2
    assert page.js("document.querySelector('.head .c-task').getAttribute('aria-sort')") == "descending"


def test_filters_by_text_outcome_and_group_narrow_the_table(page: Page, files: dict[str, Path]) -> None:
    opened(page, files["one"])
    page.key("/")
    page.type("beta 42")
    assert page.text(".count") == "2 of 6 simulations"
    page.choose("Outcome", "passed")
    assert page.text(".count") == "0 of 6 simulations"
    assert "No simulation matches" in page.text(".nothing")
    page.click(".tools button")
    assert page.text(".count") == "6 simulations"
    page.choose("Group", "ended")
    page.choose("Value", "infrastructure")
    assert page.text(".count") == "1 of 6 simulations"


def test_the_keyboard_moves_opens_and_comes_back(page: Page, files: dict[str, Path]) -> None:
    opened(page, files["one"])
    page.key("j", "ArrowDown", "j", "k")
    assert current(page).startswith("✕ failed\nbeta\n1")
    active = page.js("document.activeElement.getAttribute('aria-activedescendant')")
    assert page.js(f"document.getElementById('{active}').getAttribute('aria-selected')") == "true"
    page.key("Enter")
    page.wait_for("document.querySelector('#detail h1')")
    assert page.text("#detail h1") == "beta"
    assert page.js("document.getElementById('list').hidden") is True
    page.key("]")
    page.wait_for("document.querySelector('#detail .count')?.innerText === '4 of 6'")
    page.key("Escape")
    page.wait_for("!document.getElementById('list').hidden")
    assert current(page).startswith("! error\ngamma\n1"), "it is where one has been"
    assert page.js("document.activeElement.id") == "grid"
    page.key("/")
    assert page.js("document.activeElement.type") == "search"
    page.key("Escape")
    assert page.js("document.activeElement.id") == "grid"


@pytest.mark.parametrize(("keys", "opened_row"), [((), "alpha\n1"), (("ArrowDown",), "beta\n0"), (("j",), "beta\n0")])
def test_the_selected_row_opens_without_a_click_before(
    page: Page, files: dict[str, Path], keys: tuple[str, ...], opened_row: str
) -> None:
    opened(page, files["one"])
    page.key(*keys)
    assert f"\n{opened_row}\n" in current(page)
    page.key("Enter")
    page.wait_for("document.querySelector('#detail h1')")
    assert page.text("#detail h1") == opened_row.partition("\n")[0]


def test_enter_on_a_focused_button_opens_no_row(page: Page, files: dict[str, Path]) -> None:
    opened(page, files["one"])
    page.js("document.getElementById('theme').focus()")
    page.key("Enter")
    assert page.js("document.getElementById('list').hidden") is False


def test_gates_are_on_top_of_the_overview(page: Page, tmp_path: Path, domain: Domain) -> None:
    run, file = run_folder(tmp_path / "run", *trials(domain, {"alpha": "pf"})), tmp_path / "r.html"
    gates = [("gate pass^1 >= 0.8: 0.500: missed", False), ("gate cost <= 1: 0.2: met", True), ("gate <b>", None)]
    write_report(file, [run], OneDomain(domain), (), gates)
    for size in (WIDE, NARROW):
        page.size(*size)
        opened(page, file)
        assert page.js("document.querySelector('#overview').children[1].className") == "card decisions"
        assert page.texts(".decisions li.failed") == ["✕\ngate pass^1 >= 0.8: 0.500: missed"]
        assert page.texts(".decisions li.passed") == ["✓\ngate cost <= 1: 0.2: met"]
        assert page.texts(".decisions li:not([class])") == ["gate <b>"]
        assert page.js("document.documentElement.scrollWidth <= innerWidth")


def test_focus_is_visible(page: Page, files: dict[str, Path]) -> None:
    opened(page, files["one"])
    page.key("Tab", "Tab")
    style = page.js(
        "(({ outlineStyle, outlineWidth }) => [outlineStyle, outlineWidth])(getComputedStyle(document.activeElement))"
    )
    assert style == ["solid", "2px"]


def test_elements_have_roles(page: Page, files: dict[str, Path]) -> None:
    opened(page, files["one"])
    assert page.js("document.getElementById('grid').getAttribute('role')") == "grid"
    assert page.js("document.getElementById('grid').getAttribute('aria-rowcount')") == "7"
    assert page.count("#grid [role=columnheader]") == page.count(".rows .row:first-child [role=gridcell]") > 6
    assert page.js("document.querySelector('.count').getAttribute('role')") == "status"
    assert page.js("[...document.querySelectorAll('input, select')].every((one) => one.getAttribute('aria-label'))")
    assert page.js("[...document.querySelectorAll('.plot svg')].every((one) => one.getAttribute('aria-label'))")


def test_ten_thousand_simulations_are_a_few_rows(page: Page, files: dict[str, Path]) -> None:
    opened(page, files["long"])
    assert page.text(".count") == "10,000 simulations"
    assert page.count(".rows .row") < 60
    page.js("document.getElementById('grid').focus()")
    page.key("End")
    assert current(page).split("\n")[:3] == ["✓ passed", "task-2499", "2"]
    assert page.count(".rows .row") < 60
    page.choose("Outcome", "error")
    assert page.text(".count") == "2,500 of 10,000 simulations"
    page.key("/")
    page.type("task-1234")
    assert page.text(".count") == "1 of 10,000 simulations"


# A conversation


def test_a_conversation_reads_like_a_chat(page: Page, files: dict[str, Path]) -> None:
    opened(page, files["one"], "#/0")
    speakers = page.texts(".message .who b")
    assert speakers == ["agent", "user", "agent", "agent", "agent", "user", "user"]
    assert page.texts(".bubble")[:2] == ["Hello. What can I do?", "Make my lamp a torch."]
    assert page.texts(".call .name") == ["rename", "look", "price", "switch"]
    assert page.text(".changed") == 'items/lamp/name "Lamp" → "Torch"'
    assert page.js("document.querySelector('.message.user').getBoundingClientRect().right") > 800
    assert page.count(".call pre") == 0, "folded"
    page.click(".call summary")
    page.wait_for("document.querySelector('.call pre.json')")
    assert '"item_id": "lamp"' in page.texts(".call pre")[-1], "the result, on lines of its own"
    marks = page.texts("#A-message-7 .marks li")
    assert marks == ["✓ COMMUNICATE met here: torch", "✓ COMMUNICATE met here: 42"]


def test_unmet_checks_are_at_the_top_and_lead_to_their_message(page: Page, files: dict[str, Path]) -> None:
    opened(page, files["one"], "#/1")
    assert page.text(".box.failed h3") == "3 checks were not met"
    page.js("[...document.querySelectorAll('.box.failed button')].at(-1).click()")
    assert page.js("document.activeElement.id").startswith("A-message-")
    assert page.text("tr.differs").split() == [
        *("price", "item_id", '"lamp"', "price", "5.0"),
        *("price", "item_id", '"lamp"', "price", "7", "message", "4"),
    ]
    page.key("k")
    assert page.js("document.activeElement.className").startswith("message")


def test_a_review_is_next_to_the_blame_and_leads_to_its_message(page: Page, domain: Domain, tmp_path: Path) -> None:
    simulation = bad(domain, WANTED)
    error = ReviewFinding(
        source="agent", severity="critical", turn_idx=4, error_type="wrong price", reasoning="It was 5."
    )
    add_review(simulation, Review(errors=[error], summary="It failed.", fault_owner="agent"))
    add_review(simulation, Review(mode="user", status="failed", error="no answer within 1 s"))
    file = tmp_path / "reviewed.html"
    report(file, domain, run_folder(tmp_path / "run", line(simulation, WANTED)))
    opened(page, file, "#/0")
    heads = page.texts(".box h3")
    assert "Review: the agent's fault" in heads
    assert "Review: failed" in heads
    assert any("wrong price" in each for each in page.texts(".box li b"))
    page.js("[...document.querySelectorAll('.box li button')].at(-1).click()")
    assert page.js("document.activeElement.id") == "A-message-4"
    assert "no answer within 1 s" in page.js("document.querySelector('.boxes').textContent")


def test_blocks_of_a_capability_are_drawn(page: Page, domain: Domain, tmp_path: Path) -> None:
    script = tmp_path / "page.js"
    script.write_text('BLOCKS.noted = (data) => el("p", { class: "own" }, data.join("-"));', encoding="utf-8")
    item = PageItem("<b>loud</b>", head="said", message_idx=4, met=False)
    blocks = [
        PageBlock("Manner", "twice", rows=[("tone", "rude")], items=[item]),
        PageBlock("Above", text="A paragraph.", place="box"),
        PageBlock("MANNER", items=[item], place="checks"),
        PageBlock("Drawn", data=[1, 2], script=script),
    ]
    noted = Capability("noted", page=lambda facts, _: blocks if facts["shown"] else blocks[9:][0])
    simulations = [bad(domain, WANTED, trial, facts={"noted": {"shown": not trial}}) for trial in (0, 1)]
    run = run_folder(tmp_path / "run", *(line(each, WANTED) for each in simulations))
    file = tmp_path / "blocks.html"
    write_report(file, [run], OneDomain(domain), [noted])
    opened(page, file, "#/0")
    assert {"Manner", "Drawn"} <= set(page.texts(".panel h3"))
    assert "Above" in page.texts(".box h3")
    assert page.texts(".own") == ["1-2"]
    shown = page.texts(".checks li")
    assert any("said" in each and "<b>loud</b>" in each for each in shown)
    assert any("MANNER not met, not in the reward: said: <b>loud</b>" in each for each in page.texts(".marks li"))
    opened(page, file, "#/1")
    assert any("cannot be shown: IndexError" in text for text in page.texts(".panel p"))


class Slow(TaskPages):
    """Shows the last simulations of the tasks."""

    def __init__(self, domains: Any) -> None:
        self.last: dict[str, str] = {}

    def add(self, run: Any, trial: Any, domain: str) -> None:
        if trial.simulation.trial == 9:
            raise ValueError("nine")
        self.last[trial.simulation.task_id] = trial.simulation.id

    def blocks(self) -> Iterator[TaskBlock]:
        for task, simulation in self.last.items():
            yield TaskBlock(PageBlock("Slow", f"{task} is <b>slow</b>", items=[PageItem("hm")]), [simulation])


def test_blocks_of_tasks_are_in_the_overview_and_above_each_trial(page: Page, tmp_path: Path, domain: Domain) -> None:
    slow, other = Capability("slow", tasks=Slow), tiny.task(CRITERIA, task_id="other")
    rows = [line(bad(domain, WANTED, trial), WANTED) for trial in (0, 1)]
    run = run_folder(tmp_path / "run", *rows, line(bad(domain, other), other))
    write_report(tmp_path / "tasks.html", [run], OneDomain(domain), [slow])
    opened(page, tmp_path / "tasks.html")
    assert page.texts(".tasks li") == [
        f"{WANTED.id}: {WANTED.id} is <b>slow</b>, such as trial 1",
        "other: other is <b>slow</b>, such as trial 0",
    ]
    page.click(".tasks a")
    page.wait_for("document.querySelector('#detail h1')")
    assert page.text(".box h3") == "Slow"
    opened(page, tmp_path / "tasks.html", "#/0")
    (box,) = [text for text in page.texts(".box") if text.startswith("Slow")]
    assert [text for text in box.split("\n") if text] == [
        "Slow",
        f"{WANTED.id} is <b>slow</b>",
        "·",
        "hm",
        "Such as trial 1",
    ]


def test_a_capability_that_cannot_show_tasks_leaves_the_page(page: Page, tmp_path: Path, domain: Domain) -> None:
    run = run_folder(tmp_path / "run", *(line(bad(domain, WANTED, trial), WANTED) for trial in (0, 9, 10)))
    write_report(tmp_path / "tasks.html", [run], OneDomain(domain), [Capability("slow", tasks=Slow)])
    opened(page, tmp_path / "tasks.html")
    (shown,) = page.texts(".tasks li")
    assert shown.startswith(f"cannot be shown: ValueError: nine ({Path(__file__).name}, line ")


def test_a_check_is_broken_only_where_it_counts(page: Page, files: dict[str, Path]) -> None:
    opened(page, files["one"], "#/1")
    marks = page.texts(".marks li")
    assert "✕ ACTION not met, not in the reward: made with other arguments: price" in marks
    assert [mark for mark in marks if "broken here" in mark] == ["✕ ENV_ASSERTION broken here: user: phone_on()"]


def test_the_places_that_differ_are_at_the_top(page: Page, files: dict[str, Path]) -> None:
    opened(page, files["one"], "#/1")
    places = page.texts(".box.failed .changed li")
    assert places == ["items/lamp/price\nexpected 5.0\ngot 7", "user side: phone/on\nexpected true\ngot false"]


def test_of_long_values_the_first_difference_is_shown(page: Page, domain: Domain, tmp_path: Path) -> None:
    names = [f"{'A lamp with a shade of paper, ' * 5}made of {material}" for material in ("wood", "iron")]
    wanted = tiny.task({"actions": [tiny.action("rename", item_id="lamp", name=names[0])]})
    made = simulated(domain, wanted, WISH, tiny.agent(tiny.call("rename", item_id="lamp", name=names[1])), tiny.STOP)
    report(tmp_path / "r.html", domain, run_folder(tmp_path / "run", line(made, wanted)))
    opened(page, tmp_path / "r.html", "#/0")
    path, _, expected, _, got = page.text(".box.failed .changed li").split("\n")
    assert path == "items/lamp/name"
    assert (expected[0], expected.endswith('made of wood"')) == ("…", True)
    assert (got[0], got.endswith('made of iron"')) == ("…", True)


def test_an_address_opens_a_conversation(page: Page, files: dict[str, Path]) -> None:
    assert opened(page, files["one"], "#/4").text("#detail h1") == "gamma"
    opened(page, files["one"], "#/99")
    assert page.js("document.getElementById('detail').hidden") is True


def test_hostile_texts_are_read_and_do_nothing(page: Page, files: dict[str, Path]) -> None:
    opened(page, files["hostile"])
    shown = HOSTILE.replace("\u2028", "\n").replace("\ud800", "\ufffd")
    assert page.text(".rows .c-task").startswith("</script><script>window.hacked = 1</script><img src=x")
    page.js("document.getElementById('grid').focus()")
    page.key("Enter")
    page.wait_for("document.querySelector('#detail h1')")
    page.js("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.wait_for("document.querySelectorAll('.call pre').length > 1")
    assert page.text(".bubble")[:60] == shown[:60]
    assert page.js("window.hacked") is None
    assert page.count("img") == 0


# Two runs


def test_two_runs_are_shown_side_by_side(page: Page, files: dict[str, Path]) -> None:
    opened(page, files["two"])
    assert page.texts(".changes button") == ["1 got better", "4 came out the same", "1 only in A", "1 only in B"]
    rows = page.texts(".rows .row")
    better = next(row for row in rows if row.startswith("better"))
    assert better.split("\n")[1:5] == ["✕ failed", "✓ passed", "alpha", "1"]
    page.choose("Outcome", "better")
    page.js("document.getElementById('grid').focus()")
    page.key("Enter")
    page.wait_for("document.querySelector('.parting')")
    assert page.text(".parting") == "They differ from message 2 on"
    assert page.text(".same summary") == "2 messages before the first difference, the same in both"
    assert page.js(
        "[...document.querySelectorAll('.pair:last-of-type .column')].map((one) => one.querySelectorAll('.message').length)"
    ) == [6, 5]
    assert page.texts(".verdict .chip") == ["✕ failed", "✓ passed"]


def test_a_trial_of_one_run_is_shown_alone(page: Page, files: dict[str, Path]) -> None:
    opened(page, files["two"])
    page.key("/")
    page.type("delta")
    page.key("Enter", "Enter")
    page.wait_for("document.querySelector('#detail .chat')")
    assert "not in this run" in page.texts(".verdict")[0]
    assert "only in one of the runs" in page.text("#detail")


def test_breaches_are_cards_and_a_word_and_a_phone_shows_the_conversation_first(
    page: Page, domain: Domain, tmp_path: Path
) -> None:
    breach = {"rule": "confirmation", "message_idx": 2, "evidence": "not asked before", "call": None}
    simulations = [bad(domain, WANTED), bad(domain, WANTED)]
    for simulation, breaches in zip(simulations, ([breach], []), strict=True):
        score = float(not breaches)
        simulation.facts["policy_rules"] = {"score": score, "checked": ["confirmation"], "breaches": breaches}
    simulations[1].trial = 1
    column = {"name": "policy", "field": "score", "label": "Policy", "kind": "kept"}
    run = run_folder(
        tmp_path / "run",
        *(line(each, WANTED) for each in simulations),
        capabilities={"policy_rules": {"settings": {}, "columns": [column]}},
    )
    report(tmp_path / "breaches.html", domain, run)
    opened(page, tmp_path / "breaches.html")
    assert sorted(page.texts(".rows .c-policy")) == ["broken", "kept"]
    assert page.texts(".rows .c-policy .broken") == ["broken"], "in the colour of failures"
    page.size(390)
    opened(page, tmp_path / "breaches.html", "#/0")
    assert "confirmation" in page.text(".boxes")
    top = "document.querySelector('{}').getBoundingClientRect().top"
    assert page.js(f"{top.format('#detail .chat')} < {top.format('#detail aside')}")
    page.size(1280)


# How it looks


def brightness(page: Page) -> float:
    colour = page.js("getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in colour[4:-1].split(",")) / 3


def test_it_is_light_or_dark_as_the_system_is_and_as_one_chooses(page: Page, files: dict[str, Path]) -> None:
    page.colours("dark")
    opened(page, files["one"])
    assert brightness(page) < 60
    page.click("#theme")
    assert brightness(page) > 200
    page.js("localStorage.clear()")
    page.colours("light")
    opened(page, files["one"])
    assert brightness(page) > 200
    page.click("#theme")
    assert brightness(page) < 60
    opened(page, files["one"])
    assert brightness(page) < 60, "it is remembered"
    page.js("localStorage.clear()")


@pytest.mark.parametrize("name", ["one", "two", "hostile"])
@pytest.mark.parametrize("fragment", ["", "#/0"])
def test_a_narrow_screen_needs_no_scrolling_sideways(
    page: Page, files: dict[str, Path], name: str, fragment: str
) -> None:
    page.size(*NARROW)
    opened(page, files[name], fragment)
    page.js("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.js("document.documentElement.scrollWidth") <= NARROW[0]


def test_a_narrow_table_has_no_number_without_a_label(page: Page, files: dict[str, Path]) -> None:
    page.size(*NARROW)
    opened(page, files["one"])
    assert page.js(_NUMBERS) == ["c-reward", "c-trial"]


#: The classes of the shown cells of the table that are a bare number; the amount of a cost names its unit.
_NUMBERS = """[...new Set([...document.querySelectorAll('.rows .cell')]
    .filter((cell) => cell.offsetParent && /^[0-9.]+$/.test(cell.textContent.trim()))
    .map((cell) => [...cell.classList].find((name) => name.startsWith('c-'))))].sort()"""


def test_every_colour_of_text_can_be_read(page: Page, files: dict[str, Path]) -> None:
    """At least 4.5 to 1, in both colour schemes, on the list and in a conversation."""
    for scheme, fragment in itertools.product(("light", "dark"), ("", "#/1")):
        page.colours(scheme)
        opened(page, files["one"], fragment)
        assert page.js(_CONTRAST) == [], (scheme, fragment)


#: Texts whose contrast with what lies behind them is too low.
_CONTRAST = """(() => {
    const parts = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
    const light = ([r, g, b]) => [r, g, b]
        .map((part) => part / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
        .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
    const behind = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = parts(getComputedStyle(at).backgroundColor);
            if (colour.length === 3 || colour[3] > 0) return colour;
        }
        return [255, 255, 255];
    };
    const found = [];
    for (const element of document.querySelectorAll("body *")) {
        const told = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
        if (!told || !element.checkVisibility() || element.closest("svg, :disabled, script, option")) continue;
        const [one, other] = [light(parts(getComputedStyle(element).color)), light(behind(element))];
        const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        if (contrast < 4.5) found.push(`${element.className || element.tagName}: ${contrast.toFixed(2)}`);
    }
    return [...new Set(found)];
})()"""
