"""Properties asked alone or together: fault sets that only time excludes hide no larger fault sets."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from proofka.checker.budget import Budget
from proofka.checker.check import check, verdict_on
from proofka.model.deployment import KNOWN_PROPERTIES, Deployment, read_deployment
from proofka.properties.verdict import CutSet, Status, Verdict

EXAMPLES = Path(__file__).parents[3] / "examples" / "time"

TWO_BROKERS_AWAY = """\
kafka: "4.0"
topic: {replicas: 3, min.insync.replicas: 2}
producer: {acks: all}
assume: {faults: {total: 2, kill: 2}}
bounds: {records: 1}
require: [no-dropped-record]
"""


@cache
def with_others(name: str) -> dict[str, Verdict]:
    return {verdict.property: verdict for verdict in check(read_deployment(EXAMPLES / f"{name}.yaml")).verdicts}


def found(verdict: Verdict) -> tuple[Status, tuple[CutSet, ...], list[int]]:
    return verdict.status, verdict.cut_sets, [len(trace.steps) for trace in verdict.traces]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.yaml")))
@pytest.mark.parametrize("asked", KNOWN_PROPERTIES)
def test_the_verdict_is_the_same(name: str, asked: str) -> None:
    together = with_others(name)
    if asked not in together:
        return
    alone = verdict_on(asked, read_deployment(EXAMPLES / f"{name}.yaml"), Budget())
    assert found(alone) == found(together[asked])


def test_fault_set_excluded_by_time_hides_no_larger_fault_set(tmp_path: Path) -> None:
    """Without clocks a send can time out at once, so that no larger set of faults is looked at."""
    verdict = verdict_on("no-dropped-record", read(tmp_path), Budget())
    assert (verdict.status, verdict.cut_sets) == (Status.VIOLATED, ((("kill", 2),),))


def read(folder: Path) -> Deployment:
    file = folder / "asked.yaml"
    file.write_text(TWO_BROKERS_AWAY, encoding="utf-8")
    return read_deployment(file)
