"""The reference of options, hooks and the Python API, made from the code and its docstrings.

python scripts/reference.py            write the pages that are in the repository
python scripts/reference.py --check    exit with 1 if one of them is not up to date

The other pages are made while the site is built (``scripts/site_hooks.py``).
"""

# ruff: noqa: INP001, T201 - a script

from __future__ import annotations

import argparse
import ast
import functools
import importlib
import inspect
import pkgutil
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

import pytest_tau.plugin
from pytest_tau.capabilities import attacks
from pytest_tau.capability import bundled
from pytest_tau.cli import all_commands, command_parser
from pytest_tau.diagnosis.attribution import RULES
from pytest_tau.language.vocabulary import FACTS
from pytest_tau.plugin import hookspecs
from pytest_tau.plugin.collect.parametrize import _MARKER_KEYS
from pytest_tau.plugin.options import COMMON, INI_KEYS, MARKER, option_groups
from pytest_tau.plugin.options_table import OPTIONS_OF_GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
#: The pages that are in the repository, where they are read while one works on a project.
WRITTEN = ("options.md", "hooks.md")
#: The modules that users import from, and what they are for. Their ``__all__`` is the public API.
MODULES = {
    "pytest_tau": "load domains, simulate and grade, without pytest",
    "pytest_tau.environment": "write a domain: records, databases, toolkits",
    "pytest_tau.knowledge": "give a domain a knowledge base",
    "pytest_tau.capabilities.attacks": "attacks by text in tool results: own attacks, goals",
    "pytest_tau.policy": "rules of a policy that are checked in conversations",
    "pytest_tau.models": "messages, tasks, simulations, rewards",
    "pytest_tau.models.reviews": "what reviews of conversations say",
    "pytest_tau.evaluation": "grading, reward components of your own, judges",
    "pytest_tau.diagnosis": "turning point and party at fault",
    "pytest_tau.participants": "agents and users: interfaces, built-in ones",
    "pytest_tau.chat": "model calls, cassettes, context budgets",
    "pytest_tau.references": "what is known of a task without a conversation",
    "pytest_tau.endpoint": "models and tools of a trial over HTTP",
    "pytest_tau.endpoint.mcp": "tools over MCP",
    "pytest_tau.episodes": "conversations that are stepped by who plays one side",
    "pytest_tau.testing": "a scripted model server for tests of your own agent",
    "pytest_tau.errors": "the exceptions",
    "pytest_tau.capability": "what capabilities are made of, and the run that they have hooks in",
    "pytest_tau.commands": "what subcommands of `tau` have in common",
    "pytest_tau.runs": "stored runs",
    "pytest_tau.analysis": "rates, intervals, gates and comparisons of runs",
    "pytest_tau.regrade": "stored conversations with their domains and tasks",
    "pytest_tau.lint": "checks of task sets",
    "pytest_tau.language": "what the text of a message says",
    "pytest_tau.text": "lines of reports, with texts of others in them",
    "pytest_tau.reports.page": "pages of one file in the style of the HTML report",
    "pytest_tau.terminal": "lines at a terminal",
    "pytest_tau.clock": "time that goes on while a test has frozen it",
    "pytest_tau.masking": "secrets in texts that are shown or stored",
    "pytest_tau.documents": "JSON and TOML that others wrote",
    "pytest_tau.files": "names and digests of files",
    "pytest_tau.plain.json": "JSON as Python has it, also where a project has replaced it",
    "pytest_tau.integrations.gymnasium": "Gymnasium environments",
    "pytest_tau.integrations.litellm": "model calls through litellm",
}
#: What hooks receive; users do not import its module.
ARGUMENTS = {"pytest_tau.runner": ("RunConfig", "ModelSettings", "ModelChoice")}
#: Arguments of hooks that the introduction of their page describes.
EVERYWHERE = ("config: pytest's configuration.", "item: The test item being run.")
GENERATED = "`python scripts/reference.py` generates this page from the code.\n"


def main() -> int:
    """Write or check the pages."""
    expected = {name: text for name, text in pages().items() if name in WRITTEN}
    existing = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    if "--check" in sys.argv:
        stale = sorted(name for name in {*expected, *existing} if expected.get(name) != existing.get(name))
        if stale:
            print(
                f"not up to date in docs/reference: {', '.join(stale)}; run python scripts/reference.py",
                file=sys.stderr,
            )
        return int(bool(stale))
    FOLDER.mkdir(exist_ok=True)
    for name in existing.keys() - expected.keys():
        (FOLDER / name).unlink()
    for name, text in expected.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


