"""Each claim of docs/models.md has a test: the table names it, and a claim without a test fails here."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from pytest_tau.plugin.options_table import OPTIONS
from pytest_tau.testing import ModelServer, ServerError, Unauthorized

ROOT = Path(__file__).parents[2]
#: The page without its last section, which tests/plugin/test_strategies.py is about.
PAGE = (ROOT / "docs" / "models.md").read_text(encoding="utf-8").partition("\n## Prompting strategies\n")[0]
#: Sentences that introduce others or link to them, by their beginnings.
NO_CLAIMS = (
    "The summary shows where a limit struck:",
    "The cost of a call is the first of these",
)
P, U = "tests/plugin/", "tests/unit/"
HERE, LIMITS, BUDGET = (P + f"test_{name}.py" for name in ("models_page", "model_limits", "model_budget"))
PERSONA = P + "test_user_persona.py"
MORE, MODELS, AGENT, USER = (
    U + f"test_{name}.py"
    for name in ("models_that_need_more", "chat_models", "participants_llm_agent", "participants_llm_user")
)
#: The beginning of each claim, and the file and the name of a test of it.
CLAIMS = {
    "Without litellm, servers": (P + "test_without_litellm.py", "test_a_run_is_recorded_and_replayed"),
    "Models have the names of [litellm]": (
        U + "test_litellm_model.py",
        "test_importing_the_package_imports_no_library_of_the_extra",
    ),
    "Under `--tau-protocol tau2` it is": (
        U + "test_protocol_requests.py",
        "test_the_official_judge_is_asked_only_if_the_reward_depends_on_it",
    ),
    "With `--tau-protocol tau2`": (U + "test_protocol_requests.py", "test_the_first_requests"),
    "`--tau-user-persona verbosity=minimal` lets": (PERSONA, "test_the_model_of_the_user_is_asked_for_it"),
    "The value is a list of `KEY=VALUE`": (U + "test_personas.py", "test_a_persona_is_read"),
    "| `verbosity` |": (U + "test_personas.py", "test_only_some_values_ask_a_model_for_something"),
    "| `behaviour` |": (P + "test_behaviours.py", "test_the_model_of_the_user_is_asked_for_it"),
    "| `interrupt_tendency` |": (U + "test_personas.py", "test_only_some_values_ask_a_model_for_something"),
    "Values are drawn by the trial's seed": (PERSONA, "test_weights_are_drawn_by_the_seed_and_grouped"),
    "With litellm installed, a": (U + "test_model_client.py", "test_the_client_of_a_model"),
    "A missing API key": (U + "test_litellm_credentials.py", "test_a_missing_key_is_named_by_its_variable"),
    "| `--tau-agent-llm`, `--tau-user-llm`": (HERE, "test_the_options_reach_the_server"),
    "| `--tau-agent-llm-args JSON`": (HERE, "test_the_options_reach_the_server"),
    "| `--tau-timeout": (HERE, "test_a_call_in_flight_is_cancelled_and_the_messages_are_kept"),
    "[All options](reference/options.md#models)": (HERE, "test_every_option_of_the_page_has_an_ini_key"),
    "`tau_agent_llm =": (HERE, "test_every_option_of_the_page_has_an_ini_key"),
    "| `llm` |": (AGENT, "test_the_model_gets_the_policy_the_conversation_and_the_tools"),
    "| `llm-solo` |": (AGENT, "test_an_agent_that_works_alone_gets_the_ticket_and_has_to_call_tools"),
    "| `llm-gt` |": (AGENT, "test_guided_agent_is_given_the_steps"),
    "| `llm-gt-noargs` |": (AGENT, "test_guided_agent_is_given_the_steps"),
    "| `http://": (AGENT, "test_what_an_endpoint_s_server_does_wrong_counts_against_the_agent"),
    "`--tau-user llm`": (USER, "test_the_model_plays_the_customer_of_the_scenario"),
    "The system messages are templates": (
        U + "test_participants_prompts.py",
        "test_default_templates_have_their_placeholders",
    ),
    "`--tau-agent-prompt FILE`": (USER, "test_prompts_of_the_run_replace_the_defaults"),
    "With `--tau-data`": (
        U + "test_participants_prompts.py",
        "test_official_guidelines_are_taken_literally_and_followed_by_the_scenario",
    ),
    "`--tau-agent-context TOKENS`": (AGENT, "test_oldest_messages_are_omitted_beyond_the_budget_but_graded"),
    "Grading uses all": (AGENT, "test_oldest_messages_are_omitted_beyond_the_budget_but_graded"),
    "Tokens are counted": (U + "test_chat_context_window.py", "test_texts_count_as_the_model_has_them"),
    "`--tau-agent-tool-calls text`": (AGENT, "test_a_model_without_function_calling_calls_tools_in_text"),
    "| rate limit, 5xx": (MODELS, "test_transient_error_is_retried_and_reported_with_the_attempts"),
    "| retries that take most": (U + "test_orchestrator_endings.py", "test_retries_of_model_calls_are_the_providers"),
    "| wrong key": (MODELS, "test_permanent_error_is_reported_at_once"),
    "| more tokens than": (AGENT, "test_a_conversation_that_outgrows_the_model_is_the_agent_s_failure"),
    "| a tool call whose": (
        AGENT,
        "test_arguments_that_are_no_object_are_answered_with_an_error_and_sent_back_as_none",
    ),
    "| text and tool calls": (HERE, "test_text_next_to_calls_is_not_delivered_and_calls_run_in_order"),
    "| several tool calls": (HERE, "test_text_next_to_calls_is_not_delivered_and_calls_run_in_order"),
    "| an answer that is cut off": (LIMITS, "test_an_answer_that_was_cut_off_is_marked_and_counted"),
    "| an empty message": (USER, "test_a_user_that_stays_empty_is_an_error_and_no_failure"),
    "| a model that calls one tool": (HERE, "test_a_model_that_calls_one_tool_forever_fails"),
    "A call is retried in one place": (HERE, "test_a_retry_runs_no_tool_twice"),
    "Models that have OpenAI's Responses": (
        MORE,
        "test_a_model_with_the_responses_api_only_is_called_there_with_its_tools",
    ),
    "The fields of an answer": (MORE, "test_reasoning_goes_back_to_where_the_server_had_it"),
    "With `thinking`": (MORE, "test_a_call_with_thinking_has_no_other_temperature"),
    '`--tau-agent-llm-args \'{"thinking"': (MORE, "test_a_temperature_with_thinking_is_refused_before_the_run"),
    "In a run without `--tau-agent-llm`": (
        "tests/plugin/test_model_options.py",
        "test_a_participant_that_needs_a_model_is_refused_without_one",
    ),
    "Each attempt of a model call": (
        "tests/architecture/test_options_table.py",
        "test_model_calls_have_the_defaults_of_the_docs",
    ),
    "A conversation of built-in": (LIMITS, "test_a_conversation_of_built_in_participants_has_no_limit_of_its_own"),
    "If the agent or the user is not built in": (
        LIMITS,
        "test_the_default_limit_of_an_agent_of_ones_own_does_not_count_its_model_calls",
    ),
    "`--tau-timeout SECONDS` sets": (LIMITS, "test_a_limit_that_is_given_counts_everything"),
    "1. the prices": (U + "test_prices.py", "test_the_prices_among_the_arguments_of_a_call_come_first"),
    "2. the cost": (U + "test_prices.py", "test_the_cost_that_the_provider_reports_wins_over_a_list"),
    "3. the price": (U + "test_prices.py", "test_a_price_list_wins_over_litellms_and_has_answering_names_too"),
    "4. the price": (U + "test_prices.py", "test_the_answering_name_decides_then_the_requested_one"),
    "A list is searched": (U + "test_prices.py", "test_the_answering_name_decides_then_the_requested_one"),
    "If neither has a price": (
        U + "test_openai_server.py",
        "test_a_count_of_tokens_that_cannot_be_one_makes_the_cost_unknown",
    ),
    "A gate on the cost is not decided": (LIMITS, "test_a_gate_on_the_cost_is_missed_if_the_cost_is_unknown"),
    "With a budget": (LIMITS, "test_a_price_list_prices_a_model_and_its_budget_stops_it"),
    "A model of a hook": (BUDGET, "test_answers_without_a_price_stop_a_run_with_a_budget"),
    "The file of prices": (U + "test_prices.py", "test_a_price_list_has_the_models_that_no_other_list_has"),
    "`cached` is for": (U + "test_prices.py", "test_without_a_price_for_cached_tokens_they_cost_as_much_as_others"),
    "Once `--tau-budget`": (BUDGET, "test_the_judge_is_asked_about_a_conversation_that_was_paid_for"),
    "Trials that are under way": (BUDGET, "test_a_trial_under_way_is_stopped_as_not_run"),
    "They are reported as": (BUDGET, "test_a_trial_under_way_is_stopped_as_not_run"),
    "Calls in flight": (BUDGET, "test_trials_under_way_at_the_same_time_are_stopped"),
    "`--tau-resume` runs": (BUDGET, "test_a_stopped_trial_is_run_when_the_run_is_resumed"),
    "A trial whose budget": (BUDGET, "test_a_trial_has_a_budget_of_its_own"),
    "Replayed calls": (BUDGET, "test_replayed_calls_are_not_charged_to_the_budget_of_a_trial"),
    "A call whose cost": (BUDGET, "test_a_call_without_a_price_of_a_model_that_has_one_is_not_counted_and_reported"),
    "`--tau-prompt-cache` adds": (MORE, "test_the_ends_of_tools_system_message_and_last_messages_are_marked"),
    "The summary shows the share": (LIMITS, "test_the_summary_has_the_share_of_cached_tokens"),
    "`20,000 tokens sent": (LIMITS, "test_the_summary_has_the_share_of_cached_tokens"),
    "Tokens, cost and calls": (HERE, "test_the_usage_is_where_the_page_says"),
    "The constructor of an agent": (HERE, "test_the_agent_of_the_page_calls_its_model"),
    "It receives the agent's model": (HERE, "test_the_agent_of_the_page_calls_its_model"),
    "Blocking code uses": (HERE, "test_blocking_code_and_tests_call_the_same_model"),
    "In a test, the fixture": (HERE, "test_blocking_code_and_tests_call_the_same_model"),
    "An agent that calls litellm": (
        U + "test_litellm_completions.py",
        "test_in_a_trial_a_call_is_tallied_recorded_and_replayed_to_the_byte",
    ),
    "Calls by [plain clients]": (HERE, "test_the_calls_of_another_client_are_not_counted"),
    "The hook `pytest_tau_make_model`": (HERE, "test_the_hook_of_the_page_replaces_litellm"),
    "`--tau-judge-llm MODEL` judges": (HERE, "test_the_judge_is_asked_again_and_its_conversation_is_kept"),
    "An invalid reply": (HERE, "test_the_judge_is_asked_again_and_its_conversation_is_kept"),
    "If the judge keeps failing": (HERE, "test_the_judge_is_asked_again_and_its_conversation_is_kept"),
}


def claims() -> list[str]:
    """The sentences, the rows of tables and the items of lists, each on one line; without code."""
    text = re.sub(r"```.*?```", "\n\n", PAGE, flags=re.DOTALL)
    found: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        lines = block.strip().splitlines()
        if not lines or lines[0].startswith("#"):
            continue
        if lines[0].startswith("|"):
            found += lines[2:]
        elif re.match(r"\d\. ", lines[0]):
            found += re.split(r"\n(?=\d\. )", block.strip())
        else:
            found += re.split(r"(?<=[.:])\s+(?=[A-Z`\[])", " ".join(lines))
    return [" ".join(each.split()) for each in found]


def test_each_claim_of_the_page_has_a_test():
    known = (*CLAIMS, *NO_CLAIMS)
    missing = [claim for claim in claims() if sum(claim.startswith(each) for each in known) != 1]
    assert missing == [], "write a test, and name it in CLAIMS"


def test_each_entry_is_a_claim_of_the_page():
    assert [each for each in (*CLAIMS, *NO_CLAIMS) if sum(claim.startswith(each) for claim in claims()) != 1] == []


@pytest.mark.parametrize("file", sorted({file for file, _ in CLAIMS.values()}))
def test_the_tests_of_the_table_exist(file):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    found = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert {name for where, name in CLAIMS.values() if where == file} - found == set()


# Claims that no other file tests


@pytest.fixture
def served(project, a_task, litellm_at_hand, monkeypatch):
    """Runs the mock task with models behind a model server, through the run's own chat model."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    project.tasks("mock/t.tau.json", [a_task()])

    def run(server, *options, roles=("agent", "user"), **args):
        given = json.dumps({"api_base": server.base_url, "api_key": "any", **args})
        models = [f"--tau-{role}-llm=openai/{role}" for role in roles]
        return project.run(*models, *(f"--tau-{role}-llm-args={given}" for role in roles), *options)

    return run


