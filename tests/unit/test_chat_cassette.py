from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pytest_tau.chat import ChatReply, ChatRequest, Identity, Player, Recorder
from pytest_tau.errors import ReplayError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_tau.chat import Role

DOCS = Path(__file__).parents[2] / "docs" / "cassettes.md"
WHOSE = Identity("tiny", "lamp", 0, 7, {"policy": "p1", "agent tools": "t1"})
TIMES = ["2026-01-02T03:04:05.000006+00:00", "2026-01-02T03:04:06.500000+00:00"]
AGAIN = "pytest tiny --tau-record=all"
TOOLS = [
    {"type": "function", "function": {"name": name, "description": f"To {name}.\n\nMore.", "parameters": {}}}
    for name in ("look", "add")
]
POLICY = {"role": "system", "content": "Be kind.\nBe brief.\n\nNever  guess."}


def said(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **fields}


def record(path: Path, *calls: tuple[Role, ChatRequest, ChatReply], **ending: Any) -> list[dict[str, Any]]:
    """A cassette of these calls, as JSON values."""

    async def make() -> None:
        recorder = Recorder(path, ending.pop("identity", WHOSE), fresh=True)
        for role, request, reply in calls:

            async def ask(_: ChatRequest, reply: ChatReply = reply) -> ChatReply:
                return reply

            await recorder.answer(role, request, ask)
        recorder.finish(**{"reason": "user_stop", "error": None, "times": TIMES} | ending)

    asyncio.run(make())
    return values_of(path.read_text(encoding="utf-8"))


def values_of(text: str) -> list[dict[str, Any]]:
    """The file as any reader of JSON values reads it."""
    values, position, text = [], 0, text.strip()
    while position < len(text):
        assert text[position - 1 : position] in ("", "\n")
        value, position = json.JSONDecoder().raw_decode(text, position)
        values.append(value)
        position += len(text[position:]) - len(text[position:].lstrip())
    return values


def play(path: Path, *calls: tuple[Role, ChatRequest]) -> list[ChatReply]:
    async def talk() -> list[ChatReply]:
        player = Player(path, WHOSE)
        replies = [await player.answer(role, request, None) for role, request in calls]  # type: ignore[arg-type]
        player.finish("user_stop", None, [])
        return replies

    return asyncio.run(talk())


def request(*messages: dict[str, Any], **fields: Any) -> ChatRequest:
    return ChatRequest(**{"model": "openai/m", "messages": list(messages)} | fields)


def conversation(turns: int = 3, policy: dict[str, Any] = POLICY, answer: str = "Yes {}.") -> list[Any]:
    """Calls of an agent over a growing conversation."""
    messages, calls = [policy, said("user", "Hello")], []
    for turn in range(turns):
        reply = ChatReply(message=said("assistant", answer.format(turn)), cost=0.001, seconds=0.5)
        calls.append(("agent", request(*messages, tools=TOOLS, tool_choice="auto", args={"seed": 7}), reply))
        messages = [*messages, reply.message, said("user", f"And {turn}?")]
    return calls


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lamp.cassette"


def problem(path: Path) -> str:
    """The error message of a cassette that cannot be read, without path and command."""
    with pytest.raises(ReplayError) as caught:
        Player(path, WHOSE, rerun_command=AGAIN)
    first, last = str(caught.value).splitlines()
    assert last == f"record again: {AGAIN}"
    assert first.startswith(f"{path}")
    return first.removeprefix(f"{path}").removeprefix(", ").removeprefix(": ")


# Layout


