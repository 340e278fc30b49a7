"""Knowledge bases: documents, indexes, variants, policies, and the tools of an environment."""

from __future__ import annotations

import gc
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_tau.environment import Database, DomainSpec, Retrieval, Toolkit, tool
from pytest_tau.errors import ConfigurationError, ToolError, ToolServerError
from pytest_tau.knowledge import Hit, Knowledge, read_documents
from pytest_tau.knowledge.indexes.bm25 import BM25Index
from pytest_tau.knowledge.indexes.pattern_search import GrepIndex, PatternSearch
from pytest_tau.models import Task
from pytest_tau.runner import simulate


class ShopDB(Database):
    in_files = False


class ShopTools(Toolkit[ShopDB]):
    @tool("read")
    def ping(self) -> str:
        """Answer."""
        return "pong"


DOCUMENTS = {
    "fees": "Late fees\n\nA late fee of 5 USD is due after 30 days.",
    "returns": "Returns\n\nA return is free. A return takes 14 days.",
    "shipping": "Shipping\n\nShipping takes 3 days.",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "policy.md").write_text("Be kind.", encoding="utf-8")
    (tmp_path / "documents").mkdir()
    for name, text in DOCUMENTS.items():
        title, _, content = text.partition("\n\n")
        document = {"id": name, "title": title, "content": content}
        (tmp_path / "documents" / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    return tmp_path


def shop(folder, **knowledge):
    return DomainSpec(
        name="shop",
        folder=folder,
        tasks=folder,
        agent_db=ShopDB,
        agent_tools=ShopTools,
        knowledge=Knowledge(**knowledge),
    ).load()


def ids(text):
    return [line.split()[1] for line in text.splitlines() if line.startswith("   ID: ")]


def test_search_is_the_first_tool_and_finds_documents(folder):
    environment = shop(folder).environment()
    assert [each.name for each in environment.tools()] == ["KB_search", "ping"]
    answer = environment.call("KB_search", {"query": "late fee"})
    assert not answer.error
    assert answer.content.startswith("1. Late fees\n   ID: fees\n   Score: ")
    assert "   Content: A late fee of 5 USD is due after 30 days.\n" in answer.content
    assert ids(answer.content)[0] == "fees"


def test_user_cannot_search(folder):
    assert shop(folder).environment().call("KB_search", {"query": "fee"}, requestor="user").error


def test_search_changes_no_state_and_is_not_replayed(folder):
    assert not shop(folder).environment().mutates("KB_search", "assistant")


@pytest.mark.parametrize(
    ("name", "tools"),
    [
        ("bm25_grep", ["KB_search", "grep"]),
        ("grep", ["grep"]),
        ("no_knowledge", []),
        ("full_kb", []),
        ("alltools", ["KB_search_bm25", "KB_search_dense", "shell"]),
        ("AllTools", ["KB_search_bm25", "KB_search_dense", "shell"]),
    ],
)
def test_variant_gives_its_tools(folder, name, tools):
    domain = shop(folder)
    for environment in (domain.environment(policy=name), domain.environment(retrieval=Retrieval(name))):
        assert [each.name for each in environment.tools()] == [*tools, "ping"]


def test_number_of_documents_is_limited(folder):
    environment = shop(folder).environment(retrieval=Retrieval("bm25", {"top_k": 2}))
    assert len(ids(environment.call("KB_search", {"query": "return"}).content)) == 2


@pytest.mark.parametrize(("k", "found"), [(2, 2), (0, 0), (-1, 2), (99, 3)])
def test_model_chooses_the_number_of_documents(folder, k, found):
    answer = shop(folder).environment(policy="alltools").call("KB_search_bm25", {"query": "return", "k": k})
    assert len(ids(answer.content)) == found


def test_full_kb_has_every_document_in_the_policy(folder):
    policy = shop(folder).environment(policy="full_kb").policy
    assert policy.startswith("Be kind.\n\n## Knowledge base\n\n## Late fees\n\nA late fee")
    assert policy.count("---") == 2


def test_golden_retrieval_has_the_required_documents(folder):
    task = Task(id="t", user_scenario={"instructions": "x"}, required_documents=["Shipping", "unknown", "fees"])
    policy = shop(folder).environment(task, policy="golden_retrieval").policy
    assert policy.index("## Shipping") < policy.index("## Late fees")
    assert "Returns" not in policy
    assert "(No documents provided)" in shop(folder).environment(policy="golden_retrieval").policy


def test_templates_have_components_and_documents(folder):
    prompts = folder / "prompts"
    (prompts / "components").mkdir(parents=True)
    (prompts / "components" / "header.md").write_text("You are a shop.\n", encoding="utf-8")
    (prompts / "full_kb.md").write_text("{{component:header}}<{{full_knowledge_base}}>", encoding="utf-8")
    (folder / "documents" / "odd.json").write_text(r'{"id": "odd", "title": "Odd", "content": "a \\1 b"}')
    policy = shop(folder, prompts="prompts").environment(policy="full_kb").policy
    assert policy.startswith("You are a shop.\n<## Late fees\n")
    assert r"## Odd" + "\n\n" + r"a \1 b" in policy
    with pytest.raises(ConfigurationError, match=r"prompts.classic_rag_bm25_no_grep\.md"):
        shop(folder, prompts="prompts").environment()


def test_domain_without_knowledge_base_has_no_variants(folder):
    domain = DomainSpec("bare", folder, folder, ShopDB, ShopTools).load()
    with pytest.raises(ConfigurationError, match=r"'bare' has no knowledge base"):
        domain.environment(retrieval=Retrieval("bm25"))
    assert domain.environment().retrieval is None


def test_unknown_variant_is_reported_with_all_variants(folder):
    with pytest.raises(ConfigurationError, match=r"'bm52'; did you mean 'bm25'.*terminal_use_write.*alltools-qwen"):
        shop(folder).environment(retrieval=Retrieval("bm52"))


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ({"topk": 3}, "unknown retrieval argument 'topk'; did you mean 'top_k'"),
        ({"top_k": "3"}, "retrieval argument 'top_k': Input should be a valid integer, got '3'"),
        ({"top_k": 0}, "greater than or equal to 1"),
        ({"case_sensitive": 1}, "retrieval argument 'case_sensitive'"),
    ],
)
def test_bad_argument_is_reported(folder, args, problem):
    with pytest.raises(ConfigurationError, match=problem):
        shop(folder).environment(retrieval=Retrieval("bm25", args))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "not valid JSON"),
        ("[]", "expected an object with id, title and content, got list"),
        ('{"id": "x", "id": "y", "title": "X", "content": ""}', 'the key "id" is given twice'),
        ('{"id": "x", "title": "X"}', "content: missing"),
        ('{"id": "x", "title": 3, "content": ""}', "title: expected a text, got int"),
        ('{"id": " ", "title": "X", "content": ""}', "id: expected a text that is not blank"),
        ('{"id": "fees", "title": "X", "content": ""}', "fees.json has a document with the id 'fees', too"),
    ],
)
def test_bad_document_is_reported_with_its_file(folder, content, problem):
    (folder / "documents" / "zzz.json").write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=problem) as caught:
        read_documents(folder / "documents")
    assert "zzz.json" in str(caught.value)


