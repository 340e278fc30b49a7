"""How often the agent names a competitor: ``--tau-competitors Contoso --tau-gate 'competitors<=0'``."""

from dataclasses import dataclass

from pydantic import BaseModel

from pytest_tau import Capability, FactColumn, TrialStages, option


@dataclass(frozen=True)
class Settings:
    competitors: tuple = option(tuple, "speed", "NAME", default=(), repeat=True, help="a competitor; may be repeated")


class Mentions(BaseModel):
    count: int
    messages: list[int]


class Stages(TrialStages):
    def __init__(self, trial):
        self.names = [name.lower() for name in trial.settings.competitors]

    def graded(self, simulation):
        said = [(at, each.text.lower()) for at, each in enumerate(simulation.messages) if each.role == "assistant"]
        found = [at for at, text in said for name in self.names if name in text]
        return Mentions(count=len(found), messages=found)


capability = Capability(
    name="competitors",
    settings=Settings,
    trial=Stages,
    facts=Mentions,
    columns=(FactColumn("competitors", "count", label="Competitors", metric=True),),
    summary=lambda trials: [f"named in {sum(each.facts.count > 0 for each in trials)} of {len(trials)} trials"],
    failure=lambda facts, simulation: [f"named in message {at}" for at in facts.messages],
)
