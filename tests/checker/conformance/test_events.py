"""Events, their tables, and recordings as JSON."""

from __future__ import annotations

import json
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofka.checker.conformance.asked_event import ACTION_ROWS, NEVER, SILENT, seen_as
from proofka.checker.conformance.conditions import Condition
from proofka.checker.conformance.errors import BadRecording, UnknownAction, UnknownEvent
from proofka.checker.conformance.events import EVENT_ROWS, Event, Recording, from_json, to_json
from proofka.checker.conformance.explanations import explain
from proofka.checker.conformance.row_set import RowSet
from proofka.checker.kernel.layout import lay_out
from proofka.model.faults import Fault
from proofka.model.pipeline import build
from proofka.properties.catalogue import properties_of
from tests.checker.asking import EXAMPLES, example
from tests.checker.conformance.small_models import three_brokers, walks
from tests.checker.plain_evaluator import holds


@pytest.mark.parametrize("name", sorted(file.stem for file in EXAMPLES.glob("*.yaml")))
def test_the_table_has_every_action(name: str) -> None:
    for action in build(example(name)).system.actions:
        assert seen_as(action) is not None


def test_an_action_without_a_row_is_refused() -> None:
    action = build(example("acks-1")).system.actions[0]
    object.__setattr__(action, "name", "unheard_of")
    with pytest.raises(UnknownAction, match=r"E02: .*unheard_of"):
        seen_as(action)


def test_the_tables_fit_together() -> None:
    shown = {kind for row in ACTION_ROWS.values() for kind in row["seen_as"].split()} - {*NEVER}
    assert shown <= EVENT_ROWS.keys()
    for row in ACTION_ROWS.values():
        assert bool(row["reason"]) == (tuple(row["seen_as"].split()) in (SILENT, NEVER)), row["action"]
        assert bool(row["errors"]) == (row["seen_as"] == "answered"), row["action"]
    for row in EVENT_ROWS.values():
        assert all(Fault(kind) for kind in row["faults"].split())


def test_a_recording_survives_json() -> None:
    model = three_brokers("acks-1")
    _, events = walks(model, 1, 40)[0]
    recording = Recording(model.pipeline.deployment, tuple(events), {"release": "4.0.0", "seed": 7})
    assert from_json(to_json(recording)) == recording


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "no recording"),
        ("{", "no recording"),
        ('{"format": 1}', "no recording"),
        ('{"format": 99}', "format 99"),
        (json.dumps({"format": 1, "about": {}, "deployment": {}, "events": []}), "not readable"),
        (json.dumps({"format": 1, "events": [{"kind": "killed", "arguments": "a"}]}), "no object"),
    ],
)
def test_a_text_that_is_no_recording_is_refused(text: str, words: str) -> None:
    with pytest.raises(BadRecording, match=rf"E03: .*{words}"):
        from_json(text)


@pytest.mark.parametrize(
    ("kind", "arguments", "words"),
    [
        ("unheard", {}, "no kind of event"),
        ("killed", {}, "needs the argument broker"),
        ("killed", {"broker": 7}, "cannot express killed"),
        ("sent", {"batch": 9}, "cannot express sent"),
        ("reported", {"batch": -1, "error": None}, "cannot express reported"),
        ("decided", {"leader": 1, "epoch": 1, "isr": [1, 2, 9]}, "cannot express decided"),
        ("log", {"broker": 1, "entries": [{"record": 0, "epoch": 1}] * 9}, r"raise bounds\.log"),
    ],
)
def test_an_event_that_the_model_lacks_is_refused(kind: str, arguments: dict[str, object], words: str) -> None:
    model = three_brokers("acks-1")
    with pytest.raises(UnknownEvent, match=rf"E01: .*{words}"):
        explain(model.pipeline, model.system.actions, Event(kind, arguments, opens=0, closes=0))


def text_of(**changed: object) -> str:
    """Return the text of a recording with one event, some of whose members are changed."""
    row = {"kind": "killed", "arguments": {"broker": 1}, "opens": 0, "closes": 1} | changed
    document = json.loads(to_json(Recording(example("acks-1"), (Event("killed", {"broker": 1}, opens=0, closes=1),))))
    return json.dumps(document | {"events": [row]})


@pytest.mark.parametrize(
    ("kind", "arguments", "words"),
    [
        ("killed", {"broker": "1"}, "needs a number as its argument broker"),
        ("killed", {"broker": True}, "needs a number as its argument broker"),
        ("killed", {"broker": 1, "kept": 0}, "has the argument kept"),
        ("log", {"broker": 1, "entries": 5}, "needs a list of entries"),
        ("log", {"broker": 1, "entries": [{"record": 0}]}, "needs a list of entries"),
        ("log", {"broker": 1, "entries": [{"record": 0, "epoch": 1, "sequense": 3}]}, "needs a list of entries"),
        ("decided", {"leader": 1, "epoch": 1, "isr": None}, "needs a list of numbers"),
        ("decided", {"leader": 1, "epoch": 1, "isr": [1], "fenced": "2"}, "needs a number as its argument fenced"),
        ("reported", {"batch": 0, "error": []}, "needs a number, a text or null"),
    ],
)
def test_a_file_with_arguments_of_another_form_is_refused(kind: str, arguments: dict[str, object], words: str) -> None:
    with pytest.raises(UnknownEvent, match=rf"E01: the event {kind}.*{words}"):
        from_json(text_of(kind=kind, arguments=arguments))


@pytest.mark.parametrize("time", ["abc", "1", None, True, float("nan"), float("inf")])
def test_a_file_whose_time_is_no_number_is_refused(time: object) -> None:
    assert from_json(text_of()).events
    with pytest.raises(BadRecording, match=r"E03: .* is no time"):
        from_json(text_of(closes=time))


def test_a_recording_without_events_is_refused() -> None:
    with pytest.raises(BadRecording, match=r"E03: .*no events"):
        from_json(to_json(Recording(example("acks-1"), ())))


def test_an_event_does_not_end_before_it_begins() -> None:
    with pytest.raises(UnknownEvent, match="ends before"):
        Event("killed", {"broker": 1}, opens=2, closes=1)


def test_conditions_of_many_states_are_those_of_each_state() -> None:
    model = three_brokers("acks-all-min-isr-2")
    states = [taken.after for walk, _ in walks(model, 3, 40) for taken in walk]
    layout = lay_out(model.system.variables)
    rows = np.array([layout.pack(state) for state in states])
    terms = [action.guard for action in model.system.actions[::9]]
    terms += [prop.violated for prop in properties_of(model.pipeline) if prop.goal is None]
    for term in terms:
        assert [bool(value) for value in Condition(term, layout).holds(rows)] == [holds(term, s) for s in states]


@given(st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2**64 - 1)), max_size=200), max_size=6))
def test_a_row_set_keeps_each_row_once_in_order(parts: list[list[tuple[int, int]]]) -> None:
    rows = RowSet(2)
    for part in parts:
        rows.add(np.array(part, dtype=np.uint64).reshape(len(part), 2))
    wanted = list(dict.fromkeys(row for part in parts for row in part))
    assert [tuple(int(word) for word in row) for row in rows.rows] == wanted


def test_a_row_set_grows() -> None:
    random, rows = Random(1), RowSet(1)
    numbers = [random.randrange(50_000) for _ in range(40_000)]
    rows.add(np.array(numbers, dtype=np.uint64)[:, np.newaxis])
    rows.add(np.arange(50_000, dtype=np.uint64)[:, np.newaxis])
    assert rows.count == 50_000