def test_a_cassette_is_laid_out_for_reviewers(path: Path) -> None:
    record(path, *conversation(2))
    look, add = (json.dumps(tool) for tool in TOOLS)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert (
        lines[:-1]
        == f"""\
{{"cassette": 1, "domain": "tiny", "task": "lamp", "trial": 0, "seed": 7,
 "hashes": {{
  "agent tools": "t1",
  "policy": "p1"
 }}}}
{{"call": 1, "role": "agent", "model": "openai/m", "args": {{"seed": 7}}, "tool_choice": "auto",
 "tools": [
  {look},
  {add}
 ],
 "messages": [
  {{"role": "system", "content": {{"lines": [
   "Be kind.",
   "Be brief.",
   "",
   "Never  guess."
  ]}}}},
  {{"role": "user", "content": "Hello"}}
 ],
 "reply": {{
  "message": {{"role": "assistant", "content": "Yes 0."}},
  "usage": null, "cost": 0.001, "finish_reason": null, "model": null
 }}}}
{{"call": 2, "role": "agent", "model": "openai/m", "args": {{"seed": 7}}, "tool_choice": "auto", "kept": 2,
 "messages": [
  {{"role": "assistant", "content": "Yes 0."}},
  {{"role": "user", "content": "And 0?"}}
 ],
 "reply": {{
  "message": {{"role": "assistant", "content": "Yes 1."}},
  "usage": null, "cost": 0.001, "finish_reason": null, "model": null
 }}}}""".splitlines()
    )
    assert lines[-1].startswith(
        '{"ended": "user_stop", "error": null, "by_clock": false, "calls": 2, '
        '"started": "2026-01-02T03:04:05.000006+00:00", "times": [0, 1499994], "seconds": [0.5, 0.5], "digest": "sha256:'
    )


def test_recording_an_unchanged_conversation_again_changes_one_line(path: Path) -> None:
    record(path, *conversation())
    old = path.read_text(encoding="utf-8").splitlines()
    again = [(role, asked, reply.model_copy(update={"seconds": 9.75})) for role, asked, reply in conversation()]
    record(path, *again, times=["2026-05-05T05:05:05.000000+00:00"] * 3, error="at 0x7f")
    new = path.read_text(encoding="utf-8").splitlines()
    assert (len(old), old[:-1]) == (len(new), new[:-1])
    assert old[-1] != new[-1]


def test_a_changed_line_of_the_policy_changes_a_line_of_the_file(path: Path) -> None:
    record(path, *conversation())
    old = path.read_text(encoding="utf-8").splitlines()
    record(path, *conversation(policy=said("system", POLICY["content"].replace("brief", "short"))))
    new = path.read_text(encoding="utf-8").splitlines()
    differing = [(a, b) for a, b in zip(old[:-1], new[:-1], strict=True) if a != b]
    assert differing == [('   "Be brief.",', '   "Be short.",')]


def test_only_what_is_new_is_written(path: Path) -> None:
    window = [POLICY, *(said("user", f"{number}") for number in range(6))]
    guard = request(said("system", "Is this polite?"), said("user", "x"))
    reply = ChatReply(message=said("assistant", "Yes"))
    asked: list[tuple[Role, ChatRequest]] = [
        ("agent", request(*window[:4], tools=TOOLS)),
        ("user", request(POLICY, tools=TOOLS[:1])),
        ("agent", request(*window[:5], tools=TOOLS)),  # goes on
        ("agent", request(window[0], *window[3:6], tools=TOOLS)),  # a window has slid on
        ("agent", guard),  # something else, without tools
        ("agent", request(window[0], *window[3:7])),  # as two calls before
        ("agent", guard),
        ("agent", request(window[0], tools=TOOLS[1:])),
    ]
    _, *calls, _ = record(path, *((role, one, reply) for role, one in asked))
    shared = [{name: call[name] for name in ("of", "kept", "dropped") if name in call} for call in calls]
    assert shared == [
        {},
        {},
        {"kept": 4},
        {"kept": 1, "dropped": 2},
        {},
        {"of": 4, "kept": 4},
        {"of": 5, "kept": 2},
        {"of": 6, "kept": 1},
    ]
    assert [len(call["messages"]) for call in calls] == [4, 1, 1, 1, 2, 1, 0, 0]
    assert [call.get("tools") for call in calls] == [TOOLS, TOOLS[:1], None, None, [], None, None, TOOLS[1:]]
    assert len(play(path, *asked)) == 8


def test_what_no_editor_shows_is_escaped(path: Path) -> None:
    unseen = "\x00\x1b\x7f\x85\u2028\u202e\u2066\ufeff\ud800é漢🎈"
    asked = request(said("user", unseen))
    record(path, ("agent", asked, ChatReply(message=said("assistant", unseen))))
    text = path.read_bytes().decode("utf-8")
    assert [one for one in text if not one.isprintable() and one != "\n"] == []
    assert "é漢🎈" in text
    assert play(path, ("agent", asked))[0].message["content"] == unseen


