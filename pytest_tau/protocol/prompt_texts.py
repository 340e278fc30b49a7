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
    templates: dict[PromptName, str] = {}
    problems: list[str] = []
    for name, classes in CLASSES.items():
        names = (*_registered(checkout, _ORACLE), *classes) if name == "agent_gt" else classes
        try:
            templates[name] = _system_message(checkout, names, PLACEHOLDERS[name])
        except (MissingTextError, UnreadableTextError) as error:
            problems.append(f"prompts.{name}: {error}")
    return templates, problems


def _registered(checkout: Checkout, name: str) -> list[str]:
    """Return the classes that are created by a factory, or registered, under this name."""
    classes = []
    for module in checkout.modules:
        for node in ast.walk(module.body):
            if isinstance(node, ast.Call) and name in [getattr(argument, "value", None) for argument in node.args]:
                target = next((argument for argument in node.args if isinstance(argument, ast.Name)), None)
                known = checkout.resolve(module, target.id) if target is not None else None
                if known is not None and isinstance(known[1], ast.ClassDef):
                    classes.append(known[1].name)
                elif known is not None and isinstance(known[1], ast.FunctionDef):
                    classes += [
                        call.func.id
                        for call in ast.walk(known[1])
                        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
                    ]
    return classes


def _system_message(checkout: Checkout, classes: tuple[str, ...], expected: tuple[str, ...]) -> str:
    looked = f"looked for {_ATTRIBUTE} or a system message in a class {' or '.join(dict.fromkeys(classes))}"
    for name in classes:
        definition = checkout.find_class(name)
        if definition is None:
            continue
        scope = Scope(definition[0], tuple(checkout.ancestry(*definition)))
        node = _content(scope)
        if node is not None:
            value = TextReader(checkout).read(*node)
            return template_of(value, expected, f"class {name} in {definition[0].path}")
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
    return getattr(statement, "name", None) == name or name in [getattr(target, "id", None) for target in targets]


def _messages(node: ast.AST, role: str) -> Iterator[ast.expr]:
    """Yield the contents of messages of a role: of ``SystemMessage(content=…)``, or of objects in chat format."""
    for child in ast.walk(node):
        if isinstance(child, ast.Call) and name_of(child.func).lower() == f"{role}message":
            yield from (keyword.value for keyword in child.keywords if keyword.arg == "content")
        elif isinstance(child, ast.Dict):
            keys = {getattr(key, "value", None): value for key, value in zip(child.keys, child.values, strict=True)}
            if getattr(keys.get("role"), "value", None) == role and "content" in keys:
                yield keys["content"]


def template_of(value: Value, expected: tuple[str, ...], place: str) -> str:
    """Return the template of a text, with a placeholder for each value.

    Raises:
        UnreadableTextError: It has a value that is not expected, or lacks one that is.
    """
    parts, placeholders = [], set()
    for part in value:
        if isinstance(part, str):
            parts.append(literal(part))
            continue
        name = _placeholder(part, expected)
        if name is None:
            raise UnreadableTextError(f"{place} has a value {part.name!r}; expected {', '.join(expected)}")
        placeholders.add(name)
        parts.append(f"{{{{{name}}}}}")
    required = [name for name in expected if name not in STATEMENTS]
    missing = [name for name in required if name not in placeholders]
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
            arguments: Mapping[str | None, ast.expr] = {keyword.arg: keyword.value for keyword in node.keywords}
            if {"met", "justification"} <= set(arguments):
                met, reason = (next(_keys(arguments[name]), None) for name in ("met", "justification"))
                results = next((key for iterable in _iterated(function) for key in _keys(iterable)), None)
                if met and reason and results:
                    return {"met": met, "reason": reason, "results": results}
    return None


def _iterated(function: ast.AST) -> list[ast.expr]:
    """Return what the loops of a function go over, with local names replaced by what is assigned to them."""
    local = locals_of(function)
    loops = [loop.iter for loop in ast.walk(function) if isinstance(loop, ast.For | ast.comprehension)]
    return [local.get(iterable.id, iterable) if isinstance(iterable, ast.Name) else iterable for iterable in loops]


def _keys(node: ast.AST) -> Iterator[str]:
    """Yield the constant keys of ``x["key"]`` and ``x.get("key")`` in an expression."""
    for child in ast.walk(node):
        if isinstance(child, ast.Subscript) and isinstance(child.slice, ast.Constant):
            value = child.slice.value
        elif isinstance(child, ast.Call) and name_of(child.func) == "get" and child.args:
            value = getattr(child.args[0], "value", None)
        else:
            continue
        if isinstance(value, str):
            yield value


def find_done(checkout: Checkout) -> tuple[Module, ast.FunctionDef] | None:
    """Return the function that is the tool by which a solo agent ends its work."""
    definition = checkout.find_class(CLASSES["agent_solo"][0])
    for node in ast.walk(definition[0].body) if definition else ():
        if isinstance(node, ast.FunctionDef) and node.name == DONE_FUNCTION and ast.get_docstring(node):
            return definition[0], node  # type: ignore[index]
    return None
