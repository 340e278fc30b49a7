"""Texts of a checkout: found in its sources, which are parsed and never executed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import pytest_tau
from pytest_tau.cli import main
from pytest_tau.errors import ConfigurationError
from pytest_tau.protocol import load_texts, read_checkout, with_texts, write_texts
from pytest_tau.protocol.sources import Checkout, Module
from pytest_tau.protocol.tool_texts import read_tools

ROOT = Path(__file__).parents[2]
MADE_UP = ROOT / "tests" / "made_up_checkout"
AGENT = "src/tau2/agent/llm_agent.py"
JUDGE = "src/tau2/evaluator/evaluator_nl_assertions.py"
RULES = "<rules>\nMade-up rules: help, and {{open}}never}} guess.\n</rules>\n<book>\n{{policy}}\n</book>"


@pytest.fixture
def checkout(tmp_path):
    """A copy of the made-up checkout, to be changed."""
    return Path(shutil.copytree(MADE_UP, tmp_path / "checkout"))


def change(checkout, file, old, new):
    path = checkout / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_everything_is_found():
    texts = read_checkout(MADE_UP)
    assert texts.not_found == []
    assert texts.prompts["agent"] == RULES
    assert texts.prompts["agent_gt"] == f"{RULES}\n<plan>\n{{{{steps}}}}\n</plan>"
    assert texts.prompts["agent_solo"] == (
        "Made-up rules of somebody who works alone. Call `done` at the end.\n"
        "<book>\n{{policy}}\n</book>\n<case>\n{{ticket}}\n</case>"
    )
    assert texts.prompts["user_tools"] == (
        "Made up: you are a customer with {{open}}tools}}.\n\n\n<scenario>\n{{scenario}}\n</scenario>"
    )
    assert texts.done.description == "Made up: end the work.\n\nNothing follows."
    assert (texts.judge.results, texts.judge.met, texts.judge.reason) == ("findings", "true", "why")
    assert texts.judge.system.startswith("\n        Made up: say of each expectation")
    assert texts.judge.user == (
        "\n        talk:\n        {{transcript}}\n\n        expectations:\n        {{statements}}\n        "
    )


def test_tools_have_the_schema_of_their_signature_and_docstring():
    tools = {tool.name: tool for tool in read_checkout(MADE_UP).tools["mock"].assistant}
    assert "not_a_tool" not in tools
    assert tools["create_task"].description == "Made up: note a task.\n\nIt is pending."
    assert tools["create_task"].parameters["required"] == ["user_id", "title"]
    assert tools["create_task"].parameters["properties"]["description"] == {
        "default": None,
        "description": "Made up: in more words.",
        "title": "Description",
        "type": "string",
    }
    assert tools["update_task_status"].parameters["properties"]["status"]["enum"] == ["pending", "completed"]
    defs = tools["set_reminder"].parameters["$defs"]
    assert defs["Level"] == {"enum": ["low", "high"], "title": "Level", "type": "string"}
    assert defs["Reminder"]["additionalProperties"] is False
    assert defs["Reminder"]["description"] == "A made-up reminder."
    assert defs["Reminder"]["properties"]["level"]["default"] == "low"
    assert defs["Reminder"]["required"] == ["at"]


@pytest.fixture(scope="module")
def own_tools(tmp_path_factory):
    """What is read from the sources of the bundled domains, and of what their signatures name."""
    folder = tmp_path_factory.mktemp("sources")
    for room in ("domains", "pytest_tau/environment", "pytest_tau/models"):
        shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("tasks", "__pycache__"))
    return read_tools(Checkout(folder))


@pytest.mark.parametrize("name", ["airline", "retail", "telecom", "mock"])
def test_schemas_from_sources_are_those_of_the_imported_functions(own_tools, name):
    """The bundled domains have everything that a signature can name: their sources are read like a checkout."""
    tools, _, problems = own_tools
    assert problems == []
    domain = pytest_tau.load_domain(name)
    environment, values = domain.environment(), domain.spec.values
    for side in ("assistant", "user"):
        found = {tool.name: tool for tool in getattr(tools[name], side)}
        for tool in environment.tools(side):
            assert values.fill(found[tool.name].description, name) == tool.description
            assert values.fill_all(found[tool.name].parameters, name) == tool.parameters


NESTED_IMPORTS = """
from top import a, z
if TYPE_CHECKING:
    from of_if import b, z
