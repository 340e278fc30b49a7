"""Result files of every format, whole, broken, cut off, and of other versions."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from pytest_tau.models import AssistantMessage, ToolMessage, UserMessage
from pytest_tau.runs.results.entries import StoredSimulation, Unreadable
from pytest_tau.runs.results.files import ResultFile
from pytest_tau.runs.results.streaming_json import pieces

from .tiny import raw_task

if TYPE_CHECKING:
    from pathlib import Path


def entry(name: str = "one", **fields: Any) -> dict[str, Any]:
    """A simulation of τ²-bench's."""
    messages = [
        {"role": "assistant", "content": "Hi!", "turn_idx": 0, "cost": 0.0},
        {"role": "user", "content": "###STOP###", "audio_path": None},
    ]
    reward = {"reward": 1.0, "reward_basis": ["DB"]}
    simulation = {"id": f"id-{name}", "task_id": name, "trial": 0, "termination_reason": "user_stop"}
    return simulation | {"messages": messages, "reward_info": reward} | fields


def results(*simulations: Any, tasks: Any = None, **info: Any) -> dict[str, Any]:
    """A results file of τ²-bench's."""
    header = {"environment_info": {"domain_name": "tiny"}, "agent_info": {"implementation": "llm_agent"}} | info
    return {
        "timestamp": "2025-01-01",
        "info": header,
        "tasks": [raw_task("one", {"actions": []})] if tasks is None else tasks,
        "simulations": list(simulations),
    }


def write(path: Path, document: Any) -> Path:
    """The document in a file, gzipped where its name says so."""
    content = document if isinstance(document, bytes) else json.dumps(document).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def read(path: Path) -> tuple[ResultFile, list[StoredSimulation], list[Unreadable]]:
    """What is in a file."""
    file = ResultFile.scan(path)
    runs = list(file.simulations())
    unreadable = [*file.problems, *(run for run in runs if isinstance(run, Unreadable))]
    return file, [run for run in runs if isinstance(run, StoredSimulation)], unreadable


def one(path: Path, document: Any) -> StoredSimulation:
    """The only simulation of a file without any problem."""
    _, runs, unreadable = read(write(path, document))
    assert unreadable == []
    (run,) = runs
    return run


def why_not(path: Path, document: Any) -> str:
    """Why the only entry of a file is not read."""
    _, runs, unreadable = read(write(path, document))
    assert runs == []
    (problem,) = unreadable
    return problem.reason


# τ²-bench


@pytest.mark.parametrize("name", ["results.json", "results.json.gz"])
def test_file_has_domain_tasks_and_verdicts(tmp_path: Path, name: str) -> None:
    file, runs, unreadable = read(write(tmp_path / name, results(entry())))
    assert (file.kind, file.domain, file.solo, file.size) == ("τ²-bench", "tiny", False, 1)
    assert unreadable == []
    (run,) = runs
    assert run.task is not None and run.task.id == "one"
    assert run.simulation.reward_info is not None and run.simulation.reward_info.reward == 1.0
    assert run.entry == "entry 0 (task one, trial 0)"


@pytest.mark.parametrize(
    "info",
    [{"agent_info": {"implementation": "llm_agent_solo"}}, {"user_info": {"implementation": "dummy_user"}}],
)
def test_an_agent_that_worked_alone_is_recognised(tmp_path: Path, info: dict[str, Any]) -> None:
    file, _, _ = read(write(tmp_path / "r.json", results(entry(), **info)))
    assert file.solo


def test_simulations_may_stand_before_the_tasks(tmp_path: Path) -> None:
    document = dict(sorted(results(entry()).items()))
    assert list(document).index("simulations") < list(document).index("tasks")
    assert one(tmp_path / "r.json", document).task is not None