@functools.cache
def pages() -> dict[str, str]:
    """Return the text of each page by the name of its file."""
    chapters = {
        "options.md": ("Options and ini keys", options_chapter()),
        "commands.md": ("Commands", commands_chapter()),
        "fixtures.md": ("Fixtures", fixtures_chapter()),
        "marker.md": ("Marker", marker_chapter()),
        "hooks.md": ("Hooks", hooks_chapter()),
        "arguments.md": ("Arguments of hooks", arguments_chapter()),
        "blame.md": ("Rules of blame", blame_chapter()),
        "facts.md": ("Facts of the scripted user", facts_chapter()),
        **{page_of(name): (f"`{name}`", module_chapter(name)) for name in MODULES},
    }
    found = {name: f"# {title}\n\n{GENERATED}\n{text}" for name, (title, text) in chapters.items()}
    return {"index.md": index(), **found}


def page_of(module: str) -> str:
    """Return the name of the page of a module; that of the commands of ``tau`` is taken."""
    name = module.rpartition(".")[2]
    return f"{name}_api.md" if name == "commands" else f"{name}.md"


def index() -> str:
    """Return the overview of the reference."""
    return f"""\
# Reference

## Use

| page | |
|---|---|
| [Options and ini keys](options.md) | of pytest, `--tau-…` and `tau_…` |
| [Commands](commands.md) | `tau view`, `tau compare`, … |
| [Fixtures](fixtures.md), [marker](marker.md) | for tests of your own |
| [Hooks](hooks.md) | for a `conftest.py` or a plugin; the [settings](arguments.md) that they receive |
| [Rules of blame](blame.md) | whose fault a failure looks like |
| [Facts](facts.md) | the phrases by which the scripted user is asked for something |
| [Outcomes and exit statuses](../summary.md) | passed, failed, error; 0, 1, 4, 5 |
| [JUnit](../metrics.md#junit) | properties of test cases and suites |

## Formats

| page | |
|---|---|
| [Task format](../tasks.md) | every field of a task |
| [Reward components of your own](../tasks.md#your-own-reward-components) | the protocol of evaluators |
| [File formats](../results.md#file-formats) | runs, cassettes, baselines, exports |

## Python API

| module | |
|---|---|
{table_of_modules()}

{GENERATED}"""


def table_of_modules() -> str:
    """Return a row for each public module."""
    return "\n".join(f"| [`{name}`]({page_of(name)}) | {purpose} |" for name, purpose in MODULES.items())