def plays(request):
    """The mock task, played by the same model on both sides."""
    last = request["messages"][-1]
    if request["model"] == "user":
        return "###STOP###" if "Done" in last["content"] else "Buy milk, please."
    create = {"name": "create_task", "arguments": {"user_id": "user_1", "title": "Buy milk"}}
    return "Done." if last["role"] == "tool" else {"tool_calls": [{"function": create}]}


def simulations(project):
    """The stored simulations, oldest run first."""
    files = sorted(project.path.glob(".tau/runs/*/*.jsonl"), key=lambda file: file.stat().st_mtime_ns)
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [found for line in lines if "messages" in (found := json.loads(line))]


def python_of_the_page(part):
    """The block of Python on the page that has this text in it."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    [found] = [block for block in blocks if part in block]
    return found


def test_the_options_reach_the_server(served):
    with ModelServer(plays) as server:
        served(server, "--tau-seed=5", temperature=0.5, top_k=3).outcomes(passed=1)
        seeds = {request["seed"] for request in server.requests}
        assert len(seeds) == 1
        assert {request["temperature"] for request in server.requests} == {0.5}
        assert {request["model"] for request in server.requests} == {"agent", "user"}
        before = len(server.requests)
        served(server, "--tau-seed=6", seed=None, temperature=None).outcomes(passed=1)
        assert not any({"seed", "temperature"} & set(request) for request in server.requests[before:])
        before = len(server.requests)
        served(server, "--tau-seed=6").outcomes(passed=1)
        assert {request["seed"] for request in server.requests[before:]}.isdisjoint(seeds)


def test_a_call_in_flight_is_cancelled_and_the_messages_are_kept(served, project):
    with ModelServer(plays, latency=lambda request: 30.0 if request["model"] == "agent" else 0.0) as server:
        run = served(server, "--tau-timeout=0.5")
    run.outcomes(failed=1)
    [simulation] = simulations(project)
    assert simulation["termination_reason"] == "timeout"
    assert simulation["messages"][-1]["content"] == "Buy milk, please."


def test_every_option_of_the_page_has_an_ini_key(models, project):
    named = set(re.findall(r"--tau-([a-z-]+[a-z])", PAGE))
    assert named <= {option.name for option in OPTIONS.values()}
    project.ini("tau_agent_llm = fake/agent", "tau_user_llm = fake/user")
    project.run().line("agent fake/agent: 2 calls")


def test_text_next_to_calls_is_not_delivered_and_calls_run_in_order(served, project):
    def script(request):
        reply = plays(request)
        if isinstance(reply, dict):
            calls = [{"function": {"name": "get_users", "arguments": {}}}, *reply["tool_calls"]]
            return {"content": "One moment.", "tool_calls": calls}
        return reply

    with ModelServer(script) as server:
        served(server).outcomes(passed=1)
    [simulation] = simulations(project)
    both = next(message for message in simulation["messages"] if message.get("tool_calls"))
    assert (both["content"], [call["name"] for call in both["tool_calls"]]) == (
        "One moment.",
        ["get_users", "create_task"],
    )
    said_to_user = [m["content"] for r in server.requests if r["model"] == "user" for m in r["messages"]]
    assert "One moment." not in said_to_user
    answered = [request["messages"] for request in server.requests if request["messages"][-1]["role"] == "tool"]
    assert [message["role"] for message in answered[0][-3:]] == ["assistant", "tool", "tool"]


def test_a_model_that_calls_one_tool_forever_fails(served, project):
    def script(request):
        look = {"name": "get_users", "arguments": {}}
        return plays(request) if request["model"] == "user" else {"tool_calls": [{"function": look}]}

    with ModelServer(script) as server:
        served(server, "--tau-max-steps=12").outcomes(failed=1)
    assert simulations(project)[0]["termination_reason"] == "max_steps"


def test_a_retry_runs_no_tool_twice(served, project):
    with ModelServer(plays, faults={2: ServerError(), 4: ServerError()}) as server:
        served(server, "--tau-llm-retry-delay=0.001").outcomes(passed=1)
    assert len(server.requests) == 6
    [simulation] = simulations(project)
    assert sum(message["role"] == "tool" for message in simulation["messages"]) == 1


def test_errors_are_excluded_and_counted(served):
    with ModelServer(plays, faults={1: Unauthorized()}) as server:
        run = served(server, "--tau-trials=2", "--tau-concurrency=1")
    run.outcomes(passed=1, errors=1)
    run.line("tau: mock: 1 task, 2 trials; 1 passed, 1 error; pass^1 1.000")


def test_the_conversation_of_a_trial_without_money_is_stored(served, project):
    project.write("prices.toml", '["openai/agent"]\ninput = 1e6\noutput = 0\n["openai/user"]\ninput = 0\noutput = 0\n')
    with ModelServer(plays) as server:
        served(server, "--tau-budget-per-trial=1", "--tau-prices=prices.toml").outcomes(errors=1)
    [simulation] = simulations(project)
    assert simulation["termination_reason"] == "infrastructure_error"
    assert [message["role"] for message in simulation["messages"]] == ["assistant", "user", "assistant", "tool"]


def test_the_usage_is_where_the_page_says(served, project):
    project.write(
        "test_own.py",
        """
        import pytest

        @pytest.mark.tau(domain="mock", tasks="create-task")
        def test_own(tau_simulation):
            print("calls", tau_simulation.model_usage["agent"].calls)
        """,
    )
    with ModelServer(plays) as server:
        run = served(server, "-s", "test_own.py")
        run.line("calls 2")
        run.line("tau: agent openai/agent: 2 calls")
        assert simulations(project)[0]["model_usage"]["agent"]["calls"] == 2
        before = len(simulations(project))
        served(server, "--tau-results=none", "mock").outcomes(passed=1)
    assert len(simulations(project)) == before


def test_the_agent_of_the_page_calls_its_model(models, project):
    project.write("own.py", python_of_the_page("class Agent:"))
    models.script("""
        def answer(role, request):
            return "###STOP###" if role == "user" and len(request.messages) > 3 else "Hello."
    """)
    models.run("--tau-agent=own.py:Agent", "--tau-record").outcomes(failed=1)
    assert "agent" in models.calls()
    run = models.run("--tau-agent=own.py:Agent", "--tau-replay")
    run.outcomes(failed=1)
    assert models.calls() == []
    run.line("tau: agent fake/agent: ", "$0.")


def test_blocking_code_and_tests_call_the_same_model(models, project):
    project.write(
        "test_own.py",
        """
        import pytest

        class Agent:
            def __init__(self, model):
                self.model = model

            def respond(self, message):
                return self.model.complete_sync([{"role": "user", "content": message.content}]).text

        @pytest.mark.tau(domain="mock", tasks="create-task", agent=Agent)
        def test_own(tau_simulation, tau_model):
            assert tau_simulation.model_usage["agent"].calls >= 1
            assert tau_model.name == "fake/agent"
            assert tau_model.complete_sync([{"role": "user", "content": "Hello"}]).text == "Hm."
        """,
    )
    models.script(
        'def answer(role, request):\n    return "###STOP###" if role == "user" and len(request.messages) > 3 else "Hm."\n'
    )
    models.run("test_own.py").outcomes(passed=1)
    assert set(models.calls()) == {"agent", "user"}


def test_the_calls_of_another_client_are_not_counted(served, project):
    project.write(
        "own.py",
        """
        import json
        import os
        import urllib.request

        def agent(messages, tools):
            body = json.dumps({"model": "other", "messages": messages}).encode()
            asked = urllib.request.Request(os.environ["OTHER"] + "/chat/completions", body)
            with urllib.request.urlopen(asked) as answer:
                return json.load(answer)["choices"][0]["message"]["content"]
        """,
    )
    with ModelServer(lambda request: plays(request) if request["model"] == "user" else "Done.") as server:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OTHER", server.base_url)
            run = served(server, "--tau-agent=own.py:agent", "--tau-record", roles=("user",))
            asked = [request["model"] for request in server.requests]
            assert "other" in asked
            run.lacks("tau: agent openai")
            run.line("tau: user openai/user:")
            served(server, "--tau-agent=own.py:agent", "--tau-replay", roles=("user",))
        assert {request["model"] for request in server.requests[len(asked) :]} == {"other"}


def test_the_hook_of_the_page_replaces_litellm(project, a_task):
    project.tasks("mock/t.tau.json", [a_task()])
    project.write("conftest.py", python_of_the_page("class Echo:"))
    run = project.run("--tau-agent-llm=echo", "--tau-user=gold")
    run.outcomes(failed=1)
    run.line("tau: agent echo: ", "cost unknown")


def test_the_judge_is_asked_again_and_its_conversation_is_kept(served, project, a_task):
    criteria = {"nl_assertions": ["It is short."], "reward_basis": ["NL_ASSERTION"]}
    verdict = json.dumps({"verdicts": [{"statement": 1, "reason": "It is.", "met": True}]})
    answers = iter(["No JSON.", verdict])

    def script(request):
        return next(answers, "No JSON.") if request["model"] == "judge" else plays(request)

    project.tasks("mock/t.tau.json", [a_task(criteria=criteria)])
    roles = ("agent", "user", "judge")
    with ModelServer(script) as server:
        served(server, roles=roles).outcomes(passed=1)
        asked = [request["model"] for request in server.requests]
        assert (asked.count("judge"), asked.count("agent")) == (2, 2)
        run = served(server, roles=roles)
        run.outcomes(errors=1)
        run.line("tau regrade .tau/runs/", "--judge-llm")
    assert simulations(project)[-1]["messages"][-1]["content"] == "###STOP###"