def test_unknown_fields_are_dropped_everywhere(tmp_path: Path) -> None:
    task = raw_task("one", {"actions": [], "reward_basis": None, "weight": 2}, difficulty="hard")
    task["user_scenario"]["instructions"] = {"reason_for_call": "r", "task_instructions": "t", "mood": "bad"}
    reward = {"reward": 1.0, "action_checks": [{"action": {"action_id": "a", "name": "look", "cost": 1}, "new": 1}]}
    reward["action_checks"][0] |= {"action_match": True, "action_reward": 1.0}
    run = one(tmp_path / "r.json", results(entry(effect_timeline=[1], reward_info=reward), tasks=[task]) | {"new": 1})
    assert run.task is not None and run.task.criteria.reward_basis == ["DB", "COMMUNICATE"]
    assert run.simulation.reward_info is not None and run.simulation.reward_info.action_checks[0].action_match


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"trial": None}, ("trial", 0)),
        ({"task_id": 7}, ("task_id", "7")),
        ({"seed": "no number"}, ("seed", None)),
        ({"id": None}, ("id", "entry 0 (task one, trial 0)")),
        ({"termination_reason": None}, ("termination_reason", "user_stop")),
        ({"termination_reason": "bored"}, ("termination_reason", "unexpected_error")),
        ({"reward_info": None}, ("reward_info", None)),
        ({"reward_info": {"reward": None}}, ("reward_info", None)),
        ({"reward_info": {"reward": float("nan")}}, ("reward_info", None)),
    ],
)
def test_older_versions_leave_things_out(tmp_path: Path, fields: dict[str, Any], expected: tuple[str, Any]) -> None:
    run = one(tmp_path / "r.json", results(entry(**fields), tasks=[raw_task("one"), raw_task("7")]))
    assert getattr(run.simulation, expected[0]) == expected[1]


def test_a_broken_part_of_a_verdict_leaves_the_reward(tmp_path: Path) -> None:
    reward = {"reward": 1.0, "db_check": "yes", "communicate_checks": [{"info": "5", "met": True, "justification": ""}]}
    info = one(tmp_path / "r.json", results(entry(reward_info=reward))).simulation.reward_info
    assert info is not None and info.reward == 1.0
    assert info.db_check is None
    assert info.communicate_checks is not None and info.communicate_checks[0].met


def test_messages_of_other_versions_are_read(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}]},
        {"role": "assistant", "tool_calls": [{"id": "a", "name": "look", "arguments": '{"item_id": "lamp"}'}]},
        {"role": "tool", "id": "a", "content": {"name": "Lamp"}},
        {"role": "user", "content": None, "tool_calls": [{"id": "b", "name": "switch", "arguments": None}]},
        {"role": "tool", "tool_messages": [{"role": "tool", "id": "b", "content": "on", "requestor": "user"}]},
        {"role": "assistant", "tool_calls": [{"id": "c", "name": "look", "arguments": "{broken"}]},
    ]
    read_back = one(tmp_path / "r.json", results(entry(messages=messages))).simulation.messages
    assert [message.content for message in read_back] == ["Hello", None, '{"name": "Lamp"}', None, "on", None]
    calls = [call for m in read_back if isinstance(m, AssistantMessage | UserMessage) for call in m.tool_calls or []]
    assert calls[0].arguments == {"item_id": "lamp"}
    assert calls[1].requestor == "user"
    assert calls[2].malformed == "{broken"


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("{'by': 1, 'paid': True, 'tags': ('a', None)}", {"by": 1, "paid": True, "tags": ["a", None]}),
        (json.dumps(json.dumps({"by": 1})), {"by": 1}),
        (json.dumps("{'by': 1}"), {"by": 1}),
        ("{'path': '\\d'}", {"path": "\\d"}),
        ("null", {}),
    ],
)
def test_arguments_are_read_in_the_forms_in_which_other_programs_store_them(
    tmp_path: Path, text: str, arguments: dict[str, Any]
) -> None:
    call = {"id": "c", "function": {"name": "count", "arguments": text}}
    stored = one(tmp_path / "r.json", results(entry(messages=[{"role": "assistant", "tool_calls": [call]}])))
    (read,) = stored.simulation.messages[0].tool_calls  # type: ignore[union-attr]
    assert (read.arguments, read.malformed) == (arguments, None)