def anchor(title: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def module_chapter(name: str, names: tuple[str, ...] = ()) -> str:
    """Describe the public names of a module: classes, then functions, then values."""
    module = importlib.import_module(name)
    found = {public: getattr(module, public) for public in names or module.__all__}
    comments = value_comments(module)
    parts = [] if names else [summary(module)]
    for public in sorted(found, key=lambda public: kind(found[public])):
        text = elsewhere(name, public) or entry_text(public, found[public], comments.get(public, ""))
        parts.append(f"## `{public}`\n\n{text}")
    return "\n".join(parts)


def kind(found: Any) -> int:
    """Return 0 for a class, 1 for a function, 2 for a value."""
    return 0 if inspect.isclass(found) else 1 if inspect.isroutine(found) else 2


def elsewhere(module: str, name: str) -> str:
    """Refer from the package itself to the module that has the name too."""
    if module != "pytest_tau":
        return ""
    found = getattr(importlib.import_module(module), name)
    for other in list(MODULES)[1:]:
        public = importlib.import_module(other)
        if name in public.__all__ and getattr(public, name) is found:
            return f"See [`{other}.{name}`]({page_of(other)}#{anchor(name)}).\n"
    return ""


def entry_text(name: str, found: Any, comment: str) -> str:
    """Describe a class, a function or a value."""
    if kind(found) == 0:
        return class_text(name, found)
    return function_text(name, found) if kind(found) == 1 else f"{comment or value_text(found)}\n"


def class_text(name: str, found: type) -> str:
    """Return the signature, summary, attributes and methods of a class."""
    lines = [code(f"class {name}{bases(found)}{constructor(found)}"), summary(found)]
    if listed := attributes(found):
        lines += ["Attributes:\n", *listed, ""]
    if methods := [f"- `{each}{signature(member)}`: {first_line(member)}" for each, member in own_methods(found)]:
        lines += ["Methods:\n", *methods, ""]
    return "\n".join(lines)


def function_text(name: str, found: Any) -> str:
    """Return the signature and the summary of a function."""
    prefix = "async def" if inspect.iscoroutinefunction(found) else "def"
    return code(f"{prefix} {name}{signature(found)}") + "\n" + summary(found)


def hooks_chapter() -> str:
    """Describe the hooks."""
    hooks = {
        name: getattr(each, name)
        for each in (hookspecs, attacks.HookSpecs)
        for name in vars(each)
        if name.startswith("pytest_tau_")
    }
    return "\n".join([summary(hookspecs), *(f"## `{name}`\n\n{hook_text(name, hook)}" for name, hook in hooks.items())])


def hook_text(name: str, hook: Any) -> str:
    """Return the signature of a hook, with its arguments and its result."""
    lines = [function_text(name, hook)]
    arguments = section(hook, "Args").items()
    if rows := [f"- `{name}`: {text}" for name, text in arguments if f"{name}: {text}" not in EVERYWHERE]:
        lines += [*rows, ""]
    if match := re.search(r"^Returns:\s+(.*?)(?=\n\n|\n\w|\Z)", docstring(hook), re.MULTILINE | re.DOTALL):
        lines += [f"Returns: {markdown(' '.join(match[1].split()))}", ""]
    return "\n".join(lines)


def arguments_chapter() -> str:
    """Describe the classes that hooks receive."""
    return "\n".join(module_chapter(module, names) for module, names in ARGUMENTS.items())


def fixtures_chapter() -> str:
    """Describe the fixtures."""
    found = {name: each for name, each in vars(pytest_tau.plugin).items() if name in pytest_tau.plugin.__all__}
    for capability in bundled():
        found |= vars(type(capability.fixtures())) if capability.fixtures is not None else {}
    names = sorted(name for name in found if name.startswith("tau_"))
    return "\n".join(f"## `{name}`\n\n{summary(found[name])}" for name in names)


def marker_chapter() -> str:
    """Describe the marker and its keywords."""
    call, _, text = MARKER.partition(": ")
    rows = "\n".join(f"| `{key}` | {cell(expected)} |" for key, (expected, _) in _MARKER_KEYS.items())
    return f"""\
`@pytest.mark.tau({call.partition("(")[2]}`: {text}.

A test with the marker requests `tau_simulation`, or another [fixture](fixtures.md) of the plugin. All keywords are
optional; what is not given here comes from the options of the run.

| keyword | value |
|---|---|
{rows}

Markers of the module (`pytestmark`), of the class and of the function are combined: each keyword has the value of the
closest marker that gives it. A class is closer than its base classes. There is one exception: `tasks`, `split` and
`num_tasks` select tasks of the domain of their marker, and do not apply if a closer marker names another domain. If
the combination selects no task, the test is an error at collection.
"""


def options_chapter() -> str:
    """Describe the options of the command line and the keys of the ini file."""
    rows: list[str] = []
    for title, options in option_groups(bundled()).items():
        if title == COMMON:
            continue  # they have a page that is written by hand
        if title in OPTIONS_OF_GROUPS:
            rows += ["", f"## {title}", ""]
        elif "## capabilities" not in rows:
            rows += ["", "## capabilities", ""]
        for option in options:
            value = f"[={option.metavar}]" if option.bare else f" {option.metavar}" if option.metavar else ""
            rows.append(f"- `--tau-{option.name}{value}`: {cell(option.full_help)}")
    rows += ["", "## further ini keys", ""]
    rows += [f"- `{name}`: {cell(text)}" for name, text in INI_KEYS.items()]
    intro = "The options other than [the fifteen that are enough for most runs](../options.md), and their ini keys."
    return f"{intro}\n" + "\n".join(rows) + "\n"


def blame_chapter() -> str:
    """Return the rules that name the party at fault, in their order."""
    rows = "\n".join(f"| {rule.parties} | {rule.when} |" for rule in RULES)
    return f"""\
The first rule that applies decides [whose fault a failure looks like](../failures.md#whose-fault-it-looks-like).

| party | when |
|---|---|
{rows}
"""


def facts_chapter() -> str:
    """Return the phrases by which the scripted user is asked for each fact."""
    rows = "\n".join(f"| `{name}` | {', '.join(phrases)} |" for name, phrases in FACTS.items())
    return f"""\
The [scripted user](../scripted_user.md#names-of-facts) gives a fact if the agent asks for it with one of these phrases.

| name | phrases |
|---|---|
{rows}
"""


def commands_chapter() -> str:
    """Describe the commands of ``tau`` with their arguments."""
    known = all_commands()
    parser = command_parser(known)
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))  # noqa: SLF001
    texts = {each.name: each.help for each in known}
    parts = [
        f"## `tau {name}`\n\n{(found.description or texts[name]).strip()}\n\n{arguments_table(found)}\n"
        "Exit status: " + "; ".join(f"{status}: {text}" for status, text in found.statuses.items()) + ".\n"
        for name, found in with_actions(commands.choices, texts).items()
    ]
    return "\n".join(parts)


