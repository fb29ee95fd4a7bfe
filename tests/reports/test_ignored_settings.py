"""The first screen counts the settings that are ignored, also those of a deployment in YAML."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from proofka.model.deployment import read_deployment
from proofka.reports.terminal import print_brief_verdicts
from tests.reports import samples


def screen(tmp_path: Path, topic: str, above: int = 0) -> str:
    file = tmp_path / "d.yaml"
    file.write_text(f'kafka: "4.0"\ntopic: {{replicas: 3{topic}}}\nconsumer: {{group.id: g}}\n', encoding="utf-8")
    out = Console(file=io.StringIO(), width=120, markup=False, highlight=False)
    print_brief_verdicts(out, read_deployment(file), samples.HARMLESS, repair="proofka repair", above=above)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


@pytest.mark.parametrize(
    ("topic", "ignored"), [("max.message.bytes: 100", 1), ("max.message.bytes: 100, flush.ms: 9", 2)]
)
def test_ignored_settings_are_counted(tmp_path: Path, topic: str, ignored: int) -> None:
    """The release, the replicas and the group are used."""
    assert f"settings: 3 used, {ignored} ignored; more: proofka show" in screen(tmp_path, f", {topic}")


def test_without_ignored_settings_nothing_is_counted(tmp_path: Path) -> None:
    assert "ignored; more" not in screen(tmp_path, "")


def test_heading_with_the_files_leaves_the_count_out(tmp_path: Path) -> None:
    assert "ignored; more" not in screen(tmp_path, ", max.message.bytes: 100", above=3)
