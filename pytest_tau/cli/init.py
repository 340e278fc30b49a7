"""``tau init``: write a small project whose tests pass."""

from __future__ import annotations

import configparser
import fnmatch
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..commands.options import add_options
from ..documents import read_toml
from ..errors import ConfigurationError, unknown_name
from ..plain import json

if TYPE_CHECKING:
    import argparse

TEMPLATES = Path(__file__).parent / "templates"
#: The command that builds the wheel of pytest-tau, without the folder of its clone.
_BUILD = "pip wheel --no-deps --wheel-dir vendor"
_COMMIT = """`pip wheel` builds the wheel of pytest-tau that `requirements.txt` names. Commit the folder `vendor`: CI
installs the wheel from there."""
#: The files in which pytest looks for settings, in its order, with the tables or sections that have them.
_SETTINGS = {
    **dict.fromkeys(("pytest.toml", ".pytest.toml"), ("pytest",)),
    **dict.fromkeys(("pytest.ini", ".pytest.ini"), ("pytest",)),
    "pyproject.toml": ("tool", "pytest"),
    "tox.ini": ("pytest",),
    "setup.cfg": ("tool:pytest",),
}
_IGNORE = ".gitignore"
#: The suffix of the templates, so that nothing takes them for modules of this package.
_SUFFIX = ".in"


class AgentTemplate(NamedTuple):
    """A template of an agent: a folder of the same name in ``templates/agents``.

    Attributes:
        help: What the agent is, for ``tau init -h``.
        extras: Extras of pytest-tau that it needs.
        requirements: Further lines of ``requirements.txt``.
        llm: The agent's model, for ``--tau-agent-llm``; empty for an agent without a model.
    """

    help: str
    extras: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    llm: str = ""


def _framework(title: str, *requirements: str) -> AgentTemplate:
    return AgentTemplate(f"an agent in {title}", ("endpoint",), requirements, "openai/gpt-4.1")


AGENTS = {
    "plain": AgentTemplate("a class with a method respond, without a model"),
    "langchain": _framework("LangGraph", "langchain", "langchain-openai", "langgraph"),
    "openai_agents": _framework("the OpenAI Agents SDK", "openai-agents"),
    "pydantic_ai": _framework("Pydantic AI", "pydantic-ai-slim[openai]"),
    "agent_framework": _framework("Microsoft's Agent Framework", "agent-framework-core", "agent-framework-openai"),
    "smolagents": _framework("smolagents", "smolagents[openai]"),
    "google_adk": _framework("Google's Agent Development Kit", "google-adk[openai]"),
}


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "init",
        description="Write an agent, a domain with three tools, three tasks with scripts for the user, settings, and a "
        "workflow for CI. With the agent 'plain', 'pytest' passes in it without a model. Existing files are never "
        "overwritten, and a .gitignore is not changed.",
        statuses={0: "the files were written", 2: "the command cannot be used, or a file exists; nothing was written"},
        examples=[
            ("tau init", "into the current folder"),
            ("tau init evals", "into a new folder"),
            ("tau init evals --agent langchain", "with an agent in LangGraph"),
            ("tau init --ci gitlab", "with a job for GitLab"),
            ("tau init --tools m:rent --agent a.py:run --state s.db --call 'rent(1)'", "over your own functions"),
        ],
    )
    parser.add_argument("folder", nargs="?", default=".", metavar="FOLDER", help="where to write (default: here)")
    group = parser.add_argument_group("contents")
    listed = "; ".join(f"{name}: {template.help}" for name, template in AGENTS.items())
    shown = f"the agent (default: plain). {listed}. With --tools your own agent, as in a test run"
    add_options(group, "agent", help=shown, default="plain")
    add_options(group, "ci", "install-from")
    own = parser.add_argument_group("over your own functions")
    add_options(own, "tools", "state", "call")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    folder = Path(args.folder)
    files, note = _own_files(folder, args) if args.tools else (_template_files(folder, args), "")
    ignored = files.pop(folder / _IGNORE) if (folder / _IGNORE).exists() else ""
    _refuse_existing(folder, files)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    _show(folder, files, args, ignored, note)
    return 0


