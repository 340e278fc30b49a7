"""Mistakes in what is named: each has a message of its own, which says what is wrong and what would be right."""

from __future__ import annotations

import pytest


class TestNames:
    """Unknown names are usage errors that list the good ones."""

    @pytest.mark.parametrize(
        ("args", "parts"),
        [
            (["--tau-domain", "mok"], ["unknown domain 'mok'; did you mean 'mock'?", "(known:", "telecom"]),
            (
                ["--tau-split", "smal"],
                ["unknown split 'smal'; did you mean 'small'? (known: base, ", ", small) of domain 'mock'"],
            ),
            (["--tau-task", "create-tusk"], ["unknown task 'create-tusk'; did you mean 'create-task'"]),
            (["--tau-task", "zzz*"], ["unknown task 'zzz*'", "complete-task, create-task"]),
            (["--tau-agent", "glod"], ["unknown agent 'glod'", "'gold'", "module:attribute", "replay:FILE"]),
            (["--tau-user", "dumy"], ["unknown user 'dumy'", "'dummy'", "gold", "noop"]),
            (["--tau-judge", "acept"], ["unknown judge 'acept'; did you mean 'accept'?", "reject", "module:attribute"]),
            (["--tau-policy-variant", "work"], ["unknown policy 'work'", "default", "mock"]),
            (["--tau-grading", "lenient"], ["--tau-grading", "'lenient'", "official", "strict"]),
        ],
    )
    def test_on_the_command_line(self, project, args, parts):
        project.run("--tau-domain", "mock", *args).usage_error(*parts)

    @pytest.mark.parametrize(
        ("line", "parts"),
        [
            ("tau_domain = mok", ["unknown domain 'mok'"]),
            ("tau_split = smal", ["unknown split 'smal'"]),
            ("tau_agent = glod", ["unknown agent 'glod'"]),
            ("tau_user = dumy", ["unknown user 'dumy'"]),
            ("tau_judge = acept", ["unknown judge 'acept'"]),
            ("tau_grading = lenient", ["tau_grading", "'lenient'", "official"]),
            ("tau_trials = many", ["tau_trials", "'many'"]),
            ("tau_data = nowhere", ["tau_data", "nowhere"]),
        ],
    )
    def test_in_the_ini_the_key_is_named(self, project, line, parts):
        args = [] if "tau_domain" in line else ["--tau-domain", "mock"]
        project.ini(line)
        project.run(*args).usage_error(*parts)

    def test_one_of_two_patterns_matches_nothing(self, project):
        """A slip in one of several ids must not go unnoticed."""
        run = project.run("--tau-domain", "mock", "--tau-task", "create-task", "--tau-task", "say-newid")
        run.usage_error("unknown task 'say-newid'; did you mean 'say-new-id'?")

    def test_node_ids(self, project):
        args = ["--tau-judge", "accept"]
        project.run("mock::nonesuch[trial-0]", *args).usage_error("not found: mock::nonesuch[trial-0]")
        project.run("nonesuch::create-task", *args).usage_error("not found: nonesuch::create-task")

    def test_an_empty_domain_name(self, project):
        project.run("--tau-domain", "").usage_error("domain")

    def test_an_empty_selection_of_a_split(self, project):
        run = project.run("--tau-domain", "mock", "--tau-split", "small", "--tau-task", "say-new-id")
        run.usage_error("unknown task 'say-new-id'", "create-task, dismiss-after-done, transfer-deletion")


class TestNumbers:
    """Numbers that are none."""

    @pytest.mark.parametrize(
        ("option", "value", "expected"),
        [
            ("trials", "0", "a whole number of at least 1"),
            ("trials", "2.5", "a whole number of at least 1"),
            ("trials", "many", "a whole number of at least 1"),
            ("num-tasks", "0", "a whole number of at least 1"),
            ("max-steps", "0", "a whole number of at least 1"),
            ("max-errors", "0", "a whole number of at least 1"),
            ("timeout", "-1", "a number of at least 0"),
            ("timeout", "nan", "a number of at least 0"),
            ("seed", "x", "a whole number"),
        ],
    )
    def test_refused(self, project, option, value, expected):
        run = project.run("--tau-domain", "mock", f"--tau-{option}={value}")
        run.usage_error(f"--tau-{option}: expected {expected}", f"got {value!r}")
        run.lacks("inf")


