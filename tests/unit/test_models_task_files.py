from __future__ import annotations

import gc
import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.errors import ConfigurationError, TaskFormatError
from pytest_tau.models import load_task_file, parse_task
from pytest_tau.models.task_files import in_split, load_json, load_splits

from .tiny import raw_task

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tasks.json"


def test_one_task(file: Path) -> None:
    file.write_text(json.dumps(raw_task("one")), encoding="utf-8")
    content = load_task_file(file)
    assert [task.id for task in content.tasks] == ["one"]
    assert content.domain is None


def test_an_array_of_tasks(file: Path) -> None:
    file.write_text(json.dumps([raw_task("b"), raw_task("a")]), encoding="utf-8")
    assert [task.id for task in load_task_file(file).tasks] == ["b", "a"]


@pytest.mark.parametrize("domain", ["retail", None])
def test_an_object_with_tasks_may_name_a_domain(file: Path, domain: str | None) -> None:
    file.write_text(json.dumps({"domain": domain, "tasks": [raw_task("one")]}), encoding="utf-8")
    content = load_task_file(file)
    assert (len(content.tasks), content.domain) == (1, domain)


@pytest.mark.parametrize(
    ("document", "told", "task_id", "field"),
    [
        (5, "expected a task, an array of tasks, or an object with 'tasks'", None, None),
        ({"tasks": {}}, "expected a task, an array of tasks", None, None),
        ({"tasks": [], "domain": 5}, "expected a domain's name", None, "domain"),
        ([raw_task("one"), raw_task("one")], "two tasks have this id", "one", "id"),
        ([raw_task("one"), raw_task("two", colour="red")], "unknown field", "two", "colour"),
        ([raw_task("one"), {"user_scenario": {"instructions": "x"}}], "missing", "#1", "id"),
        ([raw_task("one"), 7], "expected an object, got 7", "#1", "(the task)"),
        ({"id": "one"}, "missing", "one", "user_scenario"),
        ([raw_task("one"), raw_task("")], "expected a text that is not empty", "#1", "id"),
        ([raw_task(" \t")], "expected a text that is not empty", "#0", "id"),
    ],
)
def test_error_names_file_task_and_field(
    file: Path, document: Any, told: str, task_id: str | None, field: str | None
) -> None:
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(TaskFormatError, match=told) as caught:
        load_task_file(file)
    assert (caught.value.file, caught.value.task_id, caught.value.field) == (file, task_id, field)
    assert str(caught.value).startswith(str(file))


def test_invalid_json_is_reported_with_line_and_column(file: Path) -> None:
    file.write_text('{\n  "id": oops\n}', encoding="utf-8")
    with pytest.raises(TaskFormatError, match=r"not valid JSON: .* \(line 2, column 9\)") as caught:
        load_json(file)
    assert caught.value.file == file


def test_a_key_that_is_given_twice_is_reported_with_its_lines(file: Path) -> None:
    text = json.dumps(raw_task("one"), indent=0)
    file.write_text(text[:-2] + ',\n"id": "two"\n}', encoding="utf-8")
    with pytest.raises(TaskFormatError, match=r'the key "id" is given twice \(lines \d and \d+\)') as caught:
        load_task_file(file)
    assert caught.value.file == file


def test_a_file_that_is_not_utf_8(file: Path) -> None:
    file.write_bytes(b'{"id": "\xff"}')
    with pytest.raises(TaskFormatError, match=r"not UTF-8 text: invalid start byte \(line 1, column 9\)"):
        load_task_file(file)


def test_a_file_that_is_not_there(file: Path) -> None:
    with pytest.raises(TaskFormatError, match="cannot be read: No such file"):
        load_task_file(file)
    with pytest.raises(TaskFormatError, match="cannot be read"):
        load_task_file(file.parent)


def test_a_split_names_the_tasks_of_a_file(file: Path) -> None:
    splits = {"base": ["b", "of-another-file"], "none": []}
    file.with_name("split_tasks.json").write_text(json.dumps(splits), encoding="utf-8")
    tasks = [parse_task(raw_task(name)) for name in "abc"]
    assert [task.id for task in in_split(tasks, "base", file)] == ["b"]
    assert in_split(tasks, "none", file) == []
    with pytest.raises(ConfigurationError, match="unknown split 'bace'; did you mean 'base'"):
        in_split(tasks, "bace", file)
    assert in_split(tasks, "full", file) == tasks


def test_without_a_file_there_are_no_splits(file: Path) -> None:
    assert load_splits(file.parent) == {}


@pytest.mark.parametrize(
    ("content", "field"), [([], None), ({"base": "a"}, "base"), ({"base": ["a"], "rest": ["b", 3]}, "rest")]
)
def test_splits_of_another_form_are_refused_with_their_name(file: Path, content: Any, field: str | None) -> None:
    file.with_name("split_tasks.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(TaskFormatError, match=r"expected .* task ids") as caught:
        load_splits(file.parent)
    assert caught.value.field == field
    assert "split_tasks.json" in str(caught.value)


def test_an_id_with_a_lone_surrogate_is_refused_by_position() -> None:
    with pytest.raises(TaskFormatError, match="lone surrogate") as caught:
        parse_task(raw_task("a\ud800"), 3)
    assert (caught.value.task_id, caught.value.field) == ("#3", "id")


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_collection_is_as_it_was(file: Path, enabled: bool) -> None:
    file.write_text(json.dumps(raw_task("one")), encoding="utf-8")
    (gc.enable if enabled else gc.disable)()
    try:
        load_task_file(file)
        assert gc.isenabled() is enabled
    finally:
        gc.enable()
