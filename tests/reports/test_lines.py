"""Lines of reports: file names and commands that stay whole, so that they can be copied."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proofka.checker.cli import app
from proofka.reports.console import console
from proofka.reports.lines import print_wrapped, wrapped

LONG = "a/" * 60 + "producer.properties:17"


def test_file_name_wider_than_the_terminal_is_printed_whole() -> None:
    printed = io.StringIO()
    print_wrapped(console(printed), f"acks is set at {LONG} to 1", first="  ", rest="    ")
    assert f"    {LONG}\n" in printed.getvalue()


def test_command_is_in_one_line() -> None:
    said = [line.plain for line in wrapped("find changes that prevent this: proofka repair orders.yaml", 45)]
    assert said == ["find changes that prevent this:", "proofka repair orders.yaml"]


@pytest.mark.parametrize(("width", "whole"), [({"COLUMNS": None}, True), ({"COLUMNS": "80"}, False)])
def test_settings_are_one_line_each_in_a_pipe(tmp_path: Path, width: dict[str, str | None], whole: bool) -> None:
    folder = tmp_path / "a-folder-with-a-name-of-some-length"
    folder.mkdir()
    (folder / "producer.properties").write_text("acks=all\nbootstrap.servers=a:9092\n", encoding="utf-8")
    lines = CliRunner(env=width).invoke(app, ["show", str(folder)]).stdout.splitlines()
    (acks,) = (line for line in lines if line.startswith("  acks "))
    assert acks.rstrip().endswith(f"{folder}/producer.properties:1") is whole
    assert any("every client is assumed to find the brokers" in line for line in lines) is whole
    assert "─" * 121 not in "".join(lines)
