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

    @pytest.mark.parametrize("joined", [True, False])
    def test_the_projects_rootdir_and_ini_are_kept(self, project, tmp_path_factory, joined):
        """pytest takes the value of ``--tau-data DIR`` for a test path when it looks for the ini file."""
        data = tmp_path_factory.mktemp("elsewhere") / "data"
        _mock_data(project, data)
        project.ini("tau_trials = 2", "markers = mine", "addopts = --strict-markers")
        project.write("test_own.py", "import pytest\n\n@pytest.mark.mine\ndef test_own(): pass\n")
        given = [f"--tau-data={data}"] if joined else ["--tau-data", data]
        run = project.run("--tau-domain", "mock", *given)
        run.line(f"rootdir: {project.path}")
        run.line("configfile: pytest.ini")
        run.outcomes(passed=2)
        project.run(*given, "test_own.py").outcomes(passed=1)

    @pytest.mark.parametrize("joined", [True, False])
    def test_what_the_ini_file_loads_and_blocks(self, project, tmp_path_factory, joined):
        """``addopts`` and ``pythonpath`` are applied before any conftest.py, also if the file is found late."""
        data = _mock_data(project, tmp_path_factory.mktemp("elsewhere") / "data")
        project.ini("pythonpath = lib", "addopts = -p own_plugin -p no:cacheprovider --import-mode=importlib")
        project.write(
            "lib/own_plugin.py",
            """
            import pytest

            def pytest_addoption(parser):
                parser.addoption("--own", action="store_true")

            def pytest_load_initial_conftests(early_config):
                early_config.own = early_config.known_args_namespace.own

            @pytest.fixture
            def own(pytestconfig):
                return pytestconfig.own
            """,
        )
        project.write("sub/conftest.py", "")
        project.write(
            "sub/test_own.py",
            """
            import sys

            def test_own(own, pytestconfig):
                assert own
                assert not pytestconfig.pluginmanager.hasplugin("cacheprovider")
                assert str(pytestconfig.rootpath / "sub") not in sys.path, "conftest.py was not imported as importlib does"
                assert pytestconfig.known_args_namespace.confcutdir == str(pytestconfig.rootpath)
            """,
        )
        given = [f"--tau-data={data}"] if joined else ["--tau-data", data]
        project.run("--own", *given).outcomes(passed=1)

    @pytest.mark.parametrize("joined", [True, False])
    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("required_plugins = nowhere", "Missing required plugins: nowhere"),
            ("minversion = 99", "requires pytest-99"),
        ],
    )
    def test_what_the_ini_file_requires(self, project, tmp_path_factory, joined, line, message):
        data = _mock_data(project, tmp_path_factory.mktemp("elsewhere") / "data")
        project.ini(line)
        project.run(*([f"--tau-data={data}"] if joined else ["--tau-data", data])).usage_error(message)

    def test_the_options_of_another_ini_file_are_not_kept(self, project, tmp_path_factory):
        other = tmp_path_factory.mktemp("elsewhere")
        (other / "pytest.ini").write_text("[pytest]\naddopts = -k nothing\n")
        data = _mock_data(project, other / "data")
        project.ini("addopts = -v")
        run = project.run("--tau-domain", "mock", "--tau-data", data)
        run.outcomes(passed=1)
        run.line("mock::official-1[trial-0] PASSED")
