"""Certificates of explorations in partitions: the sets of the embedded engine, packed range by range by the tasks."""

from __future__ import annotations

import re
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

from proofka.checker.budget import Budget
from proofka.checker.check import Run
from proofka.checker.distributed import packing
from proofka.checker.distributed.goal_task import MARKS
from proofka.checker.distributed.running import DistributedError
from proofka.checker.engine import Engine
from proofka.model.deployment import Deployment
from proofka.model.faults import Fault
from tests.certificates.reading import members_of
from tests.checker.asking import SMALL, example, run
from tests.checker.certificates.accepting import certified
from tests.checker.distributed.test_engines import TIGHT, auto, partitioned
from tests.deployments import changed

ASKED = ("no-acked-loss", "recoverability")
"""A property that a kill violates, so that some combinations are not explored to the end, and a property with ranks."""
STEPS = re.compile(r"(?<=\) )[0-9 ]+(?=\)$)|\(witness [0-9 ]*\)", re.MULTILINE)
"""Runs differ, because each engine finds the states of a level in its own order."""


def deployment() -> Deployment:
    return changed(example("acks-1", (Fault.KILL, Fault.POWER_LOSS)), bounds=SMALL, replicas=2)


def checked(engine: Engine | None = None, budget: Budget | None = None, *, asked: Deployment | None = None) -> Run:
    return run(asked or deployment(), ASKED, budget, *([] if engine is None else [engine]))


def members(file: Path) -> dict[str, bytes]:
    return members_of(file.read_bytes())


def rows_of(found: dict[str, bytes]) -> dict[str, NDArray[np.uint64]]:
    """Return the rows of each member with states, without their ranks."""
    rows = {}
    for number, part in enumerate(found["certificate.txt"].decode().split("\n(system ")[1:]):
        words = 1 + part.count("\n(word)\n")
        ranks = 2 if '(claim "recoverability"' in part else 0
        for name in (name for name in found if name.startswith(f"{number}/")):
            count, rest = divmod(len(found[name]), 8 * words + ranks)
            assert not rest, name
            columns = np.frombuffer(found[name][: 8 * words * count], dtype="<u8").reshape(words, count)
            rows[name] = np.bitwise_xor.accumulate(columns, axis=1).T
    return rows


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the members of the embedded engine's certificate."""
    file = tmp_path_factory.mktemp("embedded") / "a.cert"
    assert set(certified(checked(), file).certified) == set(ASKED)
    return members(file)


def without_runs(text: bytes) -> str:
    """Return the text of a certificate without the steps of its runs."""
    return STEPS.sub("", text.decode())


@pytest.mark.parametrize("partitions", [1, 3, 8])
def test_the_same_sets_and_claims(tmp_path: Path, embedded: dict[str, bytes], partitions: int) -> None:
    """Each set has the same rows in the same order; ranks and runs are others, which the checker accepts."""
    certified(checked(partitioned(tmp_path, [], partitions)), tmp_path / "a.cert")
    found = members(tmp_path / "a.cert")
    assert found.keys() == embedded.keys()
    for name, content in found.items():
        if name == "certificate.txt":
            assert without_runs(content) == without_runs(embedded[name])
        elif not name[0].isdigit():
            assert content == embedded[name], name
    rows, expected = rows_of(found), rows_of(embedded)
    assert {name: one.tolist() for name, one in rows.items()} == {name: one.tolist() for name, one in expected.items()}


def states_of(file: Path) -> dict[str, list[tuple[int, ...]]]:
    """Return the states of each set, from all of its members."""
    found, sets = rows_of(members(file)), dict[str, list[tuple[int, ...]]]()
    for name in sorted(found, key=lambda one: [int(part) for part in re.findall(r"\d+", one)]):
        sets.setdefault(name.split(".")[0], []).extend(map(tuple, found[name].tolist()))
    return sets


def test_a_large_set_has_a_member_for_each_range(tmp_path: Path) -> None:
    """The members of a set, one after the other, are sorted, and no state is lost or in two of them."""
    certified(checked(), tmp_path / "a.cert")
    with patch.object(packing, "MEMBER_ROWS", 50), patch.object(packing, "SAMPLED", 4):
        certified(checked(partitioned(tmp_path, [])), tmp_path / "b.cert")
    expected, found = states_of(tmp_path / "a.cert"), states_of(tmp_path / "b.cert")
    assert found == expected
    assert all(states == sorted(states) for states in found.values())
    names = rows_of(members(tmp_path / "b.cert"))
    assert len(names) >= sum(len(states) // 50 for states in expected.values()) > 2 * len(expected)


def test_states_that_were_handed_over_get_ranks(tmp_path: Path) -> None:
    """The embedded engine explored the smaller combinations; states of these have ranks of the other engine, too."""
    noted: list[object] = []
    larger = changed(example("acks-1", (Fault.KILL, Fault.POWER_LOSS)), bounds=SMALL)
    once = checked(auto(tmp_path, noted), TIGHT, asked=larger)  # type: ignore[arg-type]
    assert noted, "the memory sufficed"
    assert set(certified(once, tmp_path / "a.cert").certified) == set(ASKED)


def test_a_folder_in_which_an_earlier_run_explored(tmp_path: Path, embedded: dict[str, bytes]) -> None:
    for name in ("a", "b"):
        engine = partitioned(tmp_path, [])
        explored = checked(engine)
        certified(explored, tmp_path / f"{name}.cert")
        explored._explorer.work.close()  # type: ignore[attr-defined]
    assert (tmp_path / "a.cert").read_bytes() == (tmp_path / "b.cert").read_bytes()


def test_a_fault_that_leads_to_no_further_state_has_an_empty_set(tmp_path: Path) -> None:
    asked = changed(example("fast-restart-3.9", (Fault.CONTROLLER_STALL, Fault.KILL)), bounds=SMALL, replicas=2)
    once = checked(partitioned(tmp_path, []), asked=asked)
    assert any(not shard.count for one in once.explorations for shard in one.shards.values())
    assert certified(once, tmp_path / "a.cert").certified


def test_a_state_without_a_rank_is_noticed(tmp_path: Path) -> None:
    explored = checked(partitioned(tmp_path, []))
    for file in (tmp_path / "work").rglob(MARKS):
        marks = np.memmap(file, dtype=np.uint16, mode="r+")
        marks[-1] = 0
    with pytest.raises(DistributedError, match="have no ranks"):
        certified(explored, tmp_path / "a.cert")
