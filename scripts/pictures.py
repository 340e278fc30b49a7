"""Make the pictures of the documentation from real runs: docs/images/failure.svg and docs/images/report.png.

python scripts/pictures.py            make both
python scripts/pictures.py failure    make one of them
python scripts/pictures.py --check    exit with 1 if failure.svg does not show what the run prints today

The SVG needs rich (pip install '.[docs]'); the PNG needs Chromium on the path, or named by $CHROMIUM.
"""

# ruff: noqa: INP001, T201, S603 - a script that starts pytest and a browser

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from importlib.metadata import entry_points
from itertools import zip_longest
from pathlib import Path

IMAGES = Path(__file__).parents[1] / "docs" / "images"
COLUMNS = 104
#: The failure on the first pages, as a user would type it.
COMMAND = "pytest -q --tau-domain retail --tau-task cancel-unneeded --tau-agent saboteur:forgets-last-write"
REPORT = ["--tau-domain", "retail", "--tau-split", "small", "--tau-agent", "saboteur:forgets-last-write"]
#: The conversation of the report that is shown, by its address.
CONVERSATION = "#/0"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SIZE = (1280, 960)
LIMIT = 200_000
#: rich's own template loads a font from another host.
TEMPLATE = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>A failed trial in the terminal</title>
<style>
.{unique_id}-matrix {{
    font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace;
    font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width;
}}
{styles}
.{unique_id}-title {{ font: 18px sans-serif; }}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def main(arguments: list[str]) -> int:
    """Make the pictures that are named, or check the text of the SVG."""
    if "--check" in arguments:
        problem = stale_line()
        if problem:
            print(f"docs/images/failure.svg is not what the run prints: {problem}", file=sys.stderr)
            print("run python scripts/pictures.py failure", file=sys.stderr)
        return int(problem is not None)
    if unknown := {*arguments} - {"failure", "report"}:
        print(f"expected failure, report or --check, got {' '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    IMAGES.mkdir(exist_ok=True)
    wanted = arguments or ["failure", "report"]
    if "failure" in wanted:
        (IMAGES / "failure.svg").write_text(terminal_picture(run_failure()), encoding="utf-8")
    return make_report() if "report" in wanted else 0


def run_pytest(arguments: list[str], folder: Path) -> str:
    """Run pytest in an empty folder, without other plugins; returns its output with colours."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TAU_", "PYTEST_", "GITHUB_"))}
    others = {entry.name for entry in entry_points(group="pytest11")} - {"tau"}
    command = [sys.executable, "-m", "pytest", "--color=yes", *(f"-pno:{name}" for name in sorted(others)), *arguments]
    environment = kept | {"COLUMNS": str(COLUMNS), "PYTHONUTF8": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)
    if done.returncode != 1:
        raise SystemExit(
            f"the run should fail with status 1, and ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        )
    return done.stdout


def run_failure() -> str:
    """Return the command and its output with colours, without what differs from run to run."""
    with tempfile.TemporaryDirectory() as folder:
        output = run_pytest(COMMAND.split()[1:], Path(folder))
    lines = [line for line in output.splitlines() if "simulations stored in" not in line]
    # The time, and the rulers that pytest draws around it.
    shown = [re.sub(r" in \S*?[\d.]+s\S*", "", line).rstrip() for line in lines]
    return "\n".join([f"$ {COMMAND}", *shown])


def plain(text: str) -> list[str]:
    """Return the lines of an output without colours, outer spaces and empty lines."""
    lines = re.sub(r"\x1b\[[\d;]*m", "", text).splitlines()
    return [" ".join(line.split()) for line in lines if line.strip()]


def picture_lines(svg: str) -> list[str]:
    """Return the text of a terminal picture, line by line."""
    space = "{http://www.w3.org/2000/svg}"
    rows: dict[float, list[tuple[float, str]]] = {}
    for group in ET.fromstring(svg).iter(f"{space}g"):  # noqa: S314 - a file of this repository
        if (group.get("class") or "").endswith("-matrix"):
            for text in group.iter(f"{space}text"):
                place = rows.setdefault(float(text.get("y") or 0), [])
                place.append((float(text.get("x") or 0), "".join(text.itertext())))
    joined = ["".join(piece for _, piece in sorted(rows[y])) for y in sorted(rows)]
    return [line for each in joined if (line := " ".join(each.split()))]


def stale_line() -> str | None:
    """Return the first line that the picture and the run do not have in common; None if there is none."""
    shown = picture_lines((IMAGES / "failure.svg").read_text(encoding="utf-8"))
    printed = plain(run_failure())
    pairs = zip_longest(shown, printed, fillvalue="")
    return next((f"{have!r}, now {now!r}" for have, now in pairs if have != now), None)


def terminal_picture(output: str) -> str:
    """Return an SVG of a terminal with the output."""
    try:
        from rich.console import Console
        from rich.text import Text
    except ImportError:
        raise SystemExit("docs/images/failure.svg is made by rich: pip install '.[docs]'") from None
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True, color_system="truecolor")
        for line in output.splitlines():
            console.print(Text.from_ansi(line), no_wrap=True, overflow="ignore", crop=False)
    svg = console.export_svg(title="pytest", code_format=TEMPLATE, unique_id="terminal")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def make_report() -> int:
    """Write the picture of the HTML report; says so if there is no browser."""
    browser = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(
            "docs/images/report.png was not made: there is no Chromium (Debian: apt install chromium)", file=sys.stderr
        )
        return 1
    target = IMAGES / "report.png"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_pytest([*REPORT, "--tau-html", "report.html"], folder)
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=5000"]
        options += [f"--user-data-dir={folder / 'profile'}", f"--window-size={SIZE[0]},{SIZE[1]}"]
        options += [f"--screenshot={target}", (folder / "report.html").as_uri() + CONVERSATION]
        subprocess.run([browser, *options], check=True, capture_output=True, timeout=120)
    if target.stat().st_size > LIMIT:
        print(f"{target}: {target.stat().st_size:,} bytes; at most {LIMIT:,}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
