"""The recipes for continuous integration: YAML that parses, and options and endings that there are."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from proofka.checker.cli.program import app
from proofka.properties.verdict import Trace
from proofka.reports import wording
from proofka.reports.formats import FORMATS
from proofka.reports.markdown import to_markdown
from tests.reports import samples

TEXT = (Path(__file__).parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")
WORKFLOWS = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
COMMANDS = re.findall(r"proofka check (PATH .*|deploy/.*(?:\n +--.*)?)", TEXT)
SUMMARY = 1 << 20
"""Largest number of bytes that GitHub accepts for a step's summary."""


def test_page_has_recipes_for_github_and_gitlab() -> None:
    github, gitlab = (YAML(typ="safe", pure=True).load(text) for text in WORKFLOWS)
    steps = github["jobs"]["check"]["steps"]
    assert github["permissions"]["security-events"] == "write"
    assert next(step["name"] for step in steps if "name" in step) == "Check"
    assert all("!cancelled()" in step["if"] for step in steps[4:])
    assert gitlab["proofka"]["artifacts"]["reports"]["junit"] == "proofka.xml"
    assert len(COMMANDS) == 4


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_the_recipes_exist(command: str) -> None:
    import typer

    known = {name for param in typer.main.get_command(app).commands["check"].params for name in param.opts}  # type: ignore[attr-defined]
    words = shlex.split(command.rstrip("'"))
    assert {word for word in words if word.startswith("--")} <= known
    for option, path in itertools.pairwise(words):
        if option == "--report":
            assert Path(path).suffix in FORMATS


def test_every_format_is_in_the_table() -> None:
    table = TEXT[TEXT.index("| ending |") : TEXT.index("**The line to blame")]
    for suffix in FORMATS:
        assert f"`{suffix}`" in table


def test_a_summary_begins_with_the_verdicts_and_has_room_for_many_traces() -> None:
    """A hundred traces of a dozen steps are a quarter of what GitHub takes; what is cut off is the end of the page."""
    step = replace(samples.APPEND, at=7_000)
    traces = tuple(
        Trace((("kill", number),), (step,) * 12, f"record {number} is not in the log") for number in range(1, 101)
    )
    verdict = replace(samples.VIOLATED, traces=traces, cut_sets=tuple(trace.faults for trace in traces))
    result = replace(samples.RESULT, verdicts=(verdict,))
    page = to_markdown(samples.DEPLOYMENT, result, command=samples.COMMAND)
    assert page.count("<details>") == page.count("</details>") == 100
    assert page.index("## Verdicts") < page.index("<details>")
    assert len(page.encode()) < SUMMARY / 2


@pytest.mark.parametrize("times", [1, 15])
def test_the_recipe_s_summary_is_small_enough_and_links_nothing_that_is_missing(times: int, tmp_path: Path) -> None:
    """Run as GitHub runs it: with ``bash -e``, at the end of what other steps wrote."""
    github = YAML(typ="safe", pure=True).load(WORKFLOWS[0])
    (run,) = (step["run"] for step in github["jobs"]["check"]["steps"] if step.get("name") == "Summary")
    traces = tuple(replace(samples.KILL_TRACE, faults=(("kill", number),)) for number in range(1, 100 * times))
    verdict = replace(samples.VIOLATED, traces=traces, cut_sets=tuple(trace.faults for trace in traces))
    result = replace(samples.RESULT, verdicts=(verdict, samples.HOLDS))
    page = to_markdown(samples.HOSTILE_DEPLOYMENT, result, command=samples.COMMAND)
    (tmp_path / "proofka.md").write_text(page, encoding="utf-8")
    summary = tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    environment = {**os.environ, "GITHUB_STEP_SUMMARY": str(summary)}
    subprocess.run(["bash", "-e", "-c", run], cwd=tmp_path, env=environment, check=True)
    written = summary.read_bytes()
    assert written.startswith(b"before\n# ")
    assert len(written) <= SUMMARY
    assert (len(page.encode()) > SUMMARY) == (times > 1)
    text = written.decode(errors="ignore")
    assert "](" not in text.replace("\\](", "")
    assert wording.answer(result.verdicts)[:30] in text[:2000]
    assert "## Verdicts" in text