def with_actions(commands: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    """Return the parsers of the commands, and those of their actions, such as ``submit check``."""
    found = {}
    for name, parser in commands.items():
        found[name] = parser
        for inside in parser._actions:  # noqa: SLF001
            if isinstance(inside, argparse._SubParsersAction):  # noqa: SLF001
                found |= {f"{name} {action}": each for action, each in inside.choices.items()}
                texts |= {f"{name} {choice.dest}": choice.help or "" for choice in inside._choices_actions}  # noqa: SLF001
    return found


def arguments_table(parser: argparse.ArgumentParser) -> str:
    """Return a row for each argument of a command."""
    rows = ["| argument | |", "|---|---|"]
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._HelpAction) or action.help == argparse.SUPPRESS:  # noqa: SLF001
            continue
        value = action.metavar or (action.dest.upper() if action.nargs != 0 else "")
        value = " ".join(value) if isinstance(value, tuple) else value
        if action.choices and not action.metavar:
            value = "{" + ",".join(map(str, action.choices)) + "}"
        value = value.replace("|", " or ")  # a code span in a table cannot have it, on all sites
        shown = ", ".join(f"{name} {value}".strip() for name in action.option_strings) or value
        text = (action.help or "") % {**vars(action), "prog": parser.prog}
        rows.append(f"| `{shown}` | {cell(text)} |")
    return "\n".join(rows) + "\n"


def cell(text: str) -> str:
    """Return a text for a cell of a table."""
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


def code(text: str) -> str:
    """Return a block of Python, with one parameter per line if it is long."""
    if len(text) > 100 and "(" in text:
        head, _, rest = text.partition("(")
        parameters, _, tail = rest.rpartition(")")
        text = f"{head}(\n" + "".join(f"    {each},\n" for each in split_parameters(parameters)) + f"){tail}"
    return f"```python\n{text}\n```\n"


def split_parameters(text: str) -> Iterator[str]:
    """Split parameters at the commas outside of brackets and strings."""
    depth, start, quote = 0, 0, ""
    for index, char in enumerate(text):
        if quote or char in "'\"":
            quote = "" if char == quote else quote or char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and not depth:
            yield text[start:index].strip()
            start = index + 1
    yield text[start:].strip()


def signature(found: Any) -> str:
    """Return the signature of a function, annotations as they are written in the source."""
    target = found.__func__ if isinstance(found, classmethod | staticmethod) else found
    if isinstance(found, property) or not callable(target):
        return ""
    parameters, result, seen_star = [], inspect.signature(target), False
    for index, each in enumerate(result.parameters.values()):
        if index == 0 and each.name in {"self", "cls", "_cls"}:
            continue
        if each.kind is each.KEYWORD_ONLY and not seen_star:
            parameters.append("*")
        seen_star |= each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        parameters.append(parameter_text(each))
    arrow = "" if result.return_annotation is inspect.Signature.empty else f" -> {type_text(result.return_annotation)}"
    return f"({', '.join(parameters)}){arrow}"


def parameter_text(parameter: inspect.Parameter) -> str:
    """Return a parameter with its type and default."""
    kind = parameter.kind
    stars = "*" if kind is parameter.VAR_POSITIONAL else "**" if kind is parameter.VAR_KEYWORD else ""
    annotated = parameter.annotation is not inspect.Parameter.empty
    text = f"{stars}{parameter.name}" + (f": {type_text(parameter.annotation)}" if annotated else "")
    if parameter.default is inspect.Parameter.empty:
        return text
    return f"{text} = {default_text(parameter.default)}" if annotated else f"{text}={default_text(parameter.default)}"


def default_text(value: Any) -> str:
    """Return a default value; an ellipsis for one whose representation differs from run to run."""
    text = repr(value)
    return text if re.fullmatch(r"[\w.'\"/# -]*|\(\)|\{\}", text) and len(text) < 40 else "..."


def type_text(annotation: Any) -> str:
    """Return an annotation as it is written."""
    if isinstance(annotation, str):
        return annotation
    return str(getattr(annotation, "__forward_arg__", None) or getattr(annotation, "__name__", annotation))