class TestParticipants:
    """An agent or a user that cannot be used is reported before anything runs."""

    @pytest.fixture
    def refused(self, project):
        project.write(
            "parts.py",
            """
            class AsksTooMuch:
                def __init__(self, tools, api_key):
                    pass

                def respond(self, message):
                    return "never"

            class NoForm:
                pass

            def one_argument(messages):
                return "never"

            def turned(tools, messages):
                return "never"

            class RespondTwo:
                def respond(self, message, tools):
                    return "never"

            NUMBER = 3
            """,
        )
        project.write("raising.py", "raise RuntimeError('no key in the environment')")
        project.write("broken.py", "def (:")

        def run(option, spec, *parts):
            finished = project.run("--tau-domain", "mock", f"--tau-{option}", spec)
            finished.usage_error(*parts)
            return finished

        return run

    @pytest.mark.parametrize(
        ("spec", "parts"),
        [
            ("nomodule:Agent", ["'nomodule:Agent'", "No module named 'nomodule'"]),
            ("nofile.py:Agent", ["'nofile.py:Agent'", "no file", "/nofile.py"]),
            (
                "raising.py:Agent",
                ["'raising.py:Agent'", "cannot be imported", "RuntimeError: no key in the environment"],
            ),
            ("raising:Agent", ["'raising:Agent'", "cannot be imported", "RuntimeError: no key in the environment"]),
            ("broken.py:Agent", ["'broken.py:Agent'", "cannot be imported", "SyntaxError", "line 1"]),
            ("parts.py:NoFrom", ["'parts.py:NoFrom'", "unknown attribute 'NoFrom'; did you mean 'NoForm'?"]),
            ("parts.py:", ["parts.py:"]),
            ("parts.py", ["'parts.py'", "path/to/file.py:attribute"]),
            ("parts.py:NoForm", ["NoForm", "respond(message)", "get_init_state", "(messages, tools)"]),
            ("parts.py:NUMBER", ["3", "respond(message)"]),
            ("parts.py:one_argument", ["one_argument", "it must accept (messages, tools)"]),
            ("parts.py:turned", ["turned is not a valid", "expected (messages, tools), got (tools, messages)"]),
            ("parts.py::NoForm", ["'parts.py::NoForm'", "expected FILE:NAME with one colon: parts.py:NoForm"]),
            (
                "parts.py:RespondTwo",
                ["RespondTwo is not a valid", "respond(self, message, tools)", "missing a required argument: 'tools'"],
            ),
            ("parts.py:AsksTooMuch", ["AsksTooMuch cannot be created", "needs 'api_key'", "can take tools"]),
        ],
    )
    def test_refused(self, refused, spec, parts):
        refused("agent", spec, *parts)

    @pytest.mark.parametrize(
        ("spec", "part"),
        [
            ("nofile.py:User", "'nofile.py:User'"),
            ("parts.py:NoForm", "respond(message)"),
            ("parts.py:one_argument", "it must accept (messages, tools)"),
        ],
    )
    def test_a_user_is_refused_likewise(self, refused, spec, part):
        refused("user", spec, part)

    def test_an_unmarked_factory(self, refused):
        refused("agent", "parts.py:one_argument", "a factory (trial) needs the mark pytest_tau.own_loop")

    def test_what_each_side_can_ask_for(self, refused):
        run = refused("agent", "parts.py:AsksTooMuch", "an agent can take", "policy", "task", "seed", "llm_args")
        run.lacks("instructions")
        refused("user", "parts.py:AsksTooMuch", "a user can take", "instructions").lacks("policy")

    @pytest.mark.parametrize(
        ("content", "parts"),
        [
            (None, ["rec.json", "No such file"]),
            ("{", ["rec.json"]),
            ("3", ["rec.json", "expected a conversation or an array of them"]),
            ('[{"task_id": "x"}]', ["rec.json", "entry 0", "messages"]),
            ('{"task_id": "x", "messages": [{"role": "robot"}]}', ["rec.json", "entry 0", "messages.0"]),
            ('{"task_id": "x", "messages": []}', ["rec.json has no conversation of any task of 'mock'"]),
        ],
    )
    def test_recordings(self, project, content, parts):
        if content is not None:
            project.write("rec.json", content)
        project.run("--tau-domain", "mock", "--tau-agent", "replay:rec.json").usage_error(*parts)

    @pytest.mark.parametrize(
        ("spec", "parts"),
        [
            ("nomodule:judge", ["judge 'nomodule:judge' cannot be imported"]),
            ("parts.py:NoForm", ["judge 'parts.py:NoForm' has no method judge(statements, messages)"]),
            ("parts.py:nothing", ["judge 'parts.py:nothing'", "unknown attribute 'nothing'"]),
        ],
    )
    def test_judges(self, refused, spec, parts):
        refused("judge", spec, *parts)

    def test_a_judge_that_cannot_be_built(self, project):
        project.write("judges.py", "class Judge:\n    def __init__(self):\n        raise RuntimeError('no key')\n")
        run = project.run("--tau-domain", "mock", "--tau-judge", "judges.py:Judge")
        run.usage_error("judge 'judges.py:Judge'", "RuntimeError: no key")