@pytest.mark.parametrize(
    "text",
    [
        "{'by': {1, 2}}",
        "{'by': open('x')}",
        "by=1",
        '```json\n{"by": 1}\n```',
        "{'by': " * 150 + "1" + "}" * 150,
        "{'by': '" + "x" * (1 << 20) + "'}",
        '{"by": NaN}',
        "{'by': 1e999}",
        "['by']",
    ],
    ids=lambda text: text[:12],
)
def test_arguments_in_no_such_form_are_malformed(tmp_path: Path, text: str) -> None:
    call = {"id": "c", "function": {"name": "count", "arguments": text}}
    stored = one(tmp_path / "r.json", results(entry(messages=[{"role": "assistant", "tool_calls": [call]}])))
    (read,) = stored.simulation.messages[0].tool_calls  # type: ignore[union-attr]
    assert read.arguments == {}
    assert read.malformed


def test_ids_of_calls_that_repeat_are_numbered_anew(tmp_path: Path) -> None:
    def turn(result: str) -> list[dict[str, Any]]:
        calls = [{"id": "call_0", "name": "look", "arguments": {}, "requestor": "assistant"}]
        return [{"role": "assistant", "tool_calls": calls}, {"role": "tool", "id": "call_0", "content": result}]

    simulation = one(tmp_path / "r.json", results(entry(messages=[*turn("1"), *turn("2")]))).simulation
    ids = [made.call.id for made in simulation.calls]
    assert len(set(ids)) == 2
    assert [m.id for m in simulation.messages if isinstance(m, ToolMessage)] == ids


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"messages": None}, "no conversation"),
        ({"messages": None, "ticks": [{"agent_chunk": 1}]}, "ticks"),
        ({"messages": [], "ticks": [{"agent_chunk": 1}]}, "ticks"),
        ({"messages": [{"role": "robot"}]}, "messages.0"),
        ({"messages": ["hello"]}, "do not follow the format"),
        ({"messages": [{"content": "x"}]}, "do not follow the format"),
        ({"task_id": None}, "no task_id"),
        ({"task_id": "bad"}, "its task cannot be read: user_scenario: field required"),
    ],
)
def test_an_entry_that_cannot_be_read_is_named_and_stops_nothing(
    tmp_path: Path, fields: dict[str, Any], reason: str
) -> None:
    document = results(entry("a"), entry(**fields), entry("b"), "no object", tasks=[{"id": "bad"}])
    _, runs, unreadable = read(write(tmp_path / "r.json", document))
    assert [run.simulation.task_id for run in runs] == ["a", "b"]
    assert any(problem.entry.startswith("entry 1") and reason in problem.reason for problem in unreadable)
    assert any(problem.entry == "entry 3" and "expected an object" in problem.reason for problem in unreadable)


# Cut off, broken


def test_a_file_cut_off_anywhere_gives_what_is_complete(tmp_path: Path) -> None:
    whole = json.dumps(results(entry("a"), entry("b"), entry("c")), ensure_ascii=False).encode()
    ends = [whole.index(json.dumps(entry(name)).encode()) + len(json.dumps(entry(name))) for name in "abc"]
    for cut in range(len(whole)):
        _, runs, unreadable = read(write(tmp_path / "r.json", whole[:cut]))
        assert [run.simulation.task_id for run in runs] == [n for n, end in zip("abc", ends, strict=True) if end <= cut]
        assert unreadable, cut


