"""pass^k of several runs with its intervals, as a figure."""

from __future__ import annotations

from io import BytesIO
from math import ceil
from typing import TYPE_CHECKING, Any

from ..analysis.metrics import Range
from ..errors import ConfigurationError, install_extra
from ..files import atomic_write
from ..text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..analysis.many import ManyRuns
    from ..analysis.scores import Rate

_FORMATS = (".svg", ".png", ".pdf")
#: Panels in a row, inches of one, and the most characters of a run's name.
_ABREAST, _WIDTH, _HEIGHT, _LONGEST = 3, 3.4, 2.8, 40
#: Inches of a sign in the legend with its margins, and of a letter.
_LEGEND, _LETTER = 0.6, 0.09
#: How far the runs of one k are apart, together: a part of the distance between two k.
_SPREAD = 0.5


def check_figure(path: Path) -> None:
    """Raise an error if a figure cannot be drawn to a file: its name has another suffix, or matplotlib is missing.

    Raises:
        ConfigurationError: With what is expected.
    """
    if path.suffix.lower() not in _FORMATS:
        raise ConfigurationError(f"--figure {path}: expected a name that ends with {', '.join(_FORMATS)}")
    try:
        import matplotlib.figure  # noqa: F401 - only whether it is there
    except ImportError:
        raise ConfigurationError(f"--figure needs matplotlib: {install_extra('figures')}") from None


def draw_figure(many: ManyRuns, path: Path) -> None:
    """Draw a panel for each domain: pass^k over k, with the 95 % interval, for each run.

    A value that missing trials decide on is a line from its lowest to its highest, without a mark.

    Args:
        many: The comparison.
        path: The file, whose suffix is its format. The same comparison makes the same SVG.

    Raises:
        ConfigurationError: No task can be compared.
        OSError: The file cannot be written.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    domains = many.domain_rates()
    if not domains:
        raise ConfigurationError(f"--figure {path}: no task has a verdict in every run")
    abreast = min(len(domains), _ABREAST)
    rows = ceil(len(domains) / abreast)
    with rc_context({"svg.hashsalt": "pytest-tau", "svg.fonttype": "none", "pdf.fonttype": 42}):
        figure = Figure(figsize=(_WIDTH * abreast + 0.6, _HEIGHT * rows + 0.7), layout="constrained")
        panels = figure.subplots(rows, abreast, squeeze=False, sharey=True).flat
        for panel, (domain, runs) in zip(panels, domains.items(), strict=False):
            _draw_panel(panel, domain, runs)
        for panel in figure.axes[::abreast]:
            panel.set_ylabel("pass^k")
        for panel in figure.axes[len(domains) :]:
            panel.set_axis_off()
        handles, names = figure.axes[0].get_legend_handles_labels()
        fitting = int(figure.get_figwidth() / (_LEGEND + _LETTER * max(map(len, names))))
        columns = max(1, min(len(names), 3, fitting))
        figure.legend(handles, names, loc="outside lower center", ncols=columns, frameon=False)
        drawn = BytesIO()
        kind = path.suffix[1:].lower()
        undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        figure.savefig(drawn, format=kind, dpi=200, metadata=undated)
    atomic_write(path, drawn.getvalue())


def _label(name: str) -> str:
    """Return the name of a run for matplotlib, to which a dollar begins a formula and a first underscore hides it."""
    line = one_line(name, _LONGEST).replace("$", r"\$")
    return f" {line}" if line.startswith("_") else line


def _draw_panel(panel: Any, domain: str, runs: Sequence[tuple[str, Sequence[Rate]]]) -> None:
    step = _SPREAD / max(len(runs), 1)
    for position, (name, rates) in enumerate(runs):
        offset = (position - (len(runs) - 1) / 2) * step
        color = f"C{position}"
        certain = [(rate.k + offset, float(rate.value), rate) for rate in rates if not isinstance(rate.value, Range)]
        reach = [
            (value - rate.interval.low, rate.interval.high - value) if rate.interval else (0.0, 0.0)
            for _, value, rate in certain
        ]
        panel.errorbar(
            [at for at, _, _ in certain],
            [value for _, value, _ in certain],
            yerr=[[max(low, 0.0) for low, _ in reach], [max(high, 0.0) for _, high in reach]],
            fmt="o",
            markersize=4,
            capsize=2.5,
            linewidth=1,
            color=color,
            label=_label(name),
        )
        for rate in rates:
            if isinstance(rate.value, Range):
                panel.vlines(rate.k + offset, rate.value.low, rate.value.high, color=color, linestyles="dotted")
    panel.set_title(domain, fontsize="medium")
    panel.set_xlabel("k")
    panel.set_ylim(-0.02, 1.02)
    panel.set_xticks(sorted({rate.k for _, rates in runs for rate in rates}))
    panel.spines[["top", "right"]].set_visible(False)
