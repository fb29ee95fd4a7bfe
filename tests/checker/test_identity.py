"""The same question has the same id, in any process; another question has another."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import z3

from proofka.checker.budget import Budget
from proofka.checker.check import Run, prepare_groups, question_ids
from proofka.checker.identity import Fingerprint, verdict_id
from proofka.model.deployment import Deployment
from proofka.model.deployment.choices import Acks, Commit, OnSendError, Processing, Sink
from proofka.model.faults import Fault
from tests.checker.asking import SMALL, assuming, example
from tests.deployments import changed

ROOT = Path(__file__).parent.parent.parent
SCRIPT = """\
from tests.deployments import changed
from tests.checker.test_identity import base, ids
for replicas in {others}:
    ids(changed(base(), replicas=replicas))
print(sorted(ids(base()).items()))
"""


def base() -> Deployment:
    return changed(example("idempotent", (Fault.KILL, Fault.CONSUMER_CRASH), 1), bounds=SMALL, replicas=2)


@cache
def ids(deployment: Deployment) -> dict[str, str]:
    """Return the id of each property's verdict, without an exploration or machine code."""
    return question_ids(deployment, *prepare_groups(deployment))


def test_verdicts_have_the_ids_of_their_questions() -> None:
    run = Run(base(), *prepare_groups(base()), Budget(threads=1))
    assert {verdict.property: verdict.id for verdict in run.verdicts()} == ids(base())


@pytest.mark.slow
def test_processes_agree() -> None:
    """Hash seeds and former questions make no difference."""

    def asked(seed: str, others: tuple[int, ...]) -> str:
        return subprocess.run(
            [sys.executable, "-c", SCRIPT.format(others=others)],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert asked("1", ()) == asked("2", (3,))


def test_properties_have_different_ids() -> None:
    found = ids(base())
    assert len(set(found.values())) == len(found)


@pytest.mark.parametrize(
    ("change", "prop"),
    [
        ({"acks": Acks.LEADER}, "no-acked-loss"),
        ({"min_insync_replicas": 1}, "no-acked-loss"),
        ({"replicas": 3}, "no-acked-loss"),
        ({"unclean_leader_election": True}, "no-acked-loss"),
        ({"idempotence": False}, "no-log-duplicate"),
        ({"retries": 1}, "no-log-duplicate"),
        ({"on_send_error": OnSendError.HALT}, "no-silent-loss"),
        ({"commit": Commit.BEFORE}, "no-skip"),
        ({"processing": Processing.HANDED_OFF}, "no-skip"),
        ({"sink": Sink.IDEMPOTENT}, "exactly-once-effect"),
        ({"sink": Sink.TRANSACTIONAL}, "exactly-once-effect"),
        ({"bounds": replace(SMALL, epochs=5)}, "no-acked-loss"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_a_setting_that_matters_changes_the_id(change: dict[str, Any], prop: str) -> None:
    assert ids(changed(base(), **change))[prop] != ids(base())[prop]


@pytest.mark.slow
def test_other_faults_are_another_question() -> None:
    more = assuming(base(), (Fault.KILL, Fault.CONSUMER_CRASH), 2)
    others = assuming(base(), (Fault.KILL, Fault.POWER_LOSS), 1)
    for prop, identity in ids(base()).items():
        assert ids(more)[prop] != identity
        assert ids(others)[prop] != identity


def test_a_name_is_no_part_of_the_question() -> None:
    renamed = replace(base(), name="another name", require=(), settings=(), notes=("a note",))
    assert ids(renamed) == ids(base())


def test_settings_outside_a_cone_do_not_change_an_id() -> None:
    """The consumer's way to commit does not matter to the log."""
    assert ids(changed(base(), commit=Commit.BEFORE))["no-acked-loss"] == ids(base())["no-acked-loss"]


def test_terms_written_alike_have_one_fingerprint() -> None:
    x, y = z3.Ints("x y")
    assert Fingerprint().of_term(x + y > 1) == Fingerprint().of_term(z3.Int("x") + z3.Int("y") > 1)
    different = [x + y > 1, y + x > 1, x + y >= 1, x + y > 2, x - y > 1, z3.Not(x + y > 1), x > 1, z3.BoolVal(True)]
    assert len({Fingerprint().of_term(term) for term in different}) == len(different)


def test_parts_do_not_run_into_each_other() -> None:
    assert verdict_id(["ab", "c"]) != verdict_id(["a", "bc"]) != verdict_id(["abc"])
    assert verdict_id([b"ab"]) == verdict_id(["ab"])
