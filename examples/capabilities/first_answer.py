"""Seconds from the user's first message to the agent's first text after a tool has answered: ``first_answer``."""

from datetime import datetime

from pydantic import BaseModel

from pytest_tau import Capability, FactColumn, TrialStages


class FirstAnswer(BaseModel):
    seconds: float | None = None


class Stages(TrialStages):
    def __init__(self, trial):
        self.asked = self.looked = self.answered = None

    def message(self, message):
        if message.role == "user":
            self.asked = self.asked or message.timestamp
        elif message.role == "tool":
            self.looked = True
        elif self.looked and message.text and self.answered is None:
            self.answered = message.timestamp

    def graded(self, simulation):
        if not (self.asked and self.answered):
            return FirstAnswer()
        asked, answered = map(datetime.fromisoformat, (self.asked, self.answered))
        return FirstAnswer(seconds=(answered - asked).total_seconds())


capability = Capability(
    name="first_answer",
    trial=Stages,
    facts=FirstAnswer,
    columns=(FactColumn("first_answer", "seconds", label="First answer", kind="seconds", metric=True),),
)
