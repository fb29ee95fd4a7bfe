"""The port against the published counts and, state by state and step by step, against a second source."""

from __future__ import annotations

import re

import pytest

from proofka.checker.solver import Replayer, prove_domain_safety
from proofka.model.language import describe
from proofka.model.published.constants import PublishedProtocolError
from proofka.model.published.protocols import PROTOCOLS, PublishedProtocol, protocol
from tests.model.published.plain_explorer import Name, PlainProtocol, PlainState, plain_levels, violations
from tests.model.published.port import Packed, Port, meaning, python_function
from tests.model.published.table import LEVELS, LEVELS_CONSTANTS, ROWS, Row

QUICK = 11_000
"""States that Python alone explores in a second or so."""
SIZES = [
    (2, 2, 2, 1),
    (2, 3, 2, 1),  # more slots than records
    (2, 1, 2, 2),  # more records than slots
    (2, 1, 2, 0),
    (3, 2, 2, 0),
    (1, 2, 3, 2),
    (1, 1, 1, 0),
]
LARGER_SIZES = [(3, 1, 1, 1), (2, 3, 3, 2), (2, 2, 2, 3), (3, 1, 2, 1), (3, 2, 2, 1)]
QUICK_ROWS = [row for row in ROWS if row.states <= QUICK]
OTHER_ROWS = [row for row in ROWS if row.states > QUICK]


def published(name: str, replicas: int, log_size: int, records: int, epochs: int) -> PublishedProtocol:
    return protocol(name, replicas=replicas, log_size=log_size, records=records, epochs=epochs)


def check_row(row: Row) -> None:
    levels = plain_levels(PlainProtocol(row.protocol, **row.constants))
    violating = dict.fromkeys(row.violating, 0)
    traces: dict[str, int | None] = dict.fromkeys(row.traces)
    for length, level in enumerate(levels, 1):
        for state in level:
            for invariant, violated in violations(state).items():
                violating[invariant] += violated
                if violated and traces[invariant] is None:
                    traces[invariant] = length
    assert sum(map(len, levels)) == row.states
    assert len(levels) == row.levels
    assert violating == row.violating
    assert traces == row.traces


@pytest.mark.parametrize("row", QUICK_ROWS, ids=str)
def test_second_source_gives_the_published_counts(row: Row) -> None:
    check_row(row)


@pytest.mark.slow
@pytest.mark.parametrize("row", OTHER_ROWS, ids=str)
def test_second_source_gives_the_published_counts_of_larger_rows(row: Row) -> None:
    check_row(row)


def test_levels_add_up() -> None:
    of_levels = {row.protocol: row for row in ROWS if row.constants == LEVELS_CONSTANTS}
    assert of_levels.keys() == LEVELS.keys() == PROTOCOLS.keys()
    for name, row in of_levels.items():
        assert (sum(LEVELS[name]), len(LEVELS[name])) == (row.states, row.levels)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROTOCOLS)
def test_port_has_the_published_levels(name: str) -> None:
    levels = Port(protocol(name, **LEVELS_CONSTANTS).system).levels()
    assert tuple(map(len, levels)) == LEVELS[name]


def participants(action_name: str, arguments: dict[str, int]) -> Name:
    """Return an action's name and participants, with replicas numbered as in the description."""
    return action_name, tuple(value if what == "epoch" else value - 1 for what, value in arguments.items())


