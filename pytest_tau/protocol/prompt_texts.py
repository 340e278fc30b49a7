"""The prompts of a checkout: those of its agents, its user and its judge, as templates."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from .sources import name_of
from .text_values import Scope, TextReader, Unknown, UnreadableTextError, Value, locals_of
from .texts import PLACEHOLDERS, STATEMENTS, TRANSCRIPT, JudgeTexts, PromptName, literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .sources import Checkout, Module

#: The classes whose system messages are the prompts, by prompt. The class of an agent that is given the reference
#: actions is found by its registration, or by its name.
CLASSES: dict[PromptName, tuple[str, ...]] = {
    "agent": ("LLMAgent",),
    "agent_solo": ("LLMSoloAgent",),
    "agent_gt": ("LLMGTAgent", "LLMAgentGT", "LLMGuidedAgent", "LLMOracleAgent"),
}
#: The name by which that agent is registered.
_ORACLE = "llm_agent_gt"
#: The attribute that has the system message; without it, the content of the first system message in the class.
_ATTRIBUTE = "system_prompt"
#: Words in the names of values, by the placeholder that they become.
_WORDS = {
    "policy": ("policy",),
    "ticket": ("ticket",),
    "steps": ("step", "action"),
    TRANSCRIPT: ("traj", "conversation", "transcript", "message", "history"),
    "statements": ("assert", "outcome", "expect", "statement"),
}
#: The name of the tool that ends a solo conversation.
DONE_FUNCTION = "done"


class MissingTextError(Exception):
    """A text was not found; says what was looked for."""


def read_prompts(checkout: Checkout) -> tuple[dict[PromptName, str], list[str]]:
    """Return the templates of the agents' system messages, and what was not found."""
    found: dict[PromptName, str] = {}
    problems: list[str] = []
    for name, classes in CLASSES.items():
        names = (*_registered(checkout, _ORACLE), *classes) if name == "agent_gt" else classes
        try:
            found[name] = _system_message(checkout, names, PLACEHOLDERS[name])
        except (MissingTextError, UnreadableTextError) as error:
            problems.append(f"prompts.{name}: {error}")
    return found, problems


def _registered(checkout: Checkout, name: str) -> list[str]:
    """Return the classes that are created by a factory, or registered, under this name."""
    found = []
    for module in checkout.modules:
        for node in ast.walk(module.body):
            if isinstance(node, ast.Call) and name in [getattr(each, "value", None) for each in node.args]:
                target = next((each for each in node.args if isinstance(each, ast.Name)), None)
                known = checkout.resolve(module, target.id) if target is not None else None
                if known is not None and isinstance(known[1], ast.ClassDef):
                    found.append(known[1].name)
                elif known is not None and isinstance(known[1], ast.FunctionDef):
                    found += [
                        each.func.id
                        for each in ast.walk(known[1])
                        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)
                    ]
    return found


def _system_message(checkout: Checkout, classes: tuple[str, ...], expected: tuple[str, ...]) -> str:
    looked = f"looked for {_ATTRIBUTE} or a system message in a class {' or '.join(dict.fromkeys(classes))}"
    for name in classes:
        found = checkout.find_class(name)
        if found is None:
            continue
        scope = Scope(found[0], tuple(checkout.ancestry(*found)))
        node = _content(scope)
        if node is not None:
            value = TextReader(checkout).read(*node)
            return template_of(value, expected, f"class {name} in {found[0].path}")
    raise MissingTextError(looked)


def _content(scope: Scope) -> tuple[ast.AST, Scope] | None:
    attribute = ast.Attribute(ast.Name("self"), _ATTRIBUTE)
    for module, owner in scope.owner:
        if any(_defines(statement, _ATTRIBUTE) for statement in owner.body):
            return attribute, scope
        for function in ast.walk(owner):
            if isinstance(function, ast.FunctionDef):
                for content in _messages(function, "system"):
                    return content, Scope(module, scope.owner, locals_of(function))
    return None


def _defines(statement: ast.stmt, name: str) -> bool:
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    return getattr(statement, "name", None) == name or name in [getattr(each, "id", None) for each in targets]


