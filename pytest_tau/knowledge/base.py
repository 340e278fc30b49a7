"""Knowledge bases: the declaration of one, and one with its documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError, unknown_name
from ..files import digest
from ..plain import json
from .indexes.cache import Indexes
from .measure import measure
from .searching import Choice, Searcher
from .shell import check_sandbox
from .tools import EVERY_TOOL, RetrievalTools, toolkit_type
from .variants import ALIASES, DEFAULT_VARIANT, FULL, OWN_INDEX, VARIANTS, parse_arguments, template_of, with_documents

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from ..environment import Database, Retrieval
    from ..models import Message, Task
    from .documents import Documents
    from .indexes import IndexFactory


@dataclass(frozen=True)
class Knowledge:
    """The declaration of a domain's knowledge base.

    Attributes:
        documents: The folder of the documents, relative to the domain's folder.
        prompts: The folder of the policies' templates, relative to the domain's folder: a file for each kind of
            variant, and ``components/`` for the texts that they share. None if the domain's policy is the same for all
            variants; documents that a variant shows in the policy follow its text.
        default: The variant that is used if none is named.
        indexes: Indexes of one's own, by the names of the variants that use them.
        answer_end: A text at the end of each answer of a search.
    """

    documents: str = "documents"
    prompts: str | None = None
    default: str = DEFAULT_VARIANT
    indexes: Mapping[str, IndexFactory] = field(default_factory=dict)
    answer_end: str = ""

    def load(self, folder: Path) -> KnowledgeBase:
        """Return the knowledge base of a domain whose data is in a folder; the documents are read when needed."""
        return KnowledgeBase(self, folder)


class KnowledgeBase:
    """The documents of a domain, and the variants in which an agent accesses them."""

    def __init__(self, spec: Knowledge, folder: Path) -> None:
        self.spec, self._folder = spec, folder
        self._store = Indexes(folder / spec.documents)
        self._templates: dict[str, str] = {}
        self._with_every_document: dict[str, str] = {}

    @property
    def documents(self) -> Documents:
        """The documents, read once.

        Raises:
            ConfigurationError: They cannot be read.
        """
        return self._store.documents

    @property
    def tool_names(self) -> Collection[str]:
        """The names of the retrieval tools of all variants."""
        return EVERY_TOOL

    @property
    def digest(self) -> str:
        """The fingerprint of the documents."""
        return self.documents.digest

    @property
    def digests(self) -> dict[str, str]:
        """The fingerprint of each document, by id."""
        return {document.id: digest(json.dumps([document.title, document.content])) for document in self.documents}

    def retriever(self, retrieval: Retrieval) -> Retriever:
        """Return a variant of the knowledge base.

        Raises:
            ConfigurationError: No such variant, or an argument that does not fit.
        """
        name = self.spec.default if retrieval.name is None else ALIASES.get(retrieval.name, retrieval.name)
        indexes = {**self.spec.indexes, **retrieval.indexes}
        variant = OWN_INDEX if name in indexes else VARIANTS.get(name)
        if variant is None:
            raise ConfigurationError(_unknown(name, [*indexes, *VARIANTS]))
        return Retriever(self, Choice(name, variant, parse_arguments(retrieval.args), indexes.get(name)))

    def template(self, choice: Choice) -> str:
        """Return the template of a variant's policy, read once."""
        assert self.spec.prompts is not None
        if choice.name not in self._templates:
            self._templates[choice.name] = template_of(self._folder / self.spec.prompts, choice.variant)
        return self._templates[choice.name]

    def policy(self, template: str, choice: Choice, required: Sequence[str] | None) -> str:
        """Return a policy with the documents that a variant shows in it; one with every document is made once."""
        placeholder = choice.variant.documents
        if placeholder != FULL:
            return with_documents(template, self.documents, placeholder, required)
        if template not in self._with_every_document:
            self._with_every_document[template] = with_documents(template, self.documents, placeholder, None)
        return self._with_every_document[template]

    def searcher(self, choice: Choice) -> Searcher:
        """Return what runs the searches of one environment."""
        return Searcher(choice, self._store, self.spec.answer_end)


class Retriever:
    """A retrieval variant of a knowledge base, with its arguments."""

    def __init__(self, base: KnowledgeBase, choice: Choice) -> None:
        self.base, self.choice = base, choice

    @property
    def name(self) -> str:
        """The name of the variant."""
        return self.choice.name

    @property
    def models(self) -> dict[str, tuple[str, Mapping[str, Any]]]:
        """The models that searches call, ``embedding`` and ``reranker``: names, and arguments of calls."""
        return self.choice.models

    def policy_text(self, policy: Callable[[], str], task: Task | None) -> str:
        """Return the agent's policy: of the knowledge base's templates, else the domain's own.

        Args:
            policy: Returns the domain's own policy.
            task: The task, whose required documents may be a part of it; None without one.

        Raises:
            ConfigurationError: A file cannot be read.
        """
        template = policy() if self.base.spec.prompts is None else self.base.template(self.choice)
        if self.choice.variant.documents is None:
            return template
        return self.base.policy(template, self.choice, task.required_documents if task else None)

    def toolkit(self, db: Database) -> RetrievalTools | None:
        """Return the retrieval tools of one environment; None if the variant has none."""
        tools = self.choice.variant.tools
        return toolkit_type(tools)(db, self.base.searcher(self.choice)) if tools else None

    def report(self, messages: Sequence[Message], task: Task) -> dict[str, Any]:
        """Return what was searched for and read in a conversation; see :func:`.measure.measure`."""
        return measure(messages, self.base.documents, self.choice.variant, self.name, task.required_documents)

    def check(self, tools: Collection[str]) -> None:
        """Read the documents, and check that the variant can be used here.

        Args:
            tools: The names of the domain's own tools.

        Raises:
            ConfigurationError: The documents cannot be read, a program or library is missing, or a tool of the domain
                has the name of a retrieval tool.
        """
        _ = self.base.documents
        if "shell" in self.choice.variant.tools:
            check_sandbox(self.name)
        for name in self.choice.variant.tools:
            if name in tools:
                raise ConfigurationError(
                    f"the domain has a tool {name!r}, as has the retrieval variant {self.name!r}: rename it, or use "
                    "another variant"
                )


def _unknown(name: str, known: list[str]) -> str:
    text = unknown_name("retrieval variant", name, known)
    return f"{text.partition(' (known: ')[0]} (known: {', '.join(known)})"
