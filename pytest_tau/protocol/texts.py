"""The protocol: which texts models read, and how they answer; the official texts, read from a file and checked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from ..documents import DocumentError, read_json
from ..errors import ConfigurationError
from ..files import atomic_write, digest
from ..models.problems import first_problem
from ..plain import json

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

#: The names of the prompts, as built-in templates have them.
PromptName: TypeAlias = Literal["agent", "agent_solo", "agent_gt", "user", "user_tools"]
#: The placeholders of each prompt. A solo prompt has the ticket in it: no message follows it.
PLACEHOLDERS: dict[PromptName, tuple[str, ...]] = {
    "agent": ("policy",),
    "agent_solo": ("policy", "ticket"),
    "agent_gt": ("policy", "steps"),
    "user": ("scenario",),
    "user_tools": ("scenario",),
}
#: The placeholder of the conversation, and those of the statements: as a Python list, as JSON, or one on each line.
TRANSCRIPT, STATEMENTS = "transcript", ("statements", "statements_json", "statements_lines")

#: ``{{name}}`` in a template stands for a value.
_PLACEHOLDER = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}")
#: The placeholder of two literal braces, so that a text with braces can be part of a template.
_BRACES = "open"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class ToolText(_Part):
    """What a model reads of a tool.

    Attributes:
        name: The tool's name.
        description: Its description.
        parameters: The JSON schema of its arguments.
    """

    name: str
    description: str
    parameters: dict[str, Any]


class DomainTools(_Part):
    """The texts of the tools of one domain, by the side that calls them."""

    assistant: list[ToolText] = Field(default_factory=list)
    user: list[ToolText] = Field(default_factory=list)


class HiddenParameter(_Part):
    """A parameter of a hidden tool.

    Attributes:
        name: Its name.
        type: The name of its type, as the answer shows it.
        description: Its description.
        required: Whether a call needs it.
    """

    name: str
    type: str
    description: str
    required: bool
    model_config = ConfigDict(frozen=True, strict=True, extra="allow")


class HiddenTool(_Part):
    """The text of a tool that is found in the conversation.

    Attributes:
        name: The tool's name.
        requestor: The side that calls it.
        description: Its description.
        parameters: Its parameters, in order.
    """

    name: str
    requestor: Literal["assistant", "user"]
    description: str
    parameters: list[HiddenParameter]
    model_config = ConfigDict(frozen=True, strict=True, extra="allow")


class HiddenTools(_Part):
    """The texts of the hidden tools of one domain."""

    tools: list[HiddenTool]
    model_config = ConfigDict(frozen=True, strict=True, extra="allow")


class JudgeTexts(_Part):
    """The prompt of the judge, and the keys of its answer.

    Attributes:
        system: The system message.
        user: The template of the user message, with ``{{transcript}}`` and one of ``{{statements}}`` (as a Python
            list), ``{{statements_json}}`` and ``{{statements_lines}}``.
        results: The key of the list of verdicts.
        met: The key of whether a statement is met.
        reason: The key of the reason.
    """

    system: str
    user: str
    results: str
    met: str
    reason: str


class Texts(_Part):
    """The official texts.

    Attributes:
        source: Where they are from.
        tools: The tools, by domain; the layout of each is that of a file of τ²-bench's tool interfaces.
        hidden_tools: The texts of tools that are found in the conversation, by domain; ``discoverable`` in the file.
        prompts: The templates of the system messages, by name.
        done: The tool by which a solo agent ends its work.
        judge: The prompt of the judge.
        not_found: What the reader of a checkout did not find, each with where it was looked for.
    """

    source: str = ""
    tools: dict[str, DomainTools] = Field(default_factory=dict)
    hidden_tools: dict[str, HiddenTools] = Field(default_factory=dict, alias="discoverable")
    prompts: dict[PromptName, str] = Field(default_factory=dict)
    done: ToolText | None = None
    judge: JudgeTexts | None = None
    not_found: list[str] = Field(default_factory=list)
    model_config = ConfigDict(frozen=True, strict=True, populate_by_name=True)
    _place: str = PrivateAttr(default="")

    @property
    def place(self) -> str:
        """Return where the texts were read from, for messages."""
        return self._place or self.source

    @cached_property
    def fingerprint(self) -> str:
        """Return a digest of the texts, without where they are from."""
        content = self.model_dump(mode="json", exclude={"source", "not_found"})
        return digest(json.dumps(content, sort_keys=True))

    def tool_texts(self, domain: str, data_name: str | None = None) -> DomainTools | None:
        """Return the texts of a domain's tools; None if there are none.

        Args:
            domain: The domain's name.
            data_name: The domain whose data it has, which is looked up second.
        """
        return self.tools.get(domain) or self.tools.get(data_name or "")

    def discoverable(self, domain: str, data_name: str | None = None) -> dict[str, Any] | None:
        """Return the texts of a domain's discoverable tools: ``{"tools": […]}``; None if there are none.

        Args:
            domain: The domain's name.
            data_name: The domain whose data it has, which is looked up second.
        """
        hidden = self.hidden_tools.get(domain) or self.hidden_tools.get(data_name or "")
        return hidden.model_dump(mode="json") if hidden else None

    def prompt(self, name: PromptName) -> str:
        """Return the template of a prompt.

        Raises:
            ConfigurationError: There is none; says where it was looked for.
        """
        if name not in self.prompts:
            raise self.missing(f"prompt {name!r}", f"prompts.{name}")
        return self.prompts[name]

    def missing(self, what: str, field: str) -> ConfigurationError:
        """Return the error for a text that a run needs, and that is not there."""
        looked = [line for line in self.not_found if line.startswith(field)]
        where = f" ({looked[0].partition(': ')[2]})" if looked else ""
        return ConfigurationError(
            f"--tau-protocol tau2: no official text of the {what} in {self.place}{where}; write a file with "
            f"'tau texts CHECKOUT -o FILE', add {field} to it, and run with --tau-texts FILE"
        )


def load_texts(path: Path) -> Texts:
    """Read a file of texts.

    Raises:
        ConfigurationError: The file cannot be read, or has a field of another type or a prompt without its placeholder;
            names the field.
    """
    try:
        texts = Texts.model_validate(read_json(path))
    except ValidationError as error:
        raise ConfigurationError(f"{path}: {first_problem(error, 'document')}") from None
    except (OSError, DocumentError) as error:
        problem = getattr(error, "strerror", None) or error
        raise ConfigurationError(f"{path}: expected a file of texts, as 'tau texts' writes it: {problem}") from None
    if not (texts.tools or texts.prompts):
        raise ConfigurationError(f"{path}: expected the fields 'tools' and 'prompts', as 'tau texts' writes them")
    check_prompts(texts, str(path))
    texts._place = str(path)  # noqa: SLF001 - of this module
    return texts


def check_prompts(texts: Texts, where: str) -> None:
    """Check the placeholders of the prompts.

    Raises:
        ConfigurationError: A prompt lacks a placeholder, or has an unknown one.
    """
    for name, template in texts.prompts.items():
        known = PLACEHOLDERS[name]
        check_template(template, required=known, known=known, where=f"{where}: prompts.{name}")
    if texts.judge is not None:
        place = f"{where}: judge.user"
        check_template(texts.judge.user, required=(TRANSCRIPT,), known=(TRANSCRIPT, *STATEMENTS), where=place)


def write_texts(path: Path, texts: Texts) -> None:
    """Write a file of texts.

    Raises:
        OSError: It cannot be written.
    """
    document = texts.model_dump(mode="json", exclude_none=True, by_alias=True)
    atomic_write(path, json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def fill(template: str, values: Mapping[str, str], where: str) -> str:
    """Fill in a template's values, in one pass: text that looks like a placeholder in a value stays as it is.

    Raises:
        ConfigurationError: The template lacks a placeholder, or has an unknown one.
    """
    check_template(template, required=values, known=values, where=where)
    all_values = {**values, _BRACES: "{{"}
    return _PLACEHOLDER.sub(lambda match: all_values[match[1]], template)


def literal(text: str) -> str:
    """Escape a text's braces, so that it is unchanged in a filled template."""
    return text.replace("{{", f"{{{{{_BRACES}}}}}")


