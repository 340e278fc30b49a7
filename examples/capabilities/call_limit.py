"""A limit of the tool calls of the agent: ``--tau-most-calls 10`` ends a conversation after the tenth one."""

from dataclasses import dataclass

from pytest_tau import Capability, Ending, TrialStages, option


@dataclass(frozen=True)
class Settings:
    most_calls: int = option(int, "verdict", "N", default=0, help="the most tool calls of the agent; 0 for any number")


class Stages(TrialStages):
    def __init__(self, trial):
        self.most, self.calls = trial.settings.most_calls, 0

    def message(self, message):
        if message.role == "tool" and message.requestor == "assistant":
            self.calls += 1

    def limit(self):
        if self.calls < self.most:
            return None
        return Ending("capability_limit", error=f"{self.calls} tool calls, the limit is {self.most}")


capability = Capability(name="call_limit", settings=Settings, trial=Stages)
