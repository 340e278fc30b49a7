"""The voice and the recogniser of speech with sound: the files of their models."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ...errors import ConfigurationError


class SoundModels(NamedTuple):
    """The models of ``--tau-voice-sound``.

    Attributes:
        voice: The ``.onnx`` file of a voice of Piper, with its ``.onnx.json`` next to it.
        recogniser: The folder of a model of faster-whisper.
    """

    voice: Path
    recogniser: Path

    @classmethod
    def of(cls, paths: str) -> SoundModels:
        """Return the models by the value of the option."""
        voice, _, recogniser = paths.partition(",")
        return cls(Path(voice.strip()), Path(recogniser.strip()))

    def check(self) -> None:
        """Check that the files are there.

        Raises:
            ConfigurationError: One is missing.
        """
        for file in (self.voice, self._voice_config):
            if not file.is_file():
                raise _missing(f"the .onnx file of a voice of Piper, and its .onnx.json, no {file}")
        if not self._recogniser_file.is_file():
            raise _missing(f"the folder of a model of faster-whisper, no {self._recogniser_file}")

    @property
    def identity(self) -> list[object]:
        """Return what distinguishes these models from others: the names and sizes of the files."""
        return [[file.name, file.stat().st_size] for file in (self.voice, self._recogniser_file)]

    @property
    def _voice_config(self) -> Path:
        return self.voice.with_name(f"{self.voice.name}.json")

    @property
    def _recogniser_file(self) -> Path:
        return self.recogniser / "model.bin"


def _missing(problem: str) -> ConfigurationError:
    return ConfigurationError(f"--tau-voice-sound: expected {problem}; the docs (voice) say where both come from")
