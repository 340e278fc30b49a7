"""``submission.json``: its fields, and what is wrong with one.

Source: τ²-bench v1.0.1, leaderboard submissions. Unknown fields are ignored at the top, and refused inside.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

#: The file of a submission, and the folder of its trajectories.
DOCUMENT: Final = "submission.json"
TRAJECTORIES: Final = "trajectories"
#: The domains that a submission may have results of.
DOMAINS: Final = ("retail", "airline", "telecom", "banking_knowledge")
#: The numbers of trials that must pass, for which there are rates.
KS: Final = (1, 2, 3, 4)


def _check_date(text: str) -> str:
    if len(text) != len("2026-01-31"):
        raise ValueError("expected a date: YYYY-MM-DD")
    try:
        date.fromisoformat(text)
    except ValueError:
        raise ValueError("expected a date: YYYY-MM-DD") from None
    return text


Day: TypeAlias = Annotated[str, AfterValidator(_check_date)]
Rate: TypeAlias = Annotated[float | None, Field(ge=0, le=100)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ContactInfo(_Part):
    """Whom to ask about a submission."""

    email: str | None = None
    name: str | None = None
    github: str | None = None


class DomainResults(_Part):
    """Rates of a domain in percent, and USD per trajectory of the agent's model."""

    pass_1: Rate = None
    pass_2: Rate = None
    pass_3: Rate = None
    pass_4: Rate = None
    cost: Annotated[float | None, Field(ge=0)] = None
    retrieval_config: str | None = None


class Results(_Part):
    """The results by domain."""

    retail: DomainResults | None = None
    airline: DomainResults | None = None
    telecom: DomainResults | None = None
    banking_knowledge: DomainResults | None = None

    @model_validator(mode="after")
    def _names_the_retrieval(self) -> Results:
        if self.banking_knowledge is not None and not self.banking_knowledge.retrieval_config:
            raise ValueError("banking_knowledge needs retrieval_config")
        return self


class Reference(_Part):
    """A page about the submission."""

    title: str
    url: str
    type: str | None = None


class Verification(_Part):
    """What was changed, by the submitter's account."""

    modified_prompts: bool | None = None
    omitted_questions: bool | None = None
    details: str | None = None


class Methodology(_Part):
    """How the results were obtained."""

    evaluation_date: Day | None = None
    tau2_bench_version: str | None = None
    user_simulator: str | None = None
    notes: str | None = None
    verification: Verification | None = None


class ModelRelease(_Part):
    """When the model was released."""

    release_date: Day | None = None
    announcement_url: str | None = None
    announcement_title: str | None = None

    @model_validator(mode="after")
    def _has_a_date(self) -> ModelRelease:
        if self.announcement_url and not self.release_date:
            raise ValueError("announcement_url needs release_date")
        return self


class Pipeline(_Part):
    """The models of a cascaded voice agent: speech to text, language, text to speech."""

    asr: str | None = None
    llm: str | None = None
    tts: str | None = None


class VoiceConfig(_Part):
    """The model of a voice agent, and the time that it was given."""

    provider: str
    model: str
    tick_duration_seconds: float | None = None
    max_steps_seconds: float | None = None
    user_tts_provider: str | None = None
    pipeline: Pipeline | None = None


class InteractionConfig(_Part):
    """The windows of interaction metrics, in seconds."""

    tick_duration_sec: float | None = None
    no_yield_window_sec: float | None = None
    backchannel_yield_window_sec: float | None = None
    vocal_tic_yield_window_sec: float | None = None
    non_directed_yield_window_sec: float | None = None
    vocal_tic_response_window_sec: float | None = None
    non_directed_response_window_sec: float | None = None


class InteractionCounts(_Part):
    """The numbers of events behind interaction metrics."""

    n_simulations: int | None = None
    response_total: int | None = None
    yield_total: int | None = None
    backchannel_total: int | None = None
    vocal_tic_total: int | None = None
    non_directed_total: int | None = None
    agent_interrupts_count: int | None = None


class InteractionPanel(_Part):
    """Interaction metrics of a domain, or over domains: seconds and shares."""

    response_latency_mean: float | None = None
    yield_latency_mean: float | None = None
    response_rate: float | None = None
    yield_rate: float | None = None
    agent_interruption_rate: float | None = None
    selectivity_backchannel: float | None = None
    selectivity_vocal_tic: float | None = None
    selectivity_non_directed: float | None = None
    counts: InteractionCounts | None = None


class InteractionMetrics(_Part):
    """How a voice agent takes turns."""

    version: str | None = None
    config: InteractionConfig | None = None
    domains: dict[str, InteractionPanel] | None = None
    overall: InteractionPanel | None = None


class Submission(BaseModel):
    """The document of a submission."""

    model_config = ConfigDict(extra="ignore", protected_namespaces=())

    model_name: str
    model_organization: str
    submitting_organization: str
    submission_date: Day
    submission_type: Literal["standard", "custom"] = "standard"
    modality: Literal["text", "voice"] = "text"
    contact_info: ContactInfo
    results: Results
    is_new: bool = False
    trajectories_available: bool = False
    trajectory_files: dict[str, str] | None = None
    references: list[Reference] | None = None
    methodology: Methodology | None = None
    model_release: ModelRelease | None = None
    reasoning_effort: str | None = None
    voice_config: VoiceConfig | None = None
    interaction_metrics: InteractionMetrics | None = None


def document_problems(document: Any) -> list[str]:
    """Return what is wrong with a document, each with its field; empty if it is valid."""
    try:
        Submission.model_validate(document)
    except ValidationError as error:
        return [
            f"{'.'.join(map(str, problem['loc']))}: {_message(problem)}".removeprefix(": ")
            for problem in error.errors()
        ]
    return []


def _message(problem: Any) -> str:
    if problem["type"] == "missing":
        return "missing"
    if problem["type"] == "extra_forbidden":
        return "unknown field"
    text = str(problem["msg"]).removeprefix("Value error, ")
    return text[:1].lower() + text[1:]