# The round trip

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=12) | st.sampled_from(
    ["a\nb", "\n", "\r\n\u2028", "lines"]
)
NAMES = st.text(max_size=5) | st.sampled_from(["lines", "plain", "content", "role"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)
MESSAGES = st.dictionaries(NAMES, VALUES, max_size=3)
REPLIES = st.builds(
    ChatReply,
    message=MESSAGES,
    cost=st.none() | st.floats(min_value=0, allow_nan=False, allow_infinity=False),
    seconds=st.floats(min_value=0, allow_nan=False, allow_infinity=False),
    finish_reason=st.none() | st.text(max_size=3),
)
CALLS = st.lists(
    st.tuples(
        st.sampled_from(["agent", "user", "judge"]),
        st.builds(
            ChatRequest,
            model=st.just("m"),
            messages=st.lists(MESSAGES, max_size=4),
            tools=st.lists(MESSAGES, max_size=2),
            args=st.dictionaries(st.sampled_from(["stop", "n"]), VALUES, max_size=2),
        ),
        REPLIES,
    ),
    min_size=1,
    max_size=5,
)


def exact(replies: list[ChatReply]) -> list[str]:
    return [json.dumps(reply.model_dump()) for reply in replies]


def as_json(reply: ChatReply) -> ChatReply:
    """The reply, normalised as by JSON: two halves of a character are that character."""
    return ChatReply(**json.loads(json.dumps(reply.model_dump())))


@pytest.mark.exhaustive
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=150)
@given(calls=CALLS, ending=ANY_TEXT, times=st.lists(st.datetimes().map(str) | ANY_TEXT, max_size=3))
def test_whatever_was_recorded_is_replayed(calls: list[Any], ending: str, times: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.cassette"
        record(path, *calls, error=ending, times=times)
        replayed = play(path, *((role, asked) for role, asked, _ in calls))
        assert exact(replayed) == exact([as_json(reply) for _, _, reply in calls])
        assert [json.dumps(one) for one in Player(path, WHOSE).times] == [json.dumps(one) for one in times]


@pytest.mark.exhaustive
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=40)
@given(calls=CALLS)
def test_a_cassette_survives_other_ends_of_lines_and_another_layout(calls: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.cassette"
        values = record(path, *calls)
        asked = [(role, one) for role, one, _ in calls]
        plain = exact(play(path, *asked))
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
        assert exact(play(path, *asked)) == plain
        path.write_text("\n\n".join(json.dumps(value, indent=3) for value in values), encoding="utf-8")
        assert exact(play(path, *asked)) == plain


def test_recorded_time_is_replayed(path: Path) -> None:
    of_one_kind = ["2026-01-02T03:04:05.000001", "2026-01-02T03:04:05.000000"]
    of_several = ["2026-01-02T03:04:05.000001+02:00", "2026-01-02T03:04:05.000001Z", *of_one_kind, "soon"]
    for times in ([], of_one_kind, of_several, of_several[::-1]):
        record(path, *conversation(), times=times)
        assert Player(path, WHOSE).times == times


# What cannot be read


def changed(path: Path, change: Callable[[str], str]) -> str:
    record(path, *conversation())
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    return problem(path)


def forged(path: Path, change: Callable[[list[dict[str, Any]]], Any]) -> str:
    """The error messages of a file whose values were changed, for each layout."""
    values = record(path, *conversation())
    change(values)
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return problem(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Yes 1.", "No 1."),
        ('"seed": 7,', '"seed": 8,'),
        ('"p1"', '"p2"'),
        ("0.001", "0.0010000000000000002"),
        ("[0, 1", "[0, 2"),
        ("0.5]", "0.6]"),
    ],
)
def test_no_edit_passes(path: Path, old: str, new: str) -> None:
    told = changed(path, lambda text: text.replace(old, new, 1))
    assert told == "line 42: the file was changed after it was recorded: its digest differs"


def test_a_cassette_cut_off_anywhere_is_never_replayed(path: Path) -> None:
    record(path, *conversation(2, answer='{{"yes": {}}}'))
    content = path.read_bytes()
    for end in range(1, len(content) - 2, 7):
        path.write_bytes(content[:end])
        assert problem(path).startswith("line ")
    path.write_bytes(content[: content.index(b'{"ended"')])
    assert problem(path) == "line 24: the file ends after this value: it was cut off"


