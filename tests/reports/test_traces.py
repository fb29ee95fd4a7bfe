"""Traces on a terminal: the list, the steps with the state beside them, one step, and the pager."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from proofka.properties.verdict import Change, Trace
from proofka.reports.beside import StoryBeside
from proofka.reports.one_step import StepReport
from proofka.reports.pager import print_paged
from proofka.reports.story import Telling, tellings
from proofka.reports.trace_list import TraceList
from tests.reports import itf_reader, samples
from tests.reports.test_terminal import matches, sheet, text_of

TOLD = tellings(samples.RESULT.verdicts, all_traces=True)
TIMED = Telling(
    replace(samples.KILL_TRACE, steps=tuple(replace(s, at=1000 * n) for n, s in enumerate(samples.KILL_TRACE.steps))),
    TOLD[0].violated,
)
HOSTILE = tellings(samples.HOSTILE_RESULT.verdicts, all_traces=True)[0]


def printed(shown: object, width: int) -> str:
    out = sheet(width)
    out.print(shown)
    return text_of(out)


@pytest.mark.parametrize("width", [60, 80])
def test_golden_list(width: int) -> None:
    text = printed(TraceList(TOLD), width)
    assert max(map(len, text.splitlines())) <= width
    matches(f"traces-{width}.txt", text)


@pytest.mark.parametrize("width", [80, 120])
def test_golden_trace(width: int) -> None:
    text = printed(StoryBeside(TIMED), width)
    assert max(map(len, text.splitlines())) <= width
    matches(f"trace-{width}.txt", text)


@pytest.mark.parametrize(("width", "step"), [(60, 3), (80, 4)])
def test_golden_step(width: int, step: int) -> None:
    text = printed(StepReport(TIMED, step), width)
    assert max(map(len, text.splitlines())) <= width
    matches(f"step-{step}-{width}.txt", text)


def test_the_state_stands_beside_the_story_only_where_there_is_room() -> None:
    assert "broker 1's log: [1]" in printed(StoryBeside(TOLD[0]), 100)
    narrow = printed(StoryBeside(TOLD[0]), 99)
    assert "What changed" in narrow
    assert "after step" not in narrow


def test_the_state_after_a_step() -> None:
    """Each part has its value after the step, and changed parts have their values before the step as well."""
    start, appended, killed = (printed(StepReport(TOLD[0], step), 80) for step in (0, 2, 3))
    assert "│ broker 1's log: []\n" in start
    assert "●" not in start
    assert "● broker 1's log: [1] (before: [])\n" in appended
    assert "● record 1: acknowledged (before: on its way to broker 1)\n" in appended
    assert "│ broker 1: up\n" in appended
    assert "● broker 1: down (before: up)\n" in killed
    assert "│ broker 1's log: [1]\n" in killed
    assert "Fails" not in killed
    assert "Fails no-acked-loss: record 1" in printed(StepReport(TOLD[0], 4), 80)


def test_a_step_that_changes_nothing_says_so() -> None:
    told = Telling(samples.MOVE_TRACE, TOLD[0].violated)
    text = printed(StepReport(told, 3), 80)
    assert "This step changed nothing that is shown here" in text
    assert "has no initial state" in text


@pytest.mark.parametrize("width", [60, 120])
def test_input_is_never_markup(width: int) -> None:
    for shown in (TraceList([HOSTILE]), StoryBeside(HOSTILE), StepReport(HOSTILE, 1)):
        text = printed(shown, width)
        assert "\x1b" not in text
        assert "\nsecond" not in text


def watched(height: int) -> Console:
    return Console(file=io.StringIO(), width=80, height=height, force_terminal=True, markup=False, highlight=False)


def test_only_output_longer_than_the_screen_is_paged(monkeypatch: pytest.MonkeyPatch) -> None:
    paged: list[str] = []
    monkeypatch.setattr("pydoc.pager", paged.append)
    monkeypatch.setenv("LESS", "-R")
    tall, low = watched(100), watched(10)
    print_paged(tall, StoryBeside(TOLD[0]))
    assert not paged
    assert "broker 1 is killed" in text_of(tall)
    print_paged(low, StoryBeside(TOLD[0]))
    assert "broker 1 is killed" in paged[0]
    assert text_of(low) == ""
    piped = sheet(80)
    print_paged(piped, StoryBeside(TOLD[0]))
    assert len(paged) == 1
    assert "broker 1 is killed" in text_of(piped)


def check_itf(text: str) -> dict[str, object]:
    """Return the document, which a strict reader accepts and whose values have the declared types."""
    read = itf_reader.read(text)
    types = read.meta["varTypes"]
    assert set(types) == set(read.variables)
    for state in read.states:
        assert [
            name for name in state if not isinstance(state[name], {"Str": str, "Seq(Str)": list}[types[name]])
        ] == []
        assert list(state) == list(read.variables)
    return dict(json.loads(text))


@pytest.mark.parametrize(
    ("states", "wrong"),
    [
        ('[{"x": 1}]', "1 is no value"),
        ('[{"x": {"#bigint": 1}}]', "is no record"),
        ('[{"x": {"#bigint": "01"}}]', "no number"),
        ('[{"x": {"#map": [["a"]]}}]', "pairs"),
        ('[{"x": {"#tup": [{"#set": [null]}]}}]', "None is no value"),
        ('[{"y": "a"}]', "declared"),
        ('[{"x": "a", "y": "b"}]', "declared"),
        ('[{"x": "a", "x": "b"}]', "twice"),
        ('[{"x": "a", "#meta": {"index": 1}}]', "another index"),
        ('[{"x": NaN}]', "NaN"),
        ("[]", "a state at least"),
    ],
)
def test_the_reader_of_itf_is_strict(states: str, wrong: str) -> None:
    with pytest.raises(itf_reader.NotITF, match=wrong):
        itf_reader.read(f'{{"vars": ["x"], "states": {states}}}')


def test_the_reader_of_itf_knows_every_kind_of_value() -> None:
    value = '{"#map": [[{"#tup": [{"#bigint": "-12"}, true]}, {"#set": [{"a": "b"}, []]}]]}'
    assert len(itf_reader.read(f'{{"vars": ["x"], "states": [{{"x": {value}}}], "loop": 0}}').states) == 1
    with pytest.raises(itf_reader.NotITF, match="identifiers"):
        itf_reader.read('{"vars": ["broker 1"], "states": [{"broker 1": ""}]}')


def test_golden_itf() -> None:
    from proofka.reports.itf import to_itf

    text = to_itf(TIMED, source="orders.json")
    check_itf(text)
    matches("trace.itf.json", text)


def test_itf_has_every_state() -> None:
    from proofka.reports.itf import to_itf

    states = check_itf(to_itf(TOLD[0], source="orders.json"))["states"]
    assert isinstance(states, list)
    assert [state["broker_1_log"] for state in states] == [[], [], ["1"], ["1"], ["1"]]
    assert [state["broker_1"] for state in states] == ["up", "up", "up", "down", "down"]
    assert [state["faults"] for state in states] == [[], [], [], ["kill"], ["kill"]]
    assert [state["fault"] for state in states] == ["", "", "", "kill", ""]
    assert states[4]["step"] == "the controller elects broker 2 from the ISR, epoch 2"
    assert states[4]["actor"] == "controller"
    assert "at_ms" not in states[0]


def test_itf_of_a_trace_without_an_initial_state() -> None:
    """A part that appears late has its value before the first change; equal names get numbers."""
    from proofka.reports.itf import to_itf

    steps = (
        replace(samples.SEND, changes=(Change("a b", "1", "2"), Change("a-b", "x", "y"), Change("1", "p", "q"))),
        replace(samples.SEND, changes=(Change("step", "old", "new"), Change(samples.HOSTILE, "", "\x1b", ("\x1b",)))),
    )
    told = Telling(Trace((), steps, "it fails"), TOLD[0].violated)
    text = to_itf(told, source=samples.HOSTILE)
    states = check_itf(text)["states"]
    assert isinstance(states, list)
    assert [state["a_b"] for state in states] == ["1", "2", "2"]
    assert [state["a_b_2"] for state in states] == ["x", "y", "y"]
    assert [state["part_1"] for state in states] == ["p", "q", "q"]
    assert [state["step_2"] for state in states] == ["old", "old", "new"]
    assert "\\u001b" not in text
    assert "\x1b" not in text