def test_compressed_data_cut_off_gives_what_is_complete(tmp_path: Path) -> None:
    simulations = [entry(str(number), id=f"{number * 7919:x}" * 40) for number in range(300)]
    whole = gzip.compress(json.dumps(results(*simulations)).encode())
    (tmp_path / "r.json.gz").write_bytes(whole[: len(whole) // 2])
    _, runs, unreadable = read(tmp_path / "r.json.gz")
    assert 50 < len(runs) < 300
    assert "ends in the middle" in unreadable[-1].reason


@pytest.mark.parametrize("line", [b"\n", b"{}\n", b"x\n", b"[", b" "])
def test_nothing_is_read_of_compressed_data_that_unfolds_to_an_absurd_size(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "f.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1}\n' + line * (6 << 20)))
    (piece,) = pieces(tmp_path / "f.jsonl.gz")
    assert piece.problem == "gzip data that decompresses to more than 200 times its size"


def test_two_gzip_members_are_one_file(tmp_path: Path) -> None:
    whole = json.dumps(results(entry("a"), entry("b"))).encode()
    (tmp_path / "r.gz").write_bytes(gzip.compress(whole[:200]) + gzip.compress(whole[200:]))
    assert len(read(tmp_path / "r.gz")[1]) == 2


@pytest.mark.parametrize(
    "broken", [b'{"id": nope}', b'{"id": "x" "]}\\"{"}', b'{"x": [1, 2, }', b"nope", b"2025-01-02"]
)
def test_a_broken_simulation_in_the_middle_stops_nothing_that_is_delimited(tmp_path: Path, broken: bytes) -> None:
    whole = json.dumps(results(entry("a"), "HERE", entry("b"))).encode().replace(b'"HERE"', broken)
    _, runs, unreadable = read(write(tmp_path / "r.json", whole))
    assert runs[0].simulation.task_id == "a"
    assert unreadable[0].entry == "entry 1"
    if broken != b'{"x": [1, 2, }':
        assert [run.simulation.task_id for run in runs] == ["a", "b"]
        assert unreadable[0].reason.startswith("not valid JSON")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"# Results", "not a JSON document: begins with '#'"),
        (b"\x00\x01\x02", "not a JSON document"),
        (b"{", "file ends"),
        (b"[", "file ends"),
    ],
)
def test_a_file_that_is_no_result_file_says_so(tmp_path: Path, content: bytes, reason: str) -> None:
    assert reason in why_not(tmp_path / "r.json", content)


def test_depth_is_no_way_to_stop_the_rest(tmp_path: Path) -> None:
    deep = json.dumps([entry("a"), "HERE", entry("b")]).encode().replace(b'"HERE"', b"[" * 100_000 + b"]" * 100_000)
    _, runs, unreadable = read(write(tmp_path / "r.json", deep))
    assert [run.simulation.task_id for run in runs] == ["a", "b"]
    assert len(unreadable) == 1


def test_positions_are_those_of_the_text(tmp_path: Path) -> None:
    entries: list[Any] = [entry(), "é" * 900, 17, {"a": "\n"}, entry()]
    for content, name in (
        (json.dumps(entries, indent=1, ensure_ascii=False), "r.json"),
        (json.dumps({"info": {}, "simulations": entries}), "r.json"),
        ("\n\n".join(json.dumps(entry() | {"n": n}) for n in range(3)), "r.jsonl"),
    ):
        found = [piece for piece in pieces(write(tmp_path / name, content.encode())) if piece.position is not None]
        assert len(found) >= 3
        assert all(json.loads(content[piece.start : piece.end]) == piece.value for piece in found)


# The folder form


def folder(path: Path, index: list[str] | None, files: dict[str, Any]) -> Path:
    """A folder with a file a simulation."""
    (path / "simulations").mkdir(parents=True)
    document = results() | {"simulation_index": [{"id": name} for name in index] if index is not None else None}
    write(path / "results.json", document)
    for name, content in files.items():
        write(path / "simulations" / name, content)
    return path


@pytest.mark.parametrize("name", [".", "results.json"])
def test_a_folder_is_read_in_the_order_of_its_index(tmp_path: Path, name: str) -> None:
    path = folder(tmp_path, ["b", "a"], {"a.json": entry("a"), "b.json": entry("b"), "left.json": entry("left")})
    file, runs, unreadable = read(path / name)
    assert file.kind == "τ²-bench, one file per simulation"
    assert file.size == 3
    assert [run.simulation.task_id for run in runs] == ["b", "a", "left"]
    assert runs[0].entry == "simulations/b.json (task b, trial 0)"
    assert unreadable == []


