"""Output on a terminal: golden text at three widths, colour, markup in the input, progress."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from proofka.model.deployment.deployment import Deployment
from proofka.properties.verdict import Progress, Result, Verdict
from proofka.reports.progress import ProgressLine, describe
from proofka.reports.settings import SettingsReport
from proofka.reports.terminal import console, print_answer, print_overview, print_result
from proofka.reports.wording import answer_of_all
from tests.reports import samples
from tests.reports.golden_files import matches


def sheet(width: int, *, terminal: bool = False) -> Console:
    out = Console(file=io.StringIO(), width=width, force_terminal=terminal, markup=False, highlight=False, emoji=False)
    return out


def text_of(out: Console) -> str:
    assert isinstance(out.file, io.StringIO)
    return "".join(f"{line.rstrip()}\n" for line in out.file.getvalue().splitlines())


def shown(
    width: int,
    deployment: Deployment = samples.DEPLOYMENT,
    result: Result = samples.RESULT,
    *,
    all_traces: bool = False,
) -> str:
    out = sheet(width)
    print_result(out, deployment, result, command=samples.COMMAND, repair="proofka repair", all_traces=all_traces)
    return text_of(out)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_golden(width: int) -> None:
    text = shown(width)
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text
    matches(f"check-{width}.txt", text)


@pytest.mark.parametrize("width", [60, 80])
def test_golden_settings(width: int) -> None:
    out = sheet(width)
    out.print(SettingsReport(samples.DEPLOYMENT))
    text = text_of(out)
    assert max(map(len, text.splitlines())) <= width
    matches(f"show-{width}.txt", text)


def test_the_answer_stands_on_the_first_screen() -> None:
    for width in (60, 80, 120):
        assert "No: no-acked-loss can fail" in "\n".join(shown(width).splitlines()[:23])


def test_a_run_that_violates_two_properties_is_told_once() -> None:
    text = shown(80)
    assert text.count("FAULT kill") == 1
    assert "── no-acked-loss and no-loss violated by {kill}" in text
    assert "2 more traces: --all-traces" in text


def test_all_traces() -> None:
    text = shown(80, all_traces=True)
    assert "violated by {leader-move}, 3 steps" in text
    assert "violated by {power-loss, 2 slow-follower}" in text
    assert "--all-traces" not in text


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_table_shows_six_fault_sets_unless_all_are_asked_for(width: int) -> None:
    result = replace(samples.RESULT, verdicts=(samples.MANY_SETS,))
    table = shown(width, result=result).partition("* required")[0]
    assert (table.count("power-loss}"), table.count("+3 more")) == (6, 1)
    table = shown(width, result=result, all_traces=True).partition("* required")[0]
    assert (table.count("power-loss}"), table.count("+3 more")) == (9, 0)


def test_lanes_that_nothing_happens_in_are_left_out() -> None:
    trace = replace(samples.KILL_TRACE, steps=(samples.SEND, samples.CRASH))
    text = shown(
        80,
        result=replace(
            samples.RESULT, verdicts=(replace(samples.VIOLATED, cut_sets=(trace.faults,), traces=(trace,)),)
        ),
    )
    assert "   producer\n   │ consumer\n 1 ● │  the application" in text
    assert " 2 │ ✗  FAULT consumer-crash: the consumer crashes" in text


def test_assumptions_are_shown_with_the_verdicts_that_they_change() -> None:
    text = shown(80)
    assert "\n  on_send_error=drop, processing=poll-thread\n" in text
    assert "\n  with processing=handed-off, no-skip is violated by {consumer-crash}\n" in text


@pytest.mark.parametrize("width", [60, 80, 120])
def test_input_is_never_markup(width: int) -> None:
    text = shown(width, samples.HOSTILE_DEPLOYMENT, samples.HOSTILE_RESULT)
    assert "\x1b" not in text
    assert "[bold" in text
    assert r"\x1b[31m\nsecond" in text
    assert "\nsecond" not in text


@pytest.mark.parametrize("width", [60, 120])
def test_settings_are_never_markup(width: int) -> None:
    out = sheet(width, terminal=True)
    out.print(SettingsReport(samples.HOSTILE_DEPLOYMENT))
    assert "\x1b[31m" not in text_of(out)
    assert "\nsecond" not in text_of(out)


def test_colour_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    assert not console(io.StringIO()).is_terminal
    out = sheet(80, terminal=True)
    print_answer(out, samples.RESULT)
    assert "\x1b[1;31m" in text_of(out)
    monkeypatch.setenv("NO_COLOR", "1")
    out = sheet(80, terminal=True)
    print_answer(out, samples.RESULT)
    assert "31m" not in text_of(out)


def test_wide_terminals_are_not_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    assert console(io.StringIO()).width == 120


def test_progress() -> None:
    progress = Progress(2, (("kill", 1), ("power-loss", 1)), 1_234_567, 10_200_000.0, 150_000_000)
    line = "2 faults {kill, power-loss}: 1,234,567 states, 10.2 M/s, 150 MB"
    assert describe(progress) == line
    assert describe(replace(progress, in_time="no-loss")) == f"no-loss in time, {line}"

    piped = sheet(100)
    with ProgressLine(piped) as show:
        show(progress)
    assert text_of(piped) == ""

    watched = sheet(100, terminal=True)
    with ProgressLine(watched) as show:
        show(progress)
    assert line in text_of(watched)


def test_several_pipelines_have_one_answer_and_each_its_own() -> None:
    out = sheet(60)
    print_overview(out, [("orders", samples.RESULT), ("billing", samples.HARMLESS)])
    text = text_of(out)
    assert max(map(len, text.splitlines())) <= 60
    assert text.startswith(
        "\nNo: a required property can fail in 1 of 2 pipelines.\n  orders: No: no-acked-loss can fail"
    )
    assert "\n  billing: Yes: " in text
    out = sheet(80)
    print_overview(out, [("billing", samples.HARMLESS)] * 2, whole=False)
    assert "Some pipelines could not be checked." in " ".join(text_of(out).split())


@pytest.mark.parametrize(
    ("verdicts", "answer"),
    [
        ((samples.HOLDS, samples.VIOLATED), "No: a required property can fail in 1 of 2 pipelines."),
        ((samples.UNKNOWN, samples.VACUOUS), "Undecided: a required property in 1 of 2 pipelines."),
        ((samples.VACUOUS, samples.HOLDS), "No evidence: "),
        ((samples.HOLDS, samples.HOLDS), "Yes: all required properties of 2 pipelines hold within the bounds above."),
    ],
)
def test_the_worst_decides(verdicts: tuple[Verdict, ...], answer: str) -> None:
    assert answer_of_all([[replace(one, required=True)] for one in verdicts]).startswith(answer)
    unasked = [[replace(one, required=False)] for one in verdicts]
    assert answer_of_all(unasked) == "Nothing is required of 2 pipelines."