else:
    from of_else import c
try:
    from of_try import d
except ImportError:
    from of_except import e
finally:
    from of_finally import f
class Class:
    def method(self):
        with file:
            from .of_method import g as h
match value:
    case 1:
        from of_case import i
"""


def test_imports_are_found_in_every_block():
    imports = Module.of(Path("m.py"), NESTED_IMPORTS).imports
    names = {"a": "top", "b": "of_if", "c": "of_else", "d": "of_try", "e": "of_except", "f": "of_finally"}
    names |= {"h": "of_method", "i": "of_case", "z": "of_if"}
    assert {name: parts for name, (parts, _) in imports.items()} == {name: (of,) for name, of in names.items()}
    assert imports["h"] == (("of_method",), "g")


def test_tools_that_are_discovered_are_apart():
    (tool,) = read_checkout(MADE_UP).discoverable("mock")["tools"]
    assert tool == {
        "name": "ring_bell_0001",
        "requestor": "assistant",
        "kind": "write",
        "mutates_state": True,
        "description": "Made up: ring.\n\nAs loud as it goes.",
        "parameters": [
            {"name": "times", "type": "integer", "description": "How often.", "required": True},
            {"name": "softly", "type": "boolean", "description": "Not so loud.", "required": False},
        ],
        "signature": [
            {"name": "times", "required": True},
            {"name": "softly", "required": False, "default": True},
        ],
    }


def test_a_file_of_texts_has_what_the_checkout_has(tmp_path):
    texts = read_checkout(MADE_UP)
    write_texts(tmp_path / "texts.json", texts)
    again = load_texts(tmp_path / "texts.json")
    assert again.model_dump() == texts.model_dump()
    assert again.fingerprint == texts.fingerprint
    assert again.place == str(tmp_path / "texts.json")


class TestOtherLayouts:
    def test_a_prompt_as_a_class_attribute_from_another_module(self, checkout):
        (checkout / "src/tau2/agent/prompts.py").write_text('LINES = "One. " "Two: {0}"\n', encoding="utf-8")
        change(checkout, AGENT, "import textwrap\n", "import textwrap\nfrom .prompts import LINES as BASE\n")
        change(
            checkout, AGENT, "FRAME.format(domain_policy=self.domain_policy, rules=RULES)\n\n\nclass LLMSolo",
            "BASE.format(self.domain_policy)\n\n\nclass LLMSolo",
        )  # fmt: skip
        assert read_checkout(checkout).prompts["agent"] == "One. Two: {{policy}}"

    def test_a_system_message_without_the_attribute(self, checkout):
        text = (
            "class LLMAgent:\n    def start(self, domain_policy):\n        text = 'Obey: ' + domain_policy\n"
            "        return [{'role': 'system', 'content': text}]\n"
        )
        (checkout / "src/tau2/agent/a_first.py").write_text(text, encoding="utf-8")
        assert read_checkout(checkout).prompts["agent"] == "Obey: {{policy}}"

    def test_statements_as_json(self, checkout):
        change(checkout, JUDGE, "{nl_assertions}\n", "{json.dumps(nl_assertions)}\n")
        assert "{{statements_json}}" in read_checkout(checkout).judge.user


class TestMissing:
    def test_a_prompt(self, checkout):
        change(checkout, AGENT, "class LLMAgent(", "class Agent(")
        (problem,) = read_checkout(checkout).not_found
        assert problem == "prompts.agent: looked for system_prompt or a system message in a class LLMAgent"

    def test_a_prompt_with_a_value_that_is_not_known(self, checkout):
        change(checkout, AGENT, "rules=RULES)\n\n\nclass LLMSolo", "rules=self.weather)\n\n\nclass LLMSolo")
        change(checkout, AGENT, "{rules}", "{weather}")
        change(checkout, AGENT, "rules=self.weather", "weather=self.weather")
        problems = read_checkout(checkout).not_found
        assert f"prompts.agent: class LLMAgent in {AGENT} has a value 'weather'; expected policy" in problems

    def test_the_judge_and_the_tool_that_ends_the_work(self, checkout):
        (checkout / JUDGE).unlink()
        change(checkout, AGENT, "def done()", "def finish()")
        judge, done = sorted(read_checkout(checkout).not_found, reverse=True)
        assert judge.startswith("judge: looked for a function with a system and a user message and a verdict")
        assert done == "done: looked for a function done() with a docstring, in the module of LLMSoloAgent"

    def test_an_annotation_that_cannot_be_read(self, checkout):
        change(checkout, "src/tau2/domains/mock/tools.py", "summary: str", "summary: Unheard")
        (problem,) = read_checkout(checkout).not_found
        assert "mock/tools.py" in problem
        assert problem.endswith("transfer_to_human_agents: annotation Unheard")

    def test_no_tools_at_all(self, tmp_path):
        (tmp_path / "module.py").write_text("x = 1\n", encoding="utf-8")
        with pytest.raises(ConfigurationError, match=r"no tools: looked for methods with a decorator such as @is_tool"):
            read_checkout(tmp_path)

    def test_no_sources(self, tmp_path):
        with pytest.raises(ConfigurationError, match="no Python sources: expected a checkout of τ²-bench"):
            read_checkout(tmp_path)

    def test_sources_that_are_not_python_are_passed_over(self, checkout):
        (checkout / "src/tau2/broken.py").write_text("def (", encoding="utf-8")
        (checkout / "src/tau2/bytes.py").write_bytes(b"\xff\xfe\x00")
        assert read_checkout(checkout).not_found == []

    def test_a_circle_of_names_ends(self, checkout):
        change(checkout, AGENT, "RULES = ", "RULES = OTHER + ")
        (checkout / AGENT).write_text("OTHER = RULES + ''\n" + (checkout / AGENT).read_text(encoding="utf-8"))
        assert any("nested too deep" in problem for problem in read_checkout(checkout).not_found)


class TestFile:
    @pytest.mark.parametrize(
        ("document", "problem"),
        [
            ("[", "expected a file of texts, as 'tau texts' writes it"),
            ({}, "expected the fields 'tools' and 'prompts'"),
            ({"tools": {"mock": {"assistant": [{"name": "x"}]}}}, r"tools\.mock\.assistant\.0\.description: Field req"),
            ({"prompts": {"agent": "no policy"}}, r"prompts\.agent lacks \{\{policy\}\}"),
            ({"prompts": {"agent": "{{policy}} {{moon}}"}}, r"prompts\.agent has an unknown placeholder \{\{moon\}\}"),
            ({"prompts": {"other": "x"}}, r"prompts\.other"),
        ],
    )
    def test_a_mistake_is_reported_with_its_field(self, tmp_path, document, problem):
        file = tmp_path / "texts.json"
        file.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
        with pytest.raises(ConfigurationError, match=problem):
            load_texts(file)

    def test_a_missing_tool_is_named(self):
        with pytest.raises(ConfigurationError, match=r"no official text of the tools of domain 'retail': calculate"):
            with_texts(pytest_tau.load_domain("retail"), read_checkout(MADE_UP))

    def test_a_domain_shows_the_texts_and_the_original_does_not(self):
        domain = pytest_tau.load_domain("mock")
        official = with_texts(domain, read_checkout(MADE_UP))
        assert official.environment().tools("user")[0].description == "Made up: look into the box."
        assert "Made up" not in domain.environment().tools("user")[0].description
        solo = official.environment(solo=True).tools()
        assert {tool.description[:8] for tool in solo} == {"Made up:"}


class TestHiddenTools:
    """Tools of the bank that are found in the conversation: the answers of other tools show their texts."""

    @pytest.fixture
    def bank(self):
        return pytest_tau.load_domain("banking_knowledge")

    @pytest.fixture
    def with_bank(self, checkout, bank):
        """A made-up checkout with the tools of the bank."""
        folder = checkout / "src" / "tau2" / "domains" / "banking_knowledge"
        folder.mkdir()
        for module, toolkit in (("tools", bank.spec.agent_tools), ("user_tools", bank.spec.user_tools)):
            lines = [f"class Bank_{module}:"]
            for decorator, tools in (("is_tool", toolkit.tools()), ("is_discoverable_tool", toolkit.hidden_tools())):
                for tool in tools.values():
                    lines += written(decorator, tool)
            (folder / f"{module}.py").write_text("\n".join(lines), encoding="utf-8")
        return checkout

    def test_unlocking_and_giving_show_the_texts_of_the_checkout(self, bank, with_bank):
        official = with_texts(bank, read_checkout(with_bank)).environment()
        unlocked = official.call("unlock_discoverable_agent_tool", {"agent_tool_name": "freeze_debit_card_3892"})
        assert "Description: Made up: freeze_debit_card_3892.\n" in unlocked.content
        assert "  - card_id: string (required) - Made up: card_id." in unlocked.content
        given = official.call("give_discoverable_user_tool", {"discoverable_tool_name": "deposit_check_3847"})
        assert "Description: Made up: deposit_check_3847.\n" in given.content
        ours = bank.environment().call("unlock_discoverable_agent_tool", {"agent_tool_name": "freeze_debit_card_3892"})
        assert "Made up" not in ours.content

    def test_the_file_of_the_command_is_enough(self, bank, with_bank, tmp_path, capsys):
        main(["texts", str(with_bank), "-o", str(tmp_path / "t.json")])
        assert "banking_knowledge: 14 tools of the agent, 6 of the user, 48 discoverable" in capsys.readouterr().out
        official = with_texts(bank, load_texts(tmp_path / "t.json"))
        shown = {tool.name: tool.parameters for side in official.environment().hidden_tools() for tool in side}
        own = {tool.name: tool.parameters for side in bank.environment().hidden_tools() for tool in side}
        assert {name: types(each) for name, each in shown.items()} == {name: types(each) for name, each in own.items()}

    def test_hidden_tools_without_texts_are_named(self, bank, with_bank):
        file = with_bank / "src" / "tau2" / "domains" / "banking_knowledge" / "user_tools.py"
        file.write_text(
            file.read_text(encoding="utf-8").replace("def get_referral_link", "def other"), encoding="utf-8"
        )
        with pytest.raises(ConfigurationError, match=r"hidden tools of domain 'banking_knowledge': get_referral_link"):
            with_texts(bank, read_checkout(with_bank))

    def test_a_mistake_in_their_texts_is_reported_with_its_field(self, tmp_path):
        tool = {"name": "a", "requestor": "agent", "description": "", "parameters": []}
        file = tmp_path / "texts.json"
        file.write_text(json.dumps({"tools": {"x": {}}, "discoverable": {"x": {"tools": [tool]}}}), encoding="utf-8")
        with pytest.raises(ConfigurationError, match=r"discoverable\.x\.tools\.0\.requestor: "):
            load_texts(file)


def written(decorator, tool):
    """Lines of source that define a tool with a made-up text."""
    names = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"}
    required = tool.parameters.get("required", [])
    parameters = [
        f"{name}: {kind}" if name in required else f"{name}: {kind} | None = None"
        for name, each in tool.parameters["properties"].items()
        for kind in [names.get(each.get("type"), "str")]
    ]
    described = [f"            {name}: Made up: {name}." for name in tool.parameters["properties"]]
    return [
        f"    @{decorator}(ToolType.{tool.kind.upper()})",
        f"    def {tool.name}({', '.join(['self', *parameters])}) -> str:",
        f'        """Made up: {tool.name}.',
        *(["", "        Args:", *described] if described else []),
        '        """',
    ]


def types(schema):
    return {name: each["type"] for name, each in schema["properties"].items()}, schema["required"]


class TestCommand:
    def test_it_writes_the_file(self, tmp_path, capsys):
        assert main(["texts", str(MADE_UP), "-o", str(tmp_path / "t.json")]) == 0
        shown = capsys.readouterr().out
        assert "mock: 5 tools of the agent, 2 of the user, 1 discoverable" in shown
        assert "prompts: agent, agent_solo, agent_gt, user, user_tools, done, judge" in shown
        assert load_texts(tmp_path / "t.json").prompts["agent"] == RULES

    def test_what_is_missing_is_reported_and_the_file_written(self, checkout, tmp_path, capsys):
        (checkout / JUDGE).unlink()
        assert main(["texts", str(checkout), "-o", str(tmp_path / "t.json")]) == 1
        assert "not found: judge: looked for" in capsys.readouterr().out
        assert load_texts(tmp_path / "t.json").not_found

    def test_a_folder_that_does_not_exist(self, tmp_path, capsys):
        assert main(["texts", str(tmp_path / "x"), "-o", str(tmp_path / "t.json")]) == 2
        assert "expected the folder of a checkout" in capsys.readouterr().err