def test_missing_and_empty_folders_are_reported(tmp_path):
    with pytest.raises(ConfigurationError, match="expected the folder of a knowledge base"):
        read_documents(tmp_path / "none")
    with pytest.raises(ConfigurationError, match="no documents: expected files that end in"):
        read_documents(tmp_path)


def test_markdown_and_text_files_are_documents(tmp_path):
    (tmp_path / "faq").mkdir()
    (tmp_path / "faq" / "late.md").write_text("# Late parcels\n\nWait.", encoding="utf-8")
    (tmp_path / "b.txt").write_text("Plain", encoding="utf-8")
    (tmp_path / "README.md").write_text("# About", encoding="utf-8")
    assert list(read_documents(tmp_path)) == [
        ("b", "b", "Plain"),
        ("faq/late", "Late parcels", "# Late parcels\n\nWait."),
    ]


def test_front_matter_names_the_title_and_is_no_content(tmp_path):
    (tmp_path / "a.md").write_text("---\nlang: en\ntitle: Late parcels\n---\n\n# Wait\n", encoding="utf-8")
    (tmp_path / "b.md").write_text("---\nlang: en\n---\n# Lost parcels\n", encoding="utf-8")
    (tmp_path / "c.md").write_text("# Fees\n\n---\ntitle: x\n---\n", encoding="utf-8")
    assert list(read_documents(tmp_path)) == [
        ("a", "Late parcels", "# Wait"),
        ("b", "Lost parcels", "---\nlang: en\n---\n# Lost parcels\n"),
        ("c", "Fees", "# Fees\n\n---\ntitle: x\n---\n"),
    ]


