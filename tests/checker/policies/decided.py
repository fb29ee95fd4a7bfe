"""A small matrix whose outcomes a test gives, so that nothing is explored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from proofka.checker.policies.exploring import Outcome
from proofka.checker.policies.members import Audited, Member, Members, read_members
from proofka.properties.verdict import Status

PROPERTY = "no-acked-loss"

MATRIX = """\
base:
  name: small
  kafka: "4.0"
  consumer: {group.id: orders, auto.offset.reset: earliest}
  assume:
    faults: {total: 1, kill: 1}
  bounds: {records: 1}
values:
  topic.replicas: [1, 2, 3]
  topic.min.insync.replicas: [~, 1, 2]
  producer.acks: [0, 1, all]
  producer.enable.idempotence: [~, true]
"""
"""A matrix of 36 deployments and 18 refused combinations: acks below all with idempotence."""


def members_of(folder: Path, text: str = MATRIX) -> Members:
    """Return the deployments of a matrix."""
    file = folder / "matrix.yaml"
    file.write_text(text, encoding="utf-8")
    return read_members(file)


def audited_by(members: Members, status: Callable[[Member], Status], prop: str = PROPERTY) -> Audited:
    """Return the deployments with the given statuses; a violation takes one kill."""

    def outcome(member: Member) -> Outcome:
        found = status(member)
        if found is Status.VIOLATED:
            return Outcome(found, ((("kill", 1),),), (("kill", 1),), "lost", ("one step",), "")
        return Outcome(found)

    return Audited(members, {(member.number, prop): outcome(member) for member in members.members})
