"""The approver in a trial: a call of ``request_approval`` waits for the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...capability import TrialStages
from ...errors import ConfigurationError, unknown_name
from ...models import ToolMessage
from ...plain import json
from ...policy import REQUEST, Trajectory, acts_in, approvals_of, check_approval, requested_arguments, requests_in
from .approver import BUILT_IN, ApprovalRequest, decision_of, load_function, make_approver
from .facts import ApprovalFacts, MadeAct, MadeRequest
from .script import ScriptedApprover, script_of

if TYPE_CHECKING:
    from ...capability import RunView, TrialView
    from ...models import Simulation, ToolCall
    from ...policy import Approval
    from . import ApprovalSettings


def check_approver(settings: ApprovalSettings, run: RunView) -> None:
    """Check that the approver exists, and that the run has calls that need one.

    Raises:
        ValueError: It does not, or has not.
    """
    spec, model = settings.approver, settings.approver_llm
    if model is not None and spec != "script":
        raise ValueError(f"{spec!r} and --tau-approver-llm {model}: expected one approver")
    if (model or spec != "script") and ("assistant", REQUEST) not in run.tools:
        raise ValueError(
            f"{model or spec!r}: no call of the run needs an approval: declare the domain by with_approvals"
        )
    if spec not in BUILT_IN:
        try:
            load_function(spec)
        except ConfigurationError as error:
            raise ValueError(str(error)) from error


def stages_of(view: TrialView) -> TrialStages:
    """Return the stages of a trial; without approvals in its domain, ones that do nothing."""
    return ApprovalStages(view) if approvals_of(view.domain.spec) else TrialStages()


class ApprovalStages(TrialStages):
    """The approver of one trial."""

    def __init__(self, view: TrialView) -> None:
        self._view, model = view, view.settings.approver_llm
        self._spec: str = view.settings.approver if model is None else f"llm {model}"
        self._approvals = approvals_of(view.domain.spec)
        for approval in self._approvals:
            try:
                check_approval(approval, view.domain.spec.agent_tools.tools())
            except ValueError as error:
                problem = f"domain {view.domain.name!r}: policy: <!-- approval: {approval.text} -->: {error}"
                raise ConfigurationError(problem) from None
        self._script = script_of(view.task, view.domain)
        by_script = self._spec == "script"
        self._approver = ScriptedApprover(self._script) if by_script else make_approver(view)
        self._earlier: list[str] = []

    async def call(self, call: ToolCall) -> ToolMessage | None:
        """Return the approver's answer to a request; None for any other call, and for one that the tool refuses."""
        if call.name != REQUEST or call.requestor != "assistant" or call.malformed is not None:
            return None
        arguments = requested_arguments(call.arguments)
        name, known = call.arguments.get("tool"), self._view.domain.spec.agent_tools.tools()
        if not call.arguments.keys() >= {"tool", "arguments"}:
            return None
        if not isinstance(name, str) or name not in known or name == REQUEST:
            return _result(call, f"Error: {unknown_name('tool', str(name), known.keys() - {REQUEST})}", failed=True)
        if arguments is None:
            return _result(call, "Error: arguments: expected the arguments of the call, a JSON object", failed=True)
        needed = [approval for approval in self._approvals if approval.covers(name, arguments)]
        if not needed:
            return _result(call, json.dumps({"decision": "not_needed"}))
        request = self._request(needed[0], call, arguments)
        decision = await decision_of(self._approver, self._spec, request)
        answer = {"decision": decision.decision, **({"text": decision.text} if decision.text else {})}
        self._earlier.append(f"{request.text}: {': '.join(answer.values())}")
        return _result(call, json.dumps(answer, ensure_ascii=False))

    def _request(self, approval: Approval, call: ToolCall, arguments: dict[str, Any]) -> ApprovalRequest:
        note = call.arguments.get("note")
        return ApprovalRequest(
            tool=approval.tool,
            arguments=arguments,
            note=note if isinstance(note, str) else "",
            sentence=approval.sentence,
            instructions=self._script.instructions,
            earlier=tuple(self._earlier),
            task_id=self._view.task.id,
        )

    def graded(self, simulation: Simulation) -> ApprovalFacts:
        """Return the requests with their answers, and the calls that needed an approval."""
        history_length = len(self._view.task.message_history or ())
        calls = Trajectory.of(simulation.messages, self._view.environment.tool_infos).calls
        acts = [act for act in acts_in(calls, self._approvals) if act.call.message_idx >= history_length]
        return ApprovalFacts(
            approver=self._spec,
            requests=[
                MadeRequest(
                    message_idx=request.made.message_idx,
                    call=request.call_text,
                    decision=request.decision,
                    text=request.text,
                )
                for request in requests_in(calls)
                if request.made.message_idx >= history_length
            ],
            calls=[
                MadeAct(
                    message_idx=act.call.message_idx,
                    call=act.call.text,
                    request_idx=act.request.made.message_idx if act.request else None,
                    broke=act.breach,
                    evidence=act.evidence,
                )
                for act in acts
            ],
        )


def _result(call: ToolCall, content: str, *, failed: bool = False) -> ToolMessage:
    return ToolMessage(id=call.id, content=content, requestor=call.requestor, error=failed)