def placeholders(template: str) -> set[str]:
    """Return the names of the values that a template has."""
    return {*_PLACEHOLDER.findall(template)} - {_BRACES}


def check_template(template: str, *, required: Collection[str], known: Collection[str], where: str) -> None:
    """Check that a template has each required placeholder, and no unknown one.

    Raises:
        ConfigurationError: It lacks one or has another; names it.
    """
    for name in dict.fromkeys(_PLACEHOLDER.findall(template)):
        if name not in known and name != _BRACES:
            hint = f"expected {_listed(known)}; for literal braces write {{{{{_BRACES}}}}}{name}}}}}"
            raise ConfigurationError(f"{where} has an unknown placeholder {_listed([name])}: {hint}")
    missing = [name for name in required if name not in placeholders(template)]
    if missing:
        raise ConfigurationError(f"{where} lacks {_listed(missing)}, which the model needs")


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"{{{{{name}}}}}" for name in names)


#: How often a conversation is run again after a reply that cannot be used. Source: τ²-bench v1.0.1.
_MORE_ATTEMPTS = 3


@dataclass(frozen=True)
class Protocol:
    """The protocol of the model calls of a run.

    Attributes:
        name: ``tau``, the own one, or ``tau2``, that of τ²-bench.
        texts: The official texts, under ``tau2``.
    """

    name: Literal["tau", "tau2"] = "tau"
    texts: Texts | None = None

    @property
    def is_official(self) -> bool:
        """Return whether texts and messages are those of τ²-bench."""
        return self.texts is not None

    @property
    def attempts(self) -> int:
        """Return how often a conversation is run at most, if a reply of a model cannot be used."""
        return 1 + _MORE_ATTEMPTS if self.is_official else 1

    def template(self, name: PromptName, built_in: str) -> str:
        """Return the template of a system message: the official one, or the built-in one.

        Raises:
            ConfigurationError: The official texts lack it.
        """
        return self.texts.prompt(name) if self.texts is not None else built_in


#: The protocol of this package.
TAU = Protocol()
