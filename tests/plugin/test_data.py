"""--tau-data, its ini twin, $TAU_DATA; and that the project keeps its own rootdir and ini."""

from __future__ import annotations

import json
import shutil

import pytest


def _mock_data(project, folder):
    """The mock domain laid out as official data, with one task of its own."""
    from pytest_tau_domains import mock

    target = project.path / folder / "domains" / "mock"
    target.mkdir(parents=True)
    for file in mock.domain.folder.glob("*.*"):
        if file.suffix in (".json", ".md"):
            shutil.copy(file, target)
    task = json.loads((mock.domain.tasks / "tasks.json").read_text())[0]
    (target / "tasks.json").write_text(json.dumps([task | {"id": "official-1"}, task | {"id": "official-2"}]))
    (target / "split_tasks.json").write_text(json.dumps({"base": ["official-1"], "test": ["official-2"]}))
    return folder


class TestData:
    """--tau-data, its ini twin, $TAU_DATA."""

    def test_option(self, project):
        folder = _mock_data(project, "official")
        run = project.run("--tau-domain", "mock", "--tau-data", folder, "-v")
        run.outcomes(passed=1)
        run.line("mock::official-1[trial-0] PASSED")
        run.line("tau: domain mock", f"data {project.path}/official")
        assert project.collected("--tau-domain", "mock", f"--tau-data={folder}", "--tau-split", "test") == [
            "mock::official-2[trial-0]"
        ]

    def test_full_is_every_task_also_without_such_a_split(self, project):
        folder = _mock_data(project, "official")
        found = project.collected("--tau-domain", "mock", "--tau-data", folder, "--tau-split", "full")
        assert found == ["mock::official-1[trial-0]", "mock::official-2[trial-0]"]

    def test_ini_is_meant_from_the_ini_file(self, project, monkeypatch):
        _mock_data(project, "official")
        project.ini("tau_data = official")
        (project.path / "sub").mkdir()
        monkeypatch.chdir(project.path / "sub")
        assert project.collected("--tau-domain", "mock") == ["mock::official-1[trial-0]"]

    def test_environment_variable(self, project, monkeypatch):
        monkeypatch.setenv("TAU_DATA", _mock_data(project, "official"))
        run = project.run("--tau-domain", "mock")
        run.outcomes(passed=1)
        run.line(f"data {project.path}/official")

    def test_option_beats_environment_variable(self, project, monkeypatch):
        monkeypatch.setenv("TAU_DATA", "nowhere")
        _mock_data(project, "official")
        project.run("--tau-domain", "mock", "--tau-data", "official").outcomes(passed=1)

    def test_a_folder_with_a_space(self, project):
        folder = _mock_data(project, "my data")
        project.run("--tau-domain", "mock", "--tau-data", folder).outcomes(passed=1)

    def test_a_joined_value_keeps_the_projects_ini(self, project, tmp_path_factory):
        data = _mock_data(project, tmp_path_factory.mktemp("elsewhere") / "data")
        project.ini("tau_trials = 2")
        run = project.run("--tau-domain", "mock", f"--tau-data={data}")
        run.line(f"rootdir: {project.path}")
        run.line("configfile: pytest.ini")
        run.outcomes(passed=2)

    @pytest.mark.parametrize(("other", "read"), [(False, "no ini file"), (True, "pytest.ini")])
    def test_a_value_that_misleads_pytest_is_refused(self, project, tmp_path_factory, other, read):
        """pytest takes the value of ``--tau-data DIR`` for a test path when it looks for the ini file."""
        elsewhere = tmp_path_factory.mktemp("elsewhere")
        if other:
            (elsewhere / "pytest.ini").write_text("[pytest]\naddopts = -k nothing\n")
        data = _mock_data(project, elsewhere / "data")
        project.ini("tau_trials = 2")
        run = project.run("--tau-domain", "mock", "--tau-data", data)
        run.usage_error(
            f"pytest has read {elsewhere / read if other else read} instead of {project.path / 'pytest.ini'}, as it "
            f"takes the value of --tau-data for a path of tests: write --tau-data={data}"
        )

    def test_a_value_inside_of_the_project_does_not_mislead(self, project):
        project.ini("tau_trials = 2")
        run = project.run("--tau-domain", "mock", "--tau-data", _mock_data(project, "official"))
        run.outcomes(passed=2)

    def test_the_command_that_runs_a_trial_again_does_not_mislead(self, project):
        run = project.run("--tau-domain", "mock", "--tau-data", _mock_data(project, "official"), "--tau-agent", "noop")
        run.line("again: pytest 'mock::official-1[trial-0]' --tau-agent noop --tau-data=official")

    def test_without_an_ini_file_the_rootdir_is_kept(self, project, tmp_path_factory):
        data = _mock_data(project, tmp_path_factory.mktemp("elsewhere") / "data")
        run = project.run("--tau-domain", "mock", "--tau-data", data)
        run.line(f"rootdir: {project.path}")
        run.outcomes(passed=1)

    def test_a_folder_called_like_the_domain_may_mislead(self, project):
        (project.path / "mock").mkdir()
        (project.path / "mock/pytest.ini").write_text("[pytest]\n")
        project.ini("tau_trials = 1")
        inside, right = project.path / "mock/pytest.ini", project.path / "pytest.ini"
        project.run("mock::create-task").usage_error(
            f"pytest has read {inside} instead of {right}, as it takes mock::create-task for a path: add -c {right}"
        )
        project.run("mock::create-task", "-c", "pytest.ini").outcomes(passed=1)