def _template_files(folder: Path, args: argparse.Namespace) -> dict[Path, str]:
    if args.agent not in AGENTS:
        problem = unknown_name("template", args.agent, AGENTS)
        raise ConfigurationError(f"--agent: {problem}; your own agent needs --tools")
    return project_files(folder, args.agent, args.install_from, args.ci)


def _own_files(folder: Path, args: argparse.Namespace) -> tuple[dict[Path, str], str]:
    """Return the files of a project over functions that exist already, and a note to print.

    Raises:
        ConfigurationError: An option is missing, or what it names cannot be used.
    """
    from .over_functions import Wanted, texts_of

    missing = [f"--{name}" for name in ("state", "call") if getattr(args, name) is None]
    missing += ["--agent"] if args.agent in AGENTS else []
    if missing:
        raise ConfigurationError(f"--tools needs {', '.join(missing)}, too")
    values = texts_of(Wanted(args.tools, args.agent, args.state, args.call), folder)
    common = project_files(folder, source=args.install_from, ci=args.ci, replay=True)
    kept = (_IGNORE, "requirements.txt")
    others = {path: text for path, text in common.items() if path.name in kept or path.suffix == ".yml"}
    made = {folder / name: _filled(TEMPLATES / "functions" / f"{name}{_SUFFIX}", values) for name in _OWN}
    return {**made, folder / "tasks.json": values["tasks"], **others}, values["note"]


#: The templates of a project over functions.
_OWN = ("conftest.py", "policy.md", "pytest.toml")


def _filled(template: Path, values: dict[str, str]) -> str:
    text = template.read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"{{{{{key}}}}}", value)
    return text


def project_files(
    folder: Path, agent: str = "plain", source: str | None = None, ci: str = "github", *, replay: bool = False
) -> dict[Path, str]:
    """Return the files of the project with their texts, in the order in which a reader looks at them.

    Args:
        folder: The folder of the project.
        agent: The name of the template of the agent.
        source: What pip installs pytest-tau from; None for the source of this installation.
        ci: The service of the workflow.
        replay: The workflow replays recordings, as it does for a template with a model.
    """
    top, inside = _repository_of(folder)
    llm = AGENTS[agent].llm
    workflow = _workflow(ci, inside)
    values = {
        "requirement": "\n".join([_requirement(source, AGENTS[agent].extras), *AGENTS[agent].requirements]),
        "folder": _yaml(inside.as_posix()),
        "enter": _yaml(f"cd {shlex.quote(inside.as_posix())}"),
        "report": _yaml((inside / "report.html").as_posix()),
        "junit": _yaml((inside / "junit.xml").as_posix()),
        "folder_path": f"{inside.as_posix()}/" if inside.parts else "",
        "requirements": _yaml((inside / "requirements.txt").as_posix()),
        "settings": f'tau_agent_llm = "{llm}"\n' if llm else "",
        "replay": " --tau-replay" if llm or replay else "",
        "run": "".join(f"$ {line}\n" for line in _run_lines(AGENTS[agent])),
        "workflow": f"{'../' * len(inside.parts)}{workflow.as_posix()}",
        "wheel": f"$ {_BUILD} PATH_TO_A_CLONE  # once\n" if _needs_wheel(source) else "",
        "commit": f"\n\n{_COMMIT}" if _needs_wheel(source) else "",
        "source": "the wheel of pytest-tau, which is committed" if _needs_wheel(source) else "the source of pytest-tau",
    }
    # A build excludes files whose names begin with a dot or with "__".
    special = {"bookings/init.py": folder / "bookings" / "__init__.py", "gitignore": folder / _IGNORE}
    special |= dict.fromkeys(("tau.yml", "gitlab-ci.yml"), top / workflow)
    found = {}
    for root in (TEMPLATES / "agents" / agent, TEMPLATES / "project", TEMPLATES / "ci" / ci):
        for template in sorted(root.rglob(f"*{_SUFFIX}")):
            name = template.relative_to(root).as_posix().removesuffix(_SUFFIX)
            found[special.get(name, folder / name)] = _filled(template, values)
    return found


