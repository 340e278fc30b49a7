"""Names of files for names of other things: plain ones stay, no two meet on any system, none leaves its folder."""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given, settings, strategies as st

from pytest_tau.files import ambiguous_names, file_name_of
from pytest_tau.runner import item_id

#: Names that Windows opens a device for.
_DEVICES = {"con", "prn", "aux", "nul", *(f"{name}{number}" for name in ("com", "lpt") for number in range(10))}
odd = st.sampled_from(["CON", "aux", "nul.txt", "Com1", "..", "../x", "/etc", "C:\\x", "a.", "a ", "é", "e\u0301"])
names = odd | st.text(max_size=8) | st.text("aAbB.-_ /\\:*?<>|\x00é", max_size=5) | st.text("xX", min_size=170)


@pytest.mark.parametrize(
    "name",
    ["buy-milk", "Case", "0", "retail", "telecom-workflow", "a.b_c+d", "test_it[create-task-trial-0]", "x" * 180],
)
def test_plain_names_stay_as_they_are(name: str) -> None:
    assert file_name_of(name) == name


@pytest.mark.parametrize(
    ("name", "readable"),
    [
        ("CON", "CON"),
        ("aux.txt", "aux_txt"),
        ("aux.txt[trial-0]", "aux_txt[trial-0]"),
        ("com1.a.b", "com1_a.b"),
        ("ends.", "ends"),
        ("ends ", "ends_"),
        ("../x", "_x"),
        ("/etc/passwd", "_etc_passwd"),
        (".hidden", "hidden"),
        ("x" * 181, "x" * 180),
    ],
)
def test_others_have_digits_of_a_hash(name: str, readable: str) -> None:
    assert re.fullmatch(rf"{re.escape(readable)}-[0-9a-f]{{8}}", file_name_of(name))


def test_forms_of_unicode_have_two_names() -> None:
    assert len({file_name_of("é").lower(), file_name_of("e\u0301").lower()}) == 2


def test_of_names_that_differ_by_case_the_one_in_lower_case_stays() -> None:
    assert ambiguous_names(["Case", "case", "CASE", "other", "Other2"]) == {"Case", "CASE"}
    assert ambiguous_names(["Case", "other", "Case"]) == set()
    assert file_name_of("Case", ambiguous=True) != file_name_of("CASE", ambiguous=True) != "CASE"


@pytest.mark.exhaustive
@given(st.lists(names, unique=True))
@settings(max_examples=400, deadline=None)
def test_names_exist_on_every_system_and_do_not_meet(given_names: list[str]) -> None:
    alike = ambiguous_names(given_names)
    found = [file_name_of(name, ambiguous=name in alike) for name in given_names]
    for name in found:
        assert PurePosixPath(name).name == PureWindowsPath(name).name == name
        assert re.fullmatch(r"[A-Za-z0-9_+\-\[\]][A-Za-z0-9_.+\-\[\]]*(?<!\.)", name)
        assert name.lower().partition(".")[0] not in _DEVICES
        assert len(f"{name}.trial-1000.cassette.part") < 255
    assert len({name.lower() for name in found}) == len(given_names)


@given(names)
def test_names_of_items_keep_the_names_that_their_files_had(task_id: str) -> None:
    """Apart from letters beyond ASCII, devices and dots at the end, what ``item_id`` makes is plain."""
    name = item_id(task_id)
    if name.isascii() and name.lower().partition(".")[0] not in _DEVICES and not name.endswith("."):
        assert file_name_of(name) == name