def test_documents_are_in_order_of_file_names(folder):
    (folder / "documents" / "Zebra.json").write_text('{"id": "a", "title": "", "content": ""}')
    assert [each.id for each in read_documents(folder / "documents")] == ["a", "fees", "returns", "shipping"]


def test_bm25_scores(folder):
    index = BM25Index(read_documents(folder / "documents"))
    hits = index.search("A return return", 10)
    assert [hit.id for hit in hits] == ["returns", "fees", "shipping"]
    assert hits[2].score == 0
    assert index.search("return return", 1)[0].score == pytest.approx(2 * index.search("return", 1)[0].score)
    assert index.search(" ", 10) == []
    # A title is not searched, and punctuation is a part of a word.
    assert index.search("Returns", 1)[0].score == index.search("free", 1)[0].score == 0


def test_grep_counts_matches(folder):
    documents = read_documents(folder / "documents")
    assert GrepIndex(documents).search("RETURN", 10) == [Hit("returns", 2)]
    assert GrepIndex(documents, case_sensitive=True).search("RETURN", 10) == []
    assert [hit.id for hit in GrepIndex(documents).search("days|free", 10)] == ["returns", "fees", "shipping"]
    assert GrepIndex(documents).search("(free", 10) == []
    assert GrepIndex(documents).search(" ", 10) == []


#: A text on which an expression with repetitions of repetitions takes hours.
SLOW_TEXT = "a" * 60 + "!"


