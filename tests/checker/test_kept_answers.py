"""Answers under an explicit number of faults stay what they were, to the state, whatever makes them faster.

``kept/answers.json`` was written before the work on speed began: by command, the counts of the exploration and of each
verdict its id, its states, and the length of the trace of each smallest fault set. An entry may change only with the
model, and with the model's version; or where a fault set is decided that a limit of timed re-exploration had left
undecided (of idempotent-resend: ``processing-order`` with a follower cut off, 22 steps; ``no-log-duplicate``,
``no-reprocessing`` and ``exactly-once-effect`` with a kill, 25 and 26 steps, which need more than 512 timing flags).
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from proofka.checker.check import check
from proofka.checker.source import Source, narrowed
from proofka.model.deployment.deployment import Deployment
from proofka.properties.verdict import Result, Verdict

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).parent / "kept" / "answers.json"
KEPT: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
SLOW_FROM = 5_000
"""States from which on a command is a slow test."""


def deployment_of(command: str) -> Deployment:
    place, _, faults = command.partition(" --faults ")
    return narrowed(source_of(place).read(), faults, None)


def source_of(place: str) -> Source:
    if place.endswith(".yaml"):
        return Source(ROOT / place)
    folder = ROOT / place
    files = {name: folder / f"{name}.properties" for name in ("topic", "producer", "consumer")}
    consumer = files["consumer"] if files["consumer"].exists() else None
    release = folder.name.removeprefix("java-defaults-") if folder.name.startswith("java-defaults-") else "3.9"
    return Source(None, release, str(files["topic"]), None, files["producer"], consumer)


def kept_of(verdict: Verdict) -> dict[str, Any]:
    sets = {
        ", ".join(f"{count} {kind}" for kind, count in trace.faults) or "no fault": len(trace.steps)
        for trace in verdict.traces
    }
    return {
        "id": verdict.id,
        "sets": sets,
        "states": verdict.states,
        "status": verdict.status.value,
        "witness_reached": verdict.witness_reached,
    }


def found_in(result: Result) -> dict[str, Any]:
    engine = result.engine
    return {
        "states": engine.states,
        "transitions": engine.transitions,
        "depth": engine.depth,
        "verdicts": {verdict.property: kept_of(verdict) for verdict in result.verdicts},
    }


def is_slow(command: str) -> bool:
    """Tell whether a command explores many states, or is quick but explores more faults as well."""
    place, _, faults = command.partition(" --faults ")
    more = KEPT.get(f"{place} --faults {int(faults) + 1}")
    states = KEPT[command]["states"]
    return states >= SLOW_FROM or (more is not None and more["states"] == states)


def commands() -> list[Any]:
    return [pytest.param(command, marks=[pytest.mark.slow] if is_slow(command) else []) for command in KEPT]


@pytest.mark.parametrize("command", commands())
def test_the_answer_is_the_one_that_was_kept(command: str) -> None:
    found = found_in(check(deployment_of(command)))
    if os.environ.get("PROOFKA_KEPT") == "write-ids":
        KEPT[command] = with_ids(KEPT[command], found)
        FILE.write_text(json.dumps(KEPT, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    assert found == {name: value for name, value in KEPT[command].items() if name != "exit"}


def with_ids(kept: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Return the kept answer with the ids of the answer that was found: a version of the model changes all ids."""
    verdicts = {name: {**verdict, "id": found["verdicts"][name]["id"]} for name, verdict in kept["verdicts"].items()}
    return {**kept, "verdicts": verdicts}


def test_only_ids_of_a_kept_answer_are_written() -> None:
    kept = {"states": 3, "verdicts": {"no-skip": {"id": "a", "states": 3}}}
    found = {"states": 4, "verdicts": {"no-skip": {"id": "b", "states": 4}}}
    assert with_ids(kept, found) == {"states": 3, "verdicts": {"no-skip": {"id": "b", "states": 3}}}
