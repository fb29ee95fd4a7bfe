"""The samples in the README and in the tour are what their commands print."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SAMPLE = re.compile(
    r"<!-- run: (?P<command>.*?) -->\n```\n\$ (?P<shown>.*?)\n(?P<printed>.*?)```\n<!-- end of run -->", re.S
)
LEFT_OUT = "..."
"""A line that stands for lines that a sample leaves out."""

PAGES = ("README.md", "docs/tour.md")
"""Pages with samples."""


def printed_by(command: str) -> list[str]:
    program, *arguments = shlex.split(command)
    assert program == "proofka"
    run = subprocess.run([sys.executable, "-m", "proofka", *arguments], cwd=ROOT, capture_output=True, text=True)
    return [line.rstrip() for line in run.stdout.splitlines()]


@pytest.mark.parametrize("page", PAGES)
def test_the_sample_equals_the_output_of_the_command(page: str) -> None:
    samples = list(SAMPLE.finditer((ROOT / page).read_text(encoding="utf-8")))
    assert samples
    for sample in samples:
        assert sample["command"] == sample["shown"]
        printed = printed_by(sample["command"])
        parts = "\n".join(line.rstrip() for line in sample["printed"].splitlines()).split(f"\n{LEFT_OUT}\n")
        rest = "\n".join(printed)
        for part in parts:
            place = rest.find(part)
            assert place >= 0, f"not printed by {sample['command']}:\n{part}"
            rest = rest[place + len(part) :]
        assert LEFT_OUT in sample["printed"].splitlines() or "\n".join(printed) == parts[0]