class TestSlowPatterns:
    @pytest.mark.exhaustive
    def test_search_is_ended_and_the_next_one_works(self):
        search = PatternSearch([SLOW_TEXT, "b"], limit=2)
        start = time.monotonic()
        for pattern in ("(a+)+$", r"(a|aa)+$"):
            with pytest.raises(ToolError, match=r"pattern: the search was ended after 2.0 s: use a simpler pattern"):
                search.counts(pattern, 0)
        assert time.monotonic() - start < 30
        assert search.counts("B|!", re.IGNORECASE) == [1, 1]

    def test_agent_reads_that_it_took_too_long(self, folder, monkeypatch):
        monkeypatch.setattr(PatternSearch.__init__, "__defaults__", (1.0,))
        (folder / "documents" / "slow.json").write_text(
            json.dumps({"id": "slow", "title": "Slow", "content": SLOW_TEXT}), encoding="utf-8"
        )
        environment = shop(folder).environment(policy="grep")
        slow = environment.call("grep", {"pattern": "(a+)+$"})
        assert slow.error
        assert slow.content == (
            "Error: pattern: the search was ended after 1.0 s: use a simpler pattern, without repetitions of repetitions "
            "such as (a+)+"
        )
        assert "ID: slow" in environment.call("grep", {"pattern": "a+!"}).content

    @pytest.mark.exhaustive
    def test_one_process_is_used_for_all_searches_and_ends_with_them(self):
        search = PatternSearch(["a"])
        assert [search.counts(pattern, 0) for pattern in ("a|b", "(", "[", ".", "\udc80|a")] == [
            [1],
            [0],
            [0],
            [1],
            [1],
        ]
        worker = search._worker
        assert worker is not None
        assert worker.poll() is None
        del search
        gc.collect()
        assert worker.poll() is not None

    def test_process_that_ended_is_a_fault_of_the_run_and_is_replaced(self):
        search = PatternSearch(["a"])
        search.counts("a|b", 0)
        search._worker.kill()
        with pytest.raises(ToolServerError, match="the process that searches for patterns ended with status"):
            search.counts("a|b", 0)
        assert search.counts("a|b", 0) == [1]

    def test_searches_of_several_threads_get_their_own_answers(self):
        search = PatternSearch(["a" * number for number in range(50)])
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda length: search.counts(f"(?:a){{{length}}}", 0), range(1, 30)))
        assert found == [[number // length for number in range(50)] for length in range(1, 30)]

    def test_plain_words_need_no_process(self, folder):
        index = GrepIndex(read_documents(folder / "documents"))
        assert index.search("return", 10)
        assert index._search._worker is None


def test_pattern_without_match_is_quoted(folder):
    answer = shop(folder).environment(policy="grep").call("grep", {"pattern": "(x"})
    assert (answer.content, answer.error) == ("No matches found for pattern: (x", False)


def test_query_of_a_megabyte_is_refused(folder):
    answer = shop(folder).environment().call("KB_search", {"query": "fee " * 250_000})
    assert answer.error
    assert "1,000,000 characters; at most 20,000" in answer.content


def test_query_that_is_no_text_is_refused(folder):
    assert shop(folder).environment().call("KB_search", {"query": 3}).error


class Backwards:
    """An index that finds the documents in reverse order."""

    def __init__(self, documents):
        self.ids = [document.id for document in documents][::-1]

    def search(self, query, k):
        return [(each, 1.0) for each in self.ids][:k]


def test_domain_can_have_an_index_of_its_own(folder):
    environment = shop(folder, indexes={"backwards": Backwards}, default="backwards").environment()
    assert ids(environment.call("KB_search", {"query": "x"}).content) == ["shipping", "returns", "fees"]


@pytest.mark.parametrize(
    ("hits", "problem"),
    [
        ([("old", 1.0)], "found 'old', which is not the id of a document in"),
        ([("fees",)], "the index of 'mine' failed: ValueError"),
        (3, "the index of 'mine' failed: TypeError"),
    ],
)
def test_index_that_does_not_fit_is_a_fault_of_the_run(folder, hits, problem):
    class Mine:
        def search(self, query, k):
            return hits

    environment = shop(folder, indexes={"mine": lambda _: Mine()}, default="mine").environment()
    answer = environment.call("KB_search", {"query": "x"})
    assert answer.error
    assert environment.fault is not None
    assert problem in environment.fault


def test_index_is_made_at_the_first_search_and_once(folder):
    made = []

    def make(documents):
        made.append(documents)
        return Backwards(documents)

    domain = shop(folder, indexes={"mine": make}, default="mine")
    for _ in range(2):
        environment = domain.environment()
        assert len(made) <= 1
        environment.fork().call("KB_search", {"query": "x"})
    assert len(made) == 1


def test_a_simulation_knows_the_tools_of_every_variant(folder):
    domain = shop(folder)
    task = Task.model_validate({"id": "t", "user_scenario": {"instructions": "Ask."}})
    simulation = simulate(task, domain=domain, agent="noop", user="noop")
    assert not any(
        simulation.called(name) for name in ("ping", "KB_search", "grep", "KB_search_dense", "shell", "done")
    )
    with pytest.raises(ValueError, match="unknown tool 'KB_serch'; did you mean 'KB_search'"):
        simulation.called("KB_serch")
    assert domain.tool_arguments is domain.tool_arguments