def test_a_broken_line_is_named(path: Path) -> None:
    told = changed(path, lambda text: text.replace('{"call": 2', '{"call" 2'))
    assert told == "line 24: is not valid JSON: Expecting ':' delimiter"
    told = changed(path, lambda text: text.replace('"Yes 1."}', '"Yes 1.}', 1))
    assert told.startswith("line 30: is not valid JSON: Invalid control character")


def test_an_unfinished_merge_is_named(path: Path) -> None:
    marks = '<<<<<<< ours\n   "Be brief.",\n=======\n   "Be short.",\n>>>>>>> theirs\n'
    told = changed(path, lambda text: text.replace('   "Be brief.",\n', marks))
    assert told == "line 14: has conflict markers of an unfinished merge"


def test_invalid_cassette_is_reported(path: Path) -> None:
    for content, told in {
        b"": "line 1: the file is empty",
        b"\n \n": "line 1: the file is empty",
        b'{"a": 1}\n': "line 1: not a cassette file",
        b"[1]\n": "line 1: is not an object: [1]",
        b"\n\nHello}\n": "line 3: is not valid JSON: Expecting value",
        b'{"cassette": 1,\n "\xff"': "line 2: is not UTF-8",
        b'{"cassette": 2}\n{"ended": 1}': "line 1: has format version 2; expected 1",
        b'{"cassette": 2}\n{"what": 1}': "line 1: has format version 2; expected 1",
        b"[" * 100_000: "line 1: is not valid JSON: nested more than 200 levels deep",
        b'{"a":' + b"1" * 5000 + b"}": "line 1: ",
    }.items():
        path.write_bytes(content)
        assert problem(path).startswith(told)
    path.unlink()
    path.mkdir()
    assert problem(path) == "cannot be read: Is a directory"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda v: v[0].pop("trial"), "line 1: trial: Field required"),
        (
            lambda v: v[1].update(role="agnet"),
            "line 2: call 1: role: Input should be 'agent', 'user', 'judge', 'retrieval', 'reviewer' or 'approver'",
        ),
        (lambda v: v[1].update(rolle="agent"), "line 2: call 1: rolle: Extra inputs are not permitted"),
        (lambda v: v[2].pop("reply"), "line 3: call 2: expected one of reply, too_long, unanswered"),
        (lambda v: v[2].update(too_long="x"), "line 3: call 2: expected one of reply, too_long, unanswered"),
        (lambda v: v[2].update(kept=9), "line 3: call 2: keeps or drops 9 messages of call 1, which has 2"),
        (
            lambda v: v[2].update(of=7),
            "line 3: call 2: keeps messages of call 7, which is not an earlier call of its role",
        ),
        (
            lambda v: v[2]["messages"].append({"content": {"lines": 1}}),
            'line 3: call 2: "lines" is not a list of strings',
        ),
        (lambda v: v[2]["messages"].append({"content": {"plain": 1}}), 'line 3: call 2: "plain" is not an object'),
        (
            lambda v: v[2]["reply"]["usage"] or v[2]["reply"].update(usage={"x": 1}),
            "line 3: call 2: usage.x: Extra inputs",
        ),
        (lambda v: v.pop(2), "line 4: states 3 calls, but the file has 2"),
        (lambda v: v.append(v[1]), "line 6: has content after its end"),
        (lambda v: v.append(v[-1]), "line 6: has content after its end"),
        (lambda v: v[-1].update(ended="well"), "line 5: ended: Input should be"),
        (lambda v: v.pop(0), "line 1: not a cassette file"),
    ],
)
def test_what_does_not_fit_is_named(path: Path, change: Callable[[Any], Any], told: str) -> None:
    assert forged(path, change).startswith(told)


# The documentation


def test_the_cassette_of_the_docs_is_one(path: Path) -> None:
    shown = DOCS.read_text(encoding="utf-8").partition("```json\n")[2].partition("```")[0]
    path.write_text(shown, encoding="utf-8")
    identity = Identity("retail", "return-lamp", 0, 300)
    assert Player(path, identity).times[0] == "2026-08-04T09:30:00.412007+00:00"