def test_files_of_a_folder_that_are_missing_or_cut_off_are_named(tmp_path: Path) -> None:
    cut = json.dumps(entry("b")).encode()[:-20]
    path = folder(tmp_path, ["a", "gone", "../../b"], {"a.json": entry("a"), "b.json": cut, "c.json": b"[1]"})
    _, runs, unreadable = read(path)
    assert [run.simulation.task_id for run in runs] == ["a"]
    assert [problem.entry for problem in unreadable] == [f"simulations/{n}.json" for n in ("gone", "b", "c")]
    assert "cannot be opened" in unreadable[0].reason


# Our own


@pytest.mark.parametrize("wrapped", [False, True])
def test_our_own_simulations_are_read_as_a_list_or_in_an_object(tmp_path: Path, wrapped: bool) -> None:
    simulations = [entry("a", info={"solo": True}), entry("b", domain="tiny", task=raw_task("b", {"actions": []}))]
    file, runs, unreadable = read(write(tmp_path / "r.json", {"simulations": simulations} if wrapped else simulations))
    assert (file.kind, file.domain) == ("simulations", "tiny")
    assert [(run.simulation.task_id, run.solo, run.task is None) for run in runs] == [
        ("a", True, True),
        ("b", False, False),
    ]
    assert unreadable == []


@pytest.mark.parametrize("indent", [None, 2])
def test_a_file_may_be_one_simulation(tmp_path: Path, indent: int | None) -> None:
    text = json.dumps(entry("a"), indent=indent) + "\n"
    assert one(tmp_path / "r.json", text.encode()).simulation.task_id == "a"


@pytest.mark.parametrize("name", ["r.json", "r.jsonl", "r.jsonl.gz"])
def test_json_lines_are_read_line_by_line(tmp_path: Path, name: str) -> None:
    lines = [json.dumps(entry("a")), "", '{"task_id": "b", "mess', json.dumps(entry("c")), json.dumps(entry("d"))[:-9]]
    file, runs, unreadable = read(write(tmp_path / name, "\n".join(lines).encode()))
    assert [run.simulation.task_id for run in runs] == ["a", "c"]
    assert [problem.entry for problem in unreadable] == ["entry 1", "entry 3"]
    assert file.size == 2


def test_what_was_called_is_counted(tmp_path: Path) -> None:
    messages = [{"role": "assistant", "tool_calls": [{"id": "a", "name": "look", "arguments": {}}]}]
    file, _, _ = read(write(tmp_path / "r.json", [entry(messages=messages), entry(messages=messages)]))
    assert file.called == {"look": 2}


# τ-bench


def tau1(*trajectory: dict[str, Any], reward: float = 1.0, verdict: Any = ..., **fields: Any) -> dict[str, Any]:
    """A trial of τ-bench's."""
    actions = [{"name": "rename", "kwargs": {"item_id": "lamp", "name": "New"}}, {"name": "respond", "kwargs": {}}]
    task = {"user_id": "u", "instruction": "Rename it.", "actions": actions, "outputs": ["1234", 5]}
    info = {"task": task, "reward_info": {"reward": reward, "info": {"r_actions": 1.0}} if verdict is ... else verdict}
    traj = [{"role": "system", "content": "Policy"}, *trajectory]
    return {"task_id": 3, "trial": 1, "reward": reward, "info": info, "traj": traj} | fields


def chat_call(name: str, arguments: str = "{}", content: str | None = None) -> dict[str, Any]:
    """An agent's message with two calls, of which the first counts."""
    calls = [{"id": "x", "function": {"name": n, "arguments": arguments}} for n in (name, "remove")]
    return {"role": "assistant", "content": content, "tool_calls": calls}


STOP = {"role": "user", "content": "###STOP###"}


def test_a_trial_becomes_a_simulation_of_a_task(tmp_path: Path) -> None:
    run = one(tmp_path / "r.json", [tau1({"role": "user", "content": "Hi"}, STOP)])
    assert run.task is not None and run.task.id == "3"
    assert [action.name for action in run.task.criteria.actions or []] == ["rename"]
    assert run.task.criteria.communicate_info == ["1234", "5"]
    assert run.task.criteria.reward_basis == ["DB", "COMMUNICATE"]
    assert (run.simulation.trial, run.simulation.termination_reason) == (1, "user_stop")
    assert [message.role for message in run.simulation.messages] == ["user", "user"]


