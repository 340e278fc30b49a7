"""The folder of a submission, made of runs, and whether it is ``standard`` or ``custom``."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from ..analysis.comparability import comparability
from ..capability.duplex import submitted_runs
from ..errors import ConfigurationError
from ..files import atomic_write
from ..plain import json
from ..reports.export import survey
from ..reports.export_tau2 import Tau2Options, check_content, write_tau2, write_tau2_folder
from ..reports.tau2_fields import tau2_header
from ..runs.layout import RESULTS_FOLDER
from ..runs.make_record import make_record
from ..text import plural
from .document import DOCUMENT, DOMAINS, TRAJECTORIES, Submission, document_problems
from .trajectories import Trajectories

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ..capability.views import SubmittedRuns
    from ..regrade.recognition import DomainSource
    from ..reports.export import DomainContent
    from ..runs.reader import Run
    from ..runs.record import TrialRecord


#: Who plays in a run of τ²-bench that has changed nothing. Source: τ²-bench v1.0.1.
STOCK = {"agent_info": "llm_agent", "user_info": "user_simulator"}
#: How the deviations begin by which models were given other prompts.
_PROMPTS = ("protocol tau", "agent ", "agent's prompt", "user ", "user's prompt", "persona")


class Proposal(NamedTuple):
    """The proposed type of a submission.

    Attributes:
        kind: ``standard`` or ``custom``.
        reasons: Why, a text for each.
        modified_prompts: Whether prompts of the benchmark were changed; None if that is not known.
        omitted: What is missing: tasks of the split base, and trials.
    """

    kind: str
    reasons: tuple[str, ...]
    modified_prompts: bool | None
    omitted: tuple[str, ...] = ()


def propose(
    records: Sequence[TrialRecord], headers: Sequence[Mapping[str, Any]], stock: Mapping[str, str] = STOCK
) -> Proposal:
    """Return the type of a submission.

    Args:
        records: The trials of all runs.
        headers: The header of each run.
        stock: Who plays in a run of τ²-bench that has changed nothing, by the entry of the header.
    """
    compared = comparability(records)
    if compared is None:
        return Proposal("custom", ("no trial is of a domain of τ²-bench",), None)
    if compared.kind != "unknown":
        reasons = compared.deviations or ("agent, user, texts, data, limits and grading are those of τ²-bench",)
        changed = any(text.startswith(_PROMPTS) for text in compared.deviations)
        return Proposal(compared.kind, reasons, changed, compared.incomplete)
    names = [
        f"{side.removesuffix('_info')} {(header.get(side) or {}).get('implementation')}"
        for header in headers
        for side, name in stock.items()
        if (header.get(side) or {}).get("implementation") != name
    ]
    if names:
        return Proposal("custom", tuple(dict.fromkeys(names)), None)
    return Proposal("standard", ("result files of τ²-bench with its own agent and user",), False)


#: Fields that no run has recorded, each with the question for it.
QUESTIONS = {
    "model_organization": "Who made the model?",
    "submitting_organization": "Who submits the results?",
    "contact_info.email": "E-mail address for questions about the submission?",
}
#: Fields that are computed.
_COMPUTED = ("results", "trajectory_files", "modality", "interaction_metrics")
_SPACED = re.compile(r"[ /.:]")


@dataclass
class Draft:
    """What is known of a submission before anything is written.

    Attributes:
        parts: By domain, its run and the content of that.
        proposal: The proposed type.
        answers: The document so far.
        special: What a capability makes of the runs; None for conversations in turns.
    """

    parts: dict[str, tuple[Run, DomainContent]]
    proposal: Proposal
    answers: dict[str, Any] = field(default_factory=dict)
    special: SubmittedRuns | None = None

    @property
    def missing(self) -> list[str]:
        """Return the fields that a person has to give and that have no value yet."""
        return [name for name in ("model_name", *QUESTIONS) if not _get(self.answers, name)]

    @property
    def folder(self) -> str:
        """Return the name of the folder: model, organisation and date."""
        names = [_SPACED.sub("-", str(self.answers[name]).lower()) for name in ("model_name", "model_organization")]
        return "_".join([*names, str(self.answers["submission_date"])])


def draft(runs: Sequence[Run], given: dict[str, Any]) -> Draft:
    """Return what is known of a submission.

    Args:
        runs: The runs; each domain is in one of them.
        given: Fields of the document, nested.

    Raises:
        ConfigurationError: The runs cannot be submitted, or a field is computed or unknown.
        OSError: A file cannot be opened.
    """
    if computed := [name for name in _COMPUTED if name in given]:
        raise ConfigurationError(f"{computed[0]}: is computed from the runs; remove it")
    if unknown := [name for name in given if name not in Submission.model_fields]:
        raise ConfigurationError(
            f"{unknown[0]}: not a field of {DOCUMENT} (known: {', '.join(Submission.model_fields)})"
        )
    special = submitted_runs(runs)
    runs = special.runs if special else runs
    parts: dict[str, tuple[Run, DomainContent]] = {}
    for run in runs:
        for domain, content in survey(run).items():
            check_content(domain, content)
            if domain not in DOMAINS:
                raise ConfigurationError(
                    f"{run.name}: domain {domain!r} is not on the leaderboard ({', '.join(DOMAINS)})"
                )
            if domain in parts:
                raise ConfigurationError(
                    f"{parts[domain][0].name} and {run.name} both have {domain}; join them by tau merge"
                )
            parts[domain] = run, content
    records = [
        make_record(trial.simulation, trial.task, trial.domain, trial.test) for run in runs for trial in run.trials()
    ]
    proposal = propose(records, [run.info for run in runs], special.stock if special else STOCK)
    known = _merged(_known(runs, proposal), special.fields if special else {})
    return Draft(parts, proposal, _merged(known, given), special)


def _known(runs: Sequence[Run], proposal: Proposal) -> dict[str, Any]:
    """Return the fields that follow from the runs."""
    started = [str(run.info.get("started") or "")[:10] for run in runs]
    models = {side: next((name for run in runs if (name := _model(run, side))), None) for side in ("agent", "user")}
    deviations = "; ".join(proposal.reasons) if proposal.kind == "custom" else None
    methodology = {
        "evaluation_date": max(started) or None,
        "user_simulator": models["user"],
        "notes": f"Differences from the standard setup: {deviations}." if deviations else None,
        "verification": {
            "modified_prompts": proposal.modified_prompts,
            "omitted_questions": any("of the split base" in text for text in proposal.omitted),
        },
    }
    return {
        "model_name": models["agent"],
        "submission_date": datetime.now(UTC).date().isoformat(),
        "submission_type": proposal.kind,
        "modality": "text",
        "contact_info": {},
        "is_new": False,
        "trajectories_available": True,
        "methodology": {name: value for name, value in methodology.items() if value is not None},
    }


def _model(run: Run, side: str) -> str | None:
    settings, header = run.info.get("settings") or {}, run.info.get(f"{side}_info") or {}
    model: str | None = settings.get(f"{side}_llm") or header.get("llm")
    return model


def _merged(known: dict[str, Any], added: dict[str, Any]) -> dict[str, Any]:
    merged = dict(known)
    for name, value in added.items():
        inside = merged.get(name)
        merged[name] = _merged(inside, value) if isinstance(inside, dict) and isinstance(value, dict) else value
    return merged


def _get(document: dict[str, Any], name: str) -> Any:
    value: Any = document
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def set_field(document: dict[str, Any], name: str, value: Any) -> None:
    """Set a field, whose name has a dot before that of a field inside, such as ``contact_info.email``."""
    *parents, last = name.split(".")
    for part in parents:
        document = document.setdefault(part, {})
        if not isinstance(document, dict):
            raise ConfigurationError(f"{name}: {part} is not an object")
    document[last] = value


def check_answers(submission: Draft, *, force: bool) -> None:
    """Check the fields, before anything is written.

    Args:
        submission: The submission so far.
        force: A type may be given that contradicts what was recorded.

    Raises:
        ConfigurationError: A field is missing or not valid, or a custom run is called standard.
    """
    if missing := submission.missing:
        raise ConfigurationError(
            f"missing: {', '.join(missing)}; give each by --set {missing[0]}=…, or by --from FILE.toml"
        )
    if problems := document_problems({**submission.answers, "results": {}}):
        raise ConfigurationError(f"{DOCUMENT} would not be valid: {'; '.join(problems)}")
    if submission.answers["submission_type"] == "standard" and submission.proposal.kind == "custom" and not force:
        raise ConfigurationError(
            f"submission_type: these runs are custom ({'; '.join(submission.proposal.reasons)}); "
            "--force writes standard"
        )


def write_submission(submission: Draft, out: Path, domains: DomainSource | None, *, trim: bool) -> Path:
    """Write the folder of a submission; returns it.

    Args:
        submission: The submission, whose fields are checked.
        out: Where the folder is made.
        domains: The domains, for their policies.
        trim: Omit what only this package and providers have.

    Raises:
        ConfigurationError: The folder exists.
        OSError: A file cannot be written.
    """
    folder = out / submission.folder
    if folder.exists():
        raise ConfigurationError(f"{folder} already exists; give another folder, or delete it")
    (folder / TRAJECTORIES).mkdir(parents=True)
    files, results = {}, {}
    for domain, (run, content) in submission.parts.items():
        header, options = tau2_header(run, domain, content, domains), Tau2Options(trim=trim)
        if submission.special:
            path = folder / TRAJECTORIES / run.name
            write_tau2_folder(run, path, domain, content, header, options)
            _copy_sound(run.path, path)
        else:
            path = folder / TRAJECTORIES / f"{domain}_results.json"
            with path.open("w", encoding="utf-8", newline="") as file:
                write_tau2(run, file, domain, content, header, options)
        written = Trajectories.read(path)
        files[domain], results[domain] = path.name, written.results()
        _note_lost(submission.answers, written)
    document = {**submission.answers, "results": results, "trajectory_files": files}
    text = json.dumps(_ordered(document), indent=2, ensure_ascii=False)
    atomic_write(folder / DOCUMENT, text + "\n")
    return folder


def _copy_sound(source: Path, target: Path) -> None:
    """Copy the sound of the simulations that were written; the folder of each has its id."""
    written_folders = {f"sim_{file.stem}" for file in (target / RESULTS_FOLDER).glob("*.json")}
    for sound in source.glob("artifacts/task_*/sim_*/audio"):
        if sound.parent.name in written_folders:
            shutil.copytree(sound, target / sound.relative_to(source), symlinks=True)


def _ordered(document: dict[str, Any]) -> dict[str, Any]:
    return {name: document[name] for name in Submission.model_fields if document.get(name) is not None}


def _note_lost(answers: dict[str, Any], written: Trajectories) -> None:
    """Add the rates by the other convention to the notes, if trials were lost to infrastructure."""
    if not written.lost:
        return
    rates = written.rates(lost_fail=True)
    rates_text = ", ".join(f"{name} {value:.2f}" for name, value in rates.items() if value is not None)
    text = (
        f"{written.domain}: {plural(written.lost, 'trial')} lost to infrastructure; counted as failures: {rates_text}."
    )
    methodology = answers.setdefault("methodology", {})
    methodology["notes"] = " ".join(filter(None, (methodology.get("notes"), text)))