def _messages(node: ast.AST, role: str) -> Iterator[ast.expr]:
    """Yield the contents of messages of a role: of ``SystemMessage(content=…)``, or of objects in chat format."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and name_of(each.func).lower() == f"{role}message":
            yield from (keyword.value for keyword in each.keywords if keyword.arg == "content")
        elif isinstance(each, ast.Dict):
            keys = {getattr(key, "value", None): value for key, value in zip(each.keys, each.values, strict=True)}
            if getattr(keys.get("role"), "value", None) == role and "content" in keys:
                yield keys["content"]


def template_of(value: Value, expected: tuple[str, ...], place: str) -> str:
    """Return the template of a text, with a placeholder for each value.

    Raises:
        UnreadableTextError: It has a value that is not expected, or lacks one that is.
    """
    parts, found = [], set()
    for part in value:
        if isinstance(part, str):
            parts.append(literal(part))
            continue
        name = _placeholder(part, expected)
        if name is None:
            raise UnreadableTextError(f"{place} has a value {part.name!r}; expected {', '.join(expected)}")
        found.add(name)
        parts.append(f"{{{{{name}}}}}")
    required = [name for name in expected if name not in STATEMENTS]
    missing = [name for name in required if name not in found]
    if missing:
        raise UnreadableTextError(f"{place} has no value for {', '.join(missing)}")
    return "".join(parts)


def _placeholder(part: Unknown, expected: tuple[str, ...]) -> str | None:
    for name, words in _WORDS.items():
        if name in expected and any(word in part.name.lower() for word in words):
            return f"{name}_{part.form}" if name == "statements" and part.form != "text" else name
    return None


def read_judge(checkout: Checkout) -> JudgeTexts:
    """Return the prompt of the judge of NL assertions, and the keys of its answer.

    It is a function with a system and a user message, next to a verdict with ``met`` and ``justification``.

    Raises:
        MissingTextError: There is none; says what was looked for.
        UnreadableTextError: A text cannot be read.
    """
    for module in checkout.modules:
        for function in ast.walk(module.body):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            keys = _answer_keys(function)
            system, user = (next(_messages(function, role), None) for role in ("system", "user"))
            if keys is None or system is None or user is None:
                continue
            scope, reader = Scope(module, local=locals_of(function)), TextReader(checkout)
            place = f"the judge's prompt in {module.path}"
            return JudgeTexts(
                system=template_of(reader.read(system, scope), (), place).replace("{{open}}", "{{"),
                user=template_of(reader.read(user, scope), (TRANSCRIPT, *STATEMENTS), place),
                **keys,
            )
    raise MissingTextError(
        "looked for a function with a system and a user message and a verdict with met= and justification="
    )


def _answer_keys(function: ast.AST) -> dict[str, Any] | None:
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            given: Mapping[str | None, ast.expr] = {each.arg: each.value for each in node.keywords}
            if {"met", "justification"} <= set(given):
                met, reason = (next(_keys(given[name]), None) for name in ("met", "justification"))
                results = next((key for each in _iterated(function) for key in _keys(each)), None)
                if met and reason and results:
                    return {"met": met, "reason": reason, "results": results}
    return None


def _iterated(function: ast.AST) -> list[ast.expr]:
    """Return what the loops of a function go over, with local names replaced by what is assigned to them."""
    local = locals_of(function)
    loops = [each.iter for each in ast.walk(function) if isinstance(each, ast.For | ast.comprehension)]
    return [local.get(each.id, each) if isinstance(each, ast.Name) else each for each in loops]


def _keys(node: ast.AST) -> Iterator[str]:
    """Yield the constant keys of ``x["key"]`` and ``x.get("key")`` in an expression."""
    for each in ast.walk(node):
        if isinstance(each, ast.Subscript) and isinstance(each.slice, ast.Constant):
            value = each.slice.value
        elif isinstance(each, ast.Call) and name_of(each.func) == "get" and each.args:
            value = getattr(each.args[0], "value", None)
        else:
            continue
        if isinstance(value, str):
            yield value


def find_done(checkout: Checkout) -> tuple[Module, ast.FunctionDef] | None:
    """Return the function that is the tool by which a solo agent ends its work."""
    found = checkout.find_class(CLASSES["agent_solo"][0])
    for node in ast.walk(found[0].body) if found else ():
        if isinstance(node, ast.FunctionDef) and node.name == DONE_FUNCTION and ast.get_docstring(node):
            return found[0], node  # type: ignore[index]
    return None