def test_only_the_first_call_of_a_message_is_made_and_its_text_is_dropped(tmp_path: Path) -> None:
    result = {"role": "tool", "tool_call_id": "x", "name": "rename", "content": "Error: no item"}
    messages = one(
        tmp_path / "r.json", [tau1(chat_call("rename", '{"item_id": "lamp"}', "1234"), result, STOP)]
    ).simulation.messages
    assert isinstance(messages[0], AssistantMessage) and messages[0].content is None
    assert [call.name for call in messages[0].tool_calls or []] == ["rename"]
    assert isinstance(messages[1], ToolMessage) and messages[1].error


@pytest.mark.parametrize(
    ("last", "verdict", "reason"),
    [
        (STOP, ..., "user_stop"),
        ({"role": "tool", "tool_call_id": "x", "content": "Transfer successful"}, ..., "agent_stop"),
        (STOP, None, "max_steps"),
        ({"role": "user", "content": "And then?"}, None, "max_steps"),
    ],
)
def test_a_trial_that_was_graded_had_ended(tmp_path: Path, last: Any, verdict: Any, reason: str) -> None:
    trial = tau1(chat_call("transfer_to_human_agents"), last, verdict=verdict, reward=0.0)
    assert one(tmp_path / "r.json", [trial]).simulation.termination_reason == reason


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([STOP], "user_stop"),
        ([chat_call("transfer_to_human_agents"), {"role": "tool", "content": "done"}], "agent_stop"),
        ([{"role": "user", "content": "And then?"}], "max_steps"),
    ],
)
def test_without_a_stored_verdict_the_ending_is_read_from_the_conversation(
    tmp_path: Path, messages: list[Any], reason: str
) -> None:
    trial = tau1(*messages, reward=0.0)
    del trial["info"]["reward_info"]
    assert one(tmp_path / "r.json", [trial]).simulation.termination_reason == reason


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize(
    "messages", [[{"role": "user", "content": "And then?"}], [{"role": "assistant", "content": "Bye"}]]
)
def test_a_reward_of_1_is_a_verdict(tmp_path: Path, messages: list[Any], kept: bool) -> None:
    trial = tau1(*messages, verdict=None)
    if not kept:
        del trial["info"]["reward_info"]
    assert one(tmp_path / "r.json", [trial]).simulation.termination_reason == "agent_stop"


def test_all_calls_with_as_many_results_were_carried_out(tmp_path: Path) -> None:
    results = [{"role": "tool", "tool_call_id": call_id, "content": "done"} for call_id in ("x", "y")]
    trial = tau1(chat_call("transfer_to_human_agents"), *results, reward=0.0)
    del trial["info"]["reward_info"]
    simulation = one(tmp_path / "r.json", [trial]).simulation
    assert isinstance(simulation.messages[0], AssistantMessage)
    assert [call.name for call in simulation.messages[0].tool_calls or []] == ["transfer_to_human_agents", "remove"]
    assert [message.role for message in simulation.messages] == ["assistant", "tool", "tool"]
    assert simulation.termination_reason == "agent_stop"


def test_stored_checks_of_both_kinds_are_kept(tmp_path: Path) -> None:
    by_database = one(tmp_path / "a.json", [tau1(STOP, verdict={"info": {"r_actions": 0.0}})]).simulation.reward_info
    outputs = {"r_outputs": 0.0, "outputs": {"1234": True, "5": False}}
    by_outputs = one(tmp_path / "b.json", [tau1(STOP, verdict={"info": outputs})]).simulation.reward_info
    assert by_database is not None and by_database.db_check is not None and not by_database.db_check.db_match
    assert by_outputs is not None and by_outputs.db_check is None
    assert [check.met for check in by_outputs.communicate_checks or []] == [True, False]


