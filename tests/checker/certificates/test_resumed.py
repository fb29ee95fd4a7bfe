"""Certificates of checks that go on from snapshots: the same files as those of checks without a stop."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.checker.budget import Budget
from proofka.checker.certificates import claims
from proofka.checker.check import Run
from proofka.checker.engine import EmbeddedEngine
from proofka.model.deployment import Deployment
from proofka.model.faults import Fault
from tests.checker.asking import SMALL, example, run
from tests.checker.certificates.accepting import certified
from tests.checker.checkpointed import ONE_BY_ONE
from tests.deployments import changed

ASKED = ("no-acked-loss", "recoverability")
"""A property that a kill violates, so that some combinations are not explored to the end, and a property with ranks."""


def deployment() -> Deployment:
    return changed(example("acks-1", (Fault.KILL, Fault.POWER_LOSS)), bounds=SMALL, replicas=2)


def checked(folder: Path | None, *, states: int | None = None, threads: int = 2, keeps_steps: bool = True) -> Run:
    """Check with snapshots wherever there may be one, up to a number of states."""
    engine = EmbeddedEngine(None if folder is None else (folder, 0), keeps_steps=keeps_steps)
    return run(deployment(), ASKED, Budget(threads=threads, states=states), engine)


def states_of(of_run: Run) -> int:
    return sum(exploration.states for exploration in of_run.explorations)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, bytes]:
    """Return the number of states, and the certificate, of a check without a stop."""
    file = tmp_path_factory.mktemp("whole") / "a.cert"
    once = checked(None)
    assert set(certified(once, file).certified) == set(ASKED)
    return states_of(once), file.read_bytes()


@ONE_BY_ONE
@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.8, 0.99])
def test_a_check_that_was_stopped_once_gives_the_same_file(
    tmp_path: Path, whole: tuple[int, bytes], share: float
) -> None:
    states, content = whole
    stopped = checked(tmp_path / "kept", states=int(states * share))
    assert states_of(stopped) < states
    certified(checked(tmp_path / "kept"), tmp_path / "a.cert")
    assert (tmp_path / "a.cert").read_bytes() == content


@ONE_BY_ONE
def test_a_check_that_was_stopped_often_gives_the_same_file(tmp_path: Path, whole: tuple[int, bytes]) -> None:
    """The last check explores nothing, and the threads and the kept steps of the earlier checks make no difference."""
    states, content = whole
    for number in range(1, 12):
        checked(tmp_path / "kept", states=states * number // 10, threads=1 + number % 3, keeps_steps=number % 2 == 0)
    certified(checked(tmp_path / "kept"), tmp_path / "a.cert")
    assert (tmp_path / "a.cert").read_bytes() == content


def test_a_check_that_a_limit_stopped_claims_nothing_that_it_did_not_explore(tmp_path: Path) -> None:
    """The set of a combination that a limit stopped is not closed, neither before nor after snapshots are read."""
    for _ in range(2):
        stopped = checked(tmp_path / "kept", states=100)
        assert not claims.claims_of(stopped).parts
        shards = [shard for exploration in stopped.explorations for shard in exploration.shards.values()]
        assert [shard.closed for shard in shards if sum(shard.combination)].count(True) == 0
