"""What the package offers, and what importing it costs."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
from for_each import for_each
from inner_runs import quick_options

import pytest_tau

PACKAGES = sorted(
    found.name
    for found in pkgutil.walk_packages(pytest_tau.__path__, "pytest_tau.")
    if found.ispkg and not found.name.startswith("pytest_tau.integrations")
)


def imported_by(statements: str) -> set[str]:
    """Names of the modules that are there after the statements, in an interpreter of their own."""
    code = f"import json, sys\n{statements}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parent
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


# Names


@for_each(PACKAGES)
def test_no_module_takes_the_place_of_a_name_of_its_package(package: str) -> None:
    """A module that is imported later becomes an attribute of the package, instead of the function of this name."""
    found = importlib.import_module(package)
    modules = [module.name for module in pkgutil.iter_modules(found.__path__)]
    for name in modules:
        before = getattr(found, name, None)
        importlib.import_module(f"{package}.{name}")
        assert before is None or getattr(found, name) is before, name
        assert name not in getattr(found, "__all__", ()) or not inspect.ismodule(before), name


def test_every_public_name_resolves_to_the_object_of_its_module() -> None:
    assert pytest_tau.__all__ == sorted(pytest_tau.__all__)
    assert set(pytest_tau.__all__) == set(pytest_tau._HOMES)
    for name in pytest_tau.__all__:
        home = importlib.import_module(f"pytest_tau.{pytest_tau._HOMES[name]}")
        assert getattr(pytest_tau, name) is getattr(home, name)


def test_the_contract_is_there() -> None:
    promised = {"load_domain", "evaluate", "simulate", "asimulate", "RewardInfo", "Task", "Simulation", "TauError"}
    assert promised <= set(pytest_tau.__all__)


def test_public_names_are_listed() -> None:
    assert set(pytest_tau.__all__) <= set(dir(pytest_tau))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'pytest_tau' has no attribute 'nowhere'"):
        _ = pytest_tau.nowhere


def test_the_types_of_public_names_are_known_to_type_checkers() -> None:
    source = Path(inspect.getfile(pytest_tau)).read_text(encoding="utf-8")
    typed = source.partition("if TYPE_CHECKING:")[2].partition("#:")[0]
    for name in pytest_tau.__all__:
        assert name in typed
    assert (Path(inspect.getfile(pytest_tau)).parent / "py.typed").is_file()


@for_each(PACKAGES)
def test_each_package_s_all_resolves(name: str) -> None:
    package = importlib.import_module(name)
    names = getattr(package, "__all__", [])
    assert len(names) == len(set(names))
    for public in names:
        assert hasattr(package, public), public


@pytest.mark.parametrize(
    "name", ["models", "environment", "participants", "orchestrator", "evaluation", "diagnosis", "runner"]
)
def test_a_layer_s_all_lists_everything_that_it_imports_by_name(name: str) -> None:
    package = importlib.import_module(f"pytest_tau.{name}")
    public = {
        key
        for key, value in vars(package).items()
        if not key.startswith("_") and not inspect.ismodule(value) and key != "annotations"
    }
    assert public - set(package.__all__) == set()


# Costs

HEAVY = ("pydantic", "litellm", "openai", "docstring_parser", "pytest_tau_domains", "pytest_tau_tasks", "tau2")


def heavy(modules: set[str]) -> list[str]:
    return sorted(name for name in modules if name.split(".")[0] in HEAVY)


def test_importing_the_package_imports_nothing_else() -> None:
    modules = imported_by("import pytest_tau")
    assert heavy(modules) == []
    assert {name for name in modules if name.startswith("pytest_tau.")} == set()
    assert "asyncio" not in modules


def test_loading_the_plugin_leaves_everything_heavy_unimported() -> None:
    modules = imported_by("import pytest_tau.plugin")
    assert heavy(modules) == []
    layers = (
        "models",
        "environment",
        "participants",
        "orchestrator",
        "evaluation",
        "diagnosis",
        "runner",
        "domains",
        "integrations",
    )
    assert [name for name in modules if name.startswith(tuple(f"pytest_tau.{layer}" for layer in layers))] == []
    assert "pytest_tau.plugin.context.run_context" not in modules
    assert "pytest_tau.plugin.options" in modules


def test_a_run_of_an_unrelated_project_reads_nothing(tmp_path: Path) -> None:
    """The plugin is loaded by its entry point, as in any project that merely has it installed."""
    (tmp_path / "test_it.py").write_text(
        "import sys\n"
        "def test_it():\n"
        "    assert 'pytest_tau.plugin' in sys.modules\n"
        f"    assert not [name for name in sys.modules if name.split('.')[0] in {HEAVY!r}]\n"
        "    assert 'pytest_tau.models' not in sys.modules\n",
        encoding="utf-8",
    )
    (tmp_path / "tasks.json").write_text("no JSON at all", encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    # Other plugins of the developer's environment may import what they like.
    flags = ["-q", "-p", "no:cacheprovider", *quick_options()]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *flags], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    assert "tau" not in done.stdout.replace(str(tmp_path), "")


def test_the_layers_do_not_import_pytest() -> None:
    modules = imported_by("import pytest_tau.runner, pytest_tau.testing, pytest_tau.domains")
    assert "pytest" not in modules
    assert "_pytest" not in modules


def test_naming_the_domains_imports_none() -> None:
    modules = imported_by("import pytest_tau; assert pytest_tau.domain_names()")
    assert heavy(modules) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", pytest_tau.domain_names())
def test_a_domain_needs_no_more_than_the_environment(name: str) -> None:
    """No pytest, no generator, and nothing that runs or grades conversations."""
    modules = imported_by(f"import pytest_tau; pytest_tau.load_domain({name!r}).spec.agent_tools.tools()")
    layers = ("participants", "orchestrator", "evaluation", "diagnosis", "runner", "plugin", "cli", "integrations")
    assert not [found for found in modules if found.startswith(tuple(f"pytest_tau.{layer}" for layer in layers))]
    assert not modules & {"pytest", "_pytest", "faker", "litellm", "argparse"}
