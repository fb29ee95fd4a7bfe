"""A consumer that never commits starts by its reset policy, each time (semantics 12, C13)."""

from __future__ import annotations

import pytest

from proofka.model.deployment.choices import Commit, Group, OffsetReset
from proofka.model.deployment.implied.commits import offsets_expire
from proofka.model.faults import Fault
from proofka.properties.verdict import Status
from tests.checker.asking import SMALL, ask, cut, example
from tests.deployments import changed

CRASH = cut(Fault.CONSUMER_CRASH)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reset", "skips", "repeats"),
    [(OffsetReset.LATEST, (CRASH,), ()), (OffsetReset.EARLIEST, (), (CRASH,))],
)
def test_each_start_goes_by_the_reset_policy(reset: OffsetReset, skips: object, repeats: object) -> None:
    asked = example("manual-commit-plain-sink", (Fault.CONSUMER_CRASH,), 1)
    asked = changed(asked, bounds=SMALL, commit=Commit.NEVER, group=Group.NEW, offset_reset=reset)
    found = ask(asked, "no-skip", "no-reprocessing")
    assert (found["no-skip"].cut_sets, found["no-reprocessing"].cut_sets) == (skips, repeats)
    assert {verdict.status for verdict in found.values()} == {Status.HOLDS, Status.VIOLATED}


NEVER = """\
kafka: "4.0"
topic: {{replicas: 1}}
consumer: {{{group}enable.auto.commit: {auto}, commit: never{more}}}
"""


@pytest.mark.parametrize("group", ["", "group.id: null, ", "group.id: orders, "])
def test_consumer_that_never_commits_needs_no_group(read_yaml, group: str) -> None:
    deployment = read_yaml(NEVER.format(group=group, auto="false", more=""))
    assert (deployment.application.commit, deployment.application.group) == (Commit.NEVER, Group.NEW)
    assert not offsets_expire(deployment)


def test_consumer_that_commits_needs_a_group(refusal) -> None:
    assert "InvalidGroupIdException" in refusal(
        NEVER.format(group="group.id: null, ", auto="false", more="").replace("never", "after")
    )


def test_settings_that_contradict_never_committing_are_refused(refusal) -> None:
    assert "remove group" in refusal(NEVER.format(group="", auto="false", more=", group: established"))
    assert "commits by itself" in refusal(NEVER.format(group="group.id: orders, ", auto="true", more=""))