def test_trials_that_failed_are_named_with_their_error(tmp_path: Path) -> None:
    failed = {"task_id": 45, "trial": 0, "reward": 0.0, "info": {"error": "APIError: no\nmore", "traceback": "…"}}
    file, runs, unreadable = read(write(tmp_path / "r.json", [tau1(STOP), failed | {"traj": []}, failed]))
    assert file.kind == "τ-bench"
    assert len(runs) == 1
    assert {problem.reason for problem in unreadable} == {"no conversation: the run failed with APIError: no"}
    assert unreadable[0].entry == "entry 1 (task 45, trial 0)"


@pytest.mark.parametrize(
    ("trial", "reason"),
    [
        (tau1(STOP, info={}), "no task"),
        (tau1(STOP, info={"task": {"actions": [{"kwargs": {}}]}}), "its task cannot be read"),
        (tau1({"role": "assistant", "tool_calls": [{"id": "x"}]}), "do not follow the format"),
        (tau1(STOP, traj="lost"), "no conversation"),
    ],
)
def test_trials_that_cannot_be_read_are_named(tmp_path: Path, trial: Any, reason: str) -> None:
    assert reason in why_not(tmp_path / "r.json", [trial])


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def test_actions_that_are_text_are_read(tmp_path: Path) -> None:
    action = 'Thought: Now.\nAction:\n{"name": "rename", "arguments": {"item_id": "lamp", "name": "New"}}'
    respond = 'Thought: Tell.\nAction: {"name": "respond", "arguments": {"content": "It costs 1,234."}}'
    file, runs, _ = read(
        write(
            tmp_path / "r.json",
            [
                tau1(
                    {"role": "user", "content": "Hi"},
                    said("Who are you?"),
                    {"role": "user", "content": "API output: I am not a result"},
                    said(action),
                    {"role": "user", "content": "API output: Error: no item"},
                    said(respond),
                    {"role": "user", "content": "Fine"},
                    said('Thought: x\nAction: {"name": "rename", "arguments": {"item_id": "lamp"}}}'),
                    STOP,
                )
            ],
        )
    )
    messages = runs[0].simulation.messages
    assert [message.role for message in messages] == [
        "user", "assistant", "user", "assistant", "tool", "assistant", "user", "assistant", "user",
    ]  # fmt: skip
    (made,) = runs[0].simulation.calls
    assert made.call.arguments == {"item_id": "lamp", "name": "New"}
    assert made.result is not None and made.result.content == "Error: no item"
    assert messages[5].content == "It costs 1,234."
    # What is no JSON was said to the user as it stands.
    assert messages[7].content == '{"name": "rename", "arguments": {"item_id": "lamp"}}}'
    assert set(file.called) == {"rename"}


# Anything at all

_KEYS = [
    "task_id", "trial", "reward", "info", "traj", "messages", "ticks", "role", "content", "tool_calls", "function",
    "name", "arguments", "id", "kwargs", "actions", "outputs", "task", "reward_info", "tool_messages", "domain",
    "termination_reason", "evaluation_criteria", "user_scenario", "instructions", "r_actions", "simulations", "tasks",
]  # fmt: skip
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.just(10**400)
_SCALARS |= st.sampled_from(["assistant", "user", "tool", "API output: x", 'Action: {"name": "x"}', "\ud800"])
_JSON = st.recursive(
    _SCALARS,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inside, max_size=6),
    max_leaves=25,
)


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("strange") / "r.json"


@pytest.mark.exhaustive
@settings(max_examples=400, deadline=None)
@given(document=_JSON, entries=st.lists(st.dictionaries(st.sampled_from(_KEYS), _JSON, max_size=8), max_size=3))
def test_no_document_is_too_strange(strange: Path, document: Any, entries: list[Any]) -> None:
    for content in (document, [*entries, entry("a")], {"info": document, "simulations": [*entries, entry("a")]}):
        _, runs, unreadable = read(write(strange, content))
        assert isinstance(content, dict | list) or unreadable
    assert runs[-1].simulation.task_id == "a"