def _workflow(ci: str, inside: Path) -> Path:
    """Return the path of the workflow in its repository: the services read it in the top folder only."""
    if ci == "gitlab":
        return Path(".gitlab-ci.yml")
    return Path(".github", "workflows", "-".join(["tau", *inside.parts]) + ".yml")


def _run_lines(template: AgentTemplate) -> list[str]:
    """Return the commands that run every task, with comments."""
    if not template.llm:
        return ["pytest                        # every task"]
    return [
        "pytest --tau-record           # every task; needs OPENAI_API_KEY the first time",
        "pytest --tau-replay           # the same without a key, from the files in cassettes/: commit them",
    ]


def _repository_of(folder: Path) -> tuple[Path, Path]:
    """Return the top folder of the git repository, and the folder's path in it; the folder itself without git."""
    resolved = folder.resolve()
    top = next((each for each in (resolved, *resolved.parents) if (each / ".git").exists()), resolved)
    if top == resolved:
        return folder, Path()
    return Path(os.path.relpath(top)), resolved.relative_to(top)


def _yaml(text: str) -> str:
    """Return a text as a value of YAML, quoted unless it is plain."""
    return text if re.fullmatch(r"(?:cd )?[\w./-]+", text) else json.dumps(text, ensure_ascii=False)


def _requirement(source: str | None, extras: tuple[str, ...]) -> str:
    """Return the line of ``requirements.txt`` for pytest-tau."""
    wanted = f"[{','.join(extras)}]" if extras else ""
    source = source or _repository()
    if source is None:
        from importlib.metadata import version

        return f"./vendor/pytest_tau-{version('pytest-tau')}-py3-none-any.whl{wanted}"
    is_url = "://" in source
    return f"pytest-tau{wanted} @ {source}" if is_url else f"{source}{wanted}"


def _needs_wheel(source: str | None) -> bool:
    """Return whether the requirements name a wheel that is not built yet."""
    return source is None and _repository() is None


def _direct_url() -> dict[str, Any]:
    """Return the record of where pip installed pytest-tau from (PEP 610); empty without one."""
    from importlib.metadata import distribution

    text = distribution("pytest-tau").read_text("direct_url.json")
    found = json.loads(text) if text else {}
    return found if isinstance(found, dict) else {}


def _repository() -> str | None:
    """Return the repository that this installation is from, at its commit; None for a folder or a wheel."""
    record = _direct_url()
    repository = record.get("vcs_info")
    if not isinstance(repository, dict) or str(record["url"]).startswith("file:"):
        return None
    return f"{repository['vcs']}+{record['url']}@{repository['commit_id']}"


def _refuse_existing(folder: Path, files: dict[Path, str]) -> None:
    """Refuse to write if anything is in the way.

    Raises:
        ConfigurationError: Names every file.
    """
    there = [str(path) for path in files if path.exists() or path.is_symlink()]
    if folder.exists() and not folder.is_dir():
        there = [str(folder)]
    blocked = {parent for path in files for parent in path.parents if parent.exists() and not parent.is_dir()}
    there += sorted(str(parent) for parent in blocked if str(parent) not in there)
    if links := _links(folder, files):
        raise ConfigurationError(f"nothing was written, because {links[0]} is a symbolic link: expected a folder")
    if there:
        names = "".join(f"\n  {name}" for name in there)
        raise ConfigurationError(
            f"nothing was written, because these files exist:{names}\ngive another folder: tau init NAME"
        )


def _links(folder: Path, files: dict[Path, str]) -> list[Path]:
    """Return the symbolic links among the folders of the files: the given folder, and those below it or the top one."""
    tops = (folder, _repository_of(folder)[0])
    below = {parent for path in files for parent in path.parents if any(top in parent.parents for top in tops)}
    return sorted(each for each in {folder, *below} if each.is_symlink())


def _endpoint() -> list[str]:
    """Return the requirements of the extra ``endpoint``, over which the agent calls its model."""
    from importlib.metadata import requires

    found = requires("pytest-tau") or []
    return [line.partition(";")[0].strip() for line in found if 'extra == "endpoint"' in line]