def constructor(found: type) -> str:
    """Return the parameters of a class; none for models, whose fields are listed, and for protocols."""
    if issubclass(found, tuple) and hasattr(found, "_fields"):
        return re.sub(r" -> .*$", "", signature(found.__new__))
    if issubclass(found, BaseModel) or getattr(found, "_is_protocol", False) or found.__init__ is object.__init__:
        return ""
    if issubclass(found, BaseException) and "__init__" not in vars(found):
        return ""
    return re.sub(r" -> None$", "", signature(found.__init__))


def bases(found: type) -> str:
    """Return the base of an exception, which says what catches it; nothing for another class."""
    base = found.__bases__[0]
    return f"({base.__name__})" if issubclass(found, BaseException) and constructor(found) == "" else ""


def attributes(found: type) -> list[str]:
    """Return the attributes that a class documents; of a pydantic model every field, with its type."""
    documented = section(found, "Attributes")
    if not issubclass(found, BaseModel):
        return [f"- `{name}`: {text}" for name, text in documented.items()]
    types = {name: text for base in reversed(found.__mro__) for name, text in inspect.get_annotations(base).items()}
    lines = []
    for name, field in found.model_fields.items():
        text = f": {documented[name]}" if name in documented else ""
        lines.append(f"- `{name}: {type_text(types.get(name, field.annotation))}`{text}")
    return lines


def own_methods(found: type) -> Iterator[tuple[str, Any]]:
    """Yield the public documented methods and properties of a class, inherited ones of this project included."""
    seen = set()
    for base in found.__mro__:
        if not base.__module__.startswith("pytest_tau"):
            continue
        for name, member in vars(base).items():
            if not name.startswith("_") and name not in seen and is_method(member) and inspect.getdoc(member):
                seen.add(name)
                yield name, member


def is_method(member: Any) -> bool:
    """Return whether a member of a class is a method or a property."""
    return inspect.isfunction(member) or isinstance(member, classmethod | staticmethod | property)


def docstring(found: Any) -> str:
    """Return the docstring of an object itself; not the one that it inherits."""
    target = found.__func__ if isinstance(found, classmethod | staticmethod) else found
    return inspect.cleandoc(getattr(target, "__doc__", None) or "")


def summary(found: Any) -> str:
    """Return the paragraphs of a docstring before its first section."""
    text = re.split(r"\n\n(?=[A-Z][\w ]*:(?:\n|\s|$))", docstring(found))[0]
    return markdown(text) + "\n"


def first_line(found: Any) -> str:
    """Return the first paragraph of a docstring on one line."""
    return markdown(" ".join(docstring(found).split("\n\n")[0].split()))


def section(found: Any, title: str) -> dict[str, str]:
    """Return the entries of a section of a docstring, by name."""
    match = re.search(rf"^{title}:\n((?:[ ]+.*\n?|\n)+)", docstring(found), re.MULTILINE)
    if match is None:
        return {}
    parts = [re.sub(r"\s+", " ", each).strip().partition(": ") for each in re.split(r"\n(?=    \w)", match[1].rstrip())]
    return {name: markdown(text) for name, _, text in parts}


def markdown(text: str) -> str:
    """Return text of a docstring as Markdown."""
    return text.replace("``", "`").replace("::\n", ":\n")


def value_text(value: Any) -> str:
    """Describe a constant or a type alias without a comment."""
    text = str(value).replace("typing.", "")
    if isinstance(value, dict) and " at 0x" in text:  # of objects whose representation differs from run to run
        return f"By name: {', '.join(f'`{name}`' for name in value)}."
    return f"`{text}`" if re.match(r"Literal\[", text) else "A type alias." if "[" in text else f"`{value!r}`"


def value_comments(module: ModuleType) -> dict[str, str]:
    """Return the comments ``#:`` above the assignments in a package, by the name that is assigned."""
    found: dict[str, str] = {}
    names = [module.__name__]
    if hasattr(module, "__path__"):
        names += [f"{module.__name__}.{each.name}" for each in pkgutil.iter_modules(module.__path__)]
    for name in names:
        source = Path(importlib.util.find_spec(name).origin).read_text(encoding="utf-8")  # type: ignore[union-attr, arg-type]
        lines = source.splitlines()
        for node in ast.parse(source).body:
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            if isinstance(target, ast.Name) and (comment := comment_above(lines, node.lineno - 1)):
                found.setdefault(target.id, markdown(comment))
    return found


def comment_above(lines: list[str], index: int) -> str:
    """Return the comment ``#:`` that ends above a line."""
    found: list[str] = []
    while index and lines[index - 1].startswith("#:"):
        index -= 1
        found.insert(0, lines[index].removeprefix("#:").strip())
    return " ".join(found)


if __name__ == "__main__":
    sys.exit(main())