def compare(name: str, replicas: int, log_size: int, records: int, epochs: int) -> None:
    port_of = published(name, replicas, log_size, records, epochs)
    port, plain = Port(port_of.system), PlainProtocol(name, replicas, log_size, records, epochs)
    slots = port_of.constants.log_slots

    def meant(state: Packed) -> PlainState:
        return meaning(port.named(state), replicas, slots)

    violated = python_function(port.variables, list(port_of.violated.values()))
    levels = port.levels()
    expected = plain_levels(plain)
    assert list(map(len, levels)) == list(map(len, expected))
    for mine, theirs in zip(levels, expected, strict=True):
        meanings = {state: meant(state) for state in mine}
        assert set(meanings.values()) == set(theirs)
        for state, spoken in meanings.items():
            taken = [(participants(action.name, dict(action.arguments)), after) for action, after in port.steps(state)]
            steps = {step: meant(after) for step, after in taken}
            assert len(steps) == len(taken)
            assert steps == dict(plain.successors(spoken))
            truths = dict(zip(port_of.violated, map(bool, violated(state)), strict=True))
            assert truths == violations(spoken)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", PROTOCOLS)
def test_port_and_second_source_agree_in_every_state_and_step(name: str, size: tuple[int, int, int, int]) -> None:
    compare(name, *size)


@pytest.mark.slow
@pytest.mark.parametrize("size", LARGER_SIZES, ids=str)
@pytest.mark.parametrize("name", PROTOCOLS)
def test_port_and_second_source_agree_in_larger_systems(name: str, size: tuple[int, int, int, int]) -> None:
    compare(name, *size)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_no_update_leaves_its_domain(name: str) -> None:
    system = published(name, 3, 2, 2, 2).system
    assert prove_domain_safety(system).actions == system.actions


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_kind_of_action_happens_and_reads_well(name: str) -> None:
    system = published(name, 2, 2, 2, 1).system
    port, replayer = Port(system), Replayer(system)
    sentences: dict[str, str] = {}
    for level in port.levels():
        for state in level:
            for action, after in port.steps(state):
                if action.name not in sentences:
                    before, following = port.named(state), port.named(after)
                    assert replayer.step(before, action) == following
                    sentences[action.name] = action.sentence(before, following)
    assert sentences.keys() == {action.name for action in system.actions}
    assert re.fullmatch(r"r\d fetches record 1 from r\d, high watermark 0", sentences["fetch"])
    assert re.fullmatch(r"the controller elects r\d; r\d leads in epoch 0, ISR \{r1, r2\}", sentences["elect_leader"])


def test_a_state_is_shown_in_words() -> None:
    system = published("kip-320", 2, 2, 2, 1).system
    port = Port(system)
    state = port.initial
    for name in ("elect_leader", "become_leader", "write", "become_follower", "fetch", "increment_high_watermark"):
        state = next(after for action, after in port.steps(state) if action.name == name)
    assert describe(system, port.named(state)) == {
        "leader": "r1",
        "leader epoch": "0",
        "ISR": "{r1, r2}",
        "request of epoch 0": "leader r1, ISR {r1, r2}",
        "request of epoch 1": "none",
        "r1's role": "leader in epoch 0, ISR {r1, r2}",
        "r1's log": "[record 1 @0]",
        "r1's high watermark": "1",
        "r2's role": "follower of r1 in epoch 0",
        "r2's log": "[record 1 @0]",
        "r2's high watermark": "0",
        "records written": "1",
    }


@pytest.mark.parametrize("size", [(3, 2, 2, 2), (3, 3, 3, 2), (3, 2, 2, 3)], ids=str)
def test_a_state_fits_into_one_word(size: tuple[int, int, int, int]) -> None:
    variables = published("kip-320", *size).system.variables
    assert sum(max(1, (variable.high - variable.low).bit_length()) for variable in variables) <= 64


def test_unknown_protocols_and_senseless_constants_are_refused() -> None:
    with pytest.raises(PublishedProtocolError, match=r"no published protocol 'kip-1': choose one of .*kip-320$"):
        published("kip-1", 2, 2, 2, 1)
    with pytest.raises(PublishedProtocolError, match="replicas is 0: it must be at least 1"):
        published("kip-320", 0, 2, 2, 1)
    with pytest.raises(PublishedProtocolError, match="epochs is -1: it must be at least 0"):
        published("kip-320", 2, 2, 2, -1)