def _show(folder: Path, files: dict[Path, str], args: argparse.Namespace, ignored: str, note: str) -> None:
    """Print the files, the next commands, and the lines that the user's own .gitignore should have."""
    source = args.install_from
    template = AGENTS[args.agent] if not args.tools else None
    lines = ["wrote", *(f"  {path}" for path in files), "", "next"]
    steps = [] if folder == Path() else [(f"cd {shlex.quote(str(folder))}", "")]
    if template is None:
        steps += [
            ("edit tasks.json", "add what the user knows and your agent asks for, such as a phone number"),
            ("pytest --tau-record", "run your agent, and record the calls of its model"),
            ("pytest --tau-replay", "the same without a model: commit the folder cassettes"),
            ("pip freeze", "for CI: add what your agent needs to requirements.txt, and commit the database"),
        ]
    elif template.llm:
        steps += [
            (f"pip install {shlex.join([*template.requirements, *_endpoint()])}", "what is not installed"),
            ("export OPENAI_API_KEY=…", ""),
            ("pytest --tau-record", "run the three tasks, and record the calls of the model"),
            ("pytest --tau-replay", "the same without a key: commit the folder cassettes"),
        ]
    else:
        steps.append(("pytest", "the agent passes the three tasks"))
    steps += [
        ("pytest --tau-agent noop", "an agent that does nothing fails them"),
        ("tau lint", "check the tasks"),
        ("tau view --open", "read the conversations"),
    ]
    if _needs_wheel(source):
        url = str(_direct_url().get("url", ""))
        clone = shlex.quote(url.removeprefix("file://")) if url.startswith("file:") else "PATH_TO_A_CLONE"
        steps.append((f"{_BUILD} {clone}", "for CI: commit this wheel, because requirements.txt names it"))
    lines += [f"  {command:<24}  # {what}" if what else f"  {command}" for command, what in steps]
    lines += _testpaths_note(folder)
    lines += ["", "note", f"  {note}"] if note else []
    lines += ["", f"your {_IGNORE} should have", *(f"  {line}" for line in ignored.split())] if ignored else []
    print("\n".join(lines))  # noqa: T201 - this is a command


def _testpaths_note(folder: Path) -> list[str]:
    """Return the lines about the ``testpaths`` of a folder above, if they do not include the project."""
    resolved = folder.resolve()
    found = ((parent / name, _testpaths(parent / name)) for parent in resolved.parents for name in _SETTINGS)
    file, paths = next(((file, paths) for file, paths in found if paths is not None), (resolved, []))
    inside = resolved.relative_to(file.parent)
    # A pattern matches the project, or a folder that it is in.
    folders = [part.as_posix() for part in (inside, *inside.parents)]
    if not paths or any(fnmatch.fnmatchcase(each, path) for each in folders for path in paths):
        return []
    named = shlex.quote(inside.as_posix())
    return [
        "",
        "note",
        f"  pytest in {file.parent} does not run these tasks: the testpaths in {file.name} do not include {named}.",
        f"  Run pytest in the new folder, or 'pytest {named}': the settings are in its pytest.toml.",
    ]


def _testpaths(file: Path) -> list[str] | None:
    """Return the ``testpaths`` in a file with settings of pytest, without slashes at the end; None without settings."""
    try:
        if file.suffix == ".toml":
            settings: Any = read_toml(file)
        else:
            parser = configparser.RawConfigParser()
            parser.read_string(file.read_text(encoding="utf-8"))
            settings = {name: dict(parser[name]) for name in parser.sections()}
        for name in _SETTINGS[file.name]:
            settings = settings[name]
        given = settings.get("ini_options", settings).get("testpaths", [])
    except (OSError, ValueError, LookupError, AttributeError, TypeError, configparser.Error):
        return None  # pytest reports a file that it cannot read
    paths = shlex.split(given) if isinstance(given, str) else [*map(str, given)]
    return [path.removeprefix("./").rstrip("/") or "." for path in paths]
