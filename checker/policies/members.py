"""The deployments of a matrix with their verdicts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from proofka.checker.budget import ALWAYS_COVERED
from proofka.checker.policies.errors import TooManyDeploymentsError
from proofka.checker.policies.exploring import Explored, Outcome, Question, question_of
from proofka.checker.policies.expression import Expression, Read, is_true
from proofka.checker.policies.names import find
from proofka.checker.policies.seen import Seen
from proofka.checker.source import narrowed
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.matrix import Matrix, read_matrix
from proofka.properties.judged_policy import JudgedMatrix
from proofka.properties.verdict import Status

MOST_DEPLOYMENTS = 5_000
"""Largest number of deployments of a matrix over which rules are decided on one machine."""

USUAL_MATRIX = Path(__file__).parent / "tables" / "usual_matrix.yaml"
"""The matrix of a policy that names none."""


@dataclass(frozen=True)
class Member:
    """A deployment of a matrix: its number there, the values that make it, and the deployment itself."""

    number: int
    chosen: Mapping[str, str | None]
    deployment: Deployment


@dataclass(frozen=True)
class Members:
    """The deployments of a matrix.

    ``refused``: reasons for which a client, a broker or the model refuses combinations, with their numbers.
    """

    matrix: Matrix
    members: tuple[Member, ...]
    refused: Mapping[str, int]

    def meeting(self, condition: Expression) -> Members:
        """Return the deployments that meet a condition. Raise PolicyError if a deployment has no value for it."""
        kept = tuple(one for one in self.members if is_true(condition, Seen(one.deployment).value))
        return replace(self, members=kept)

    def questions(self, properties: Sequence[str]) -> dict[tuple[int, str], Question]:
        """Return the question about each property of each deployment, by the deployment's number and the property."""
        return {
            (member.number, prop): question_of(member.deployment, prop)
            for member in self.members
            for prop in properties
        }

    def varies(self, read: Read) -> bool:
        """Tell whether the deployments of the matrix differ in a value for this setting."""
        return any((one.scope, one.key) == (read.scope, read.key) for one in self.varied)

    @property
    def varied(self) -> tuple[Read, ...]:
        """The settings for which the matrix has values, as rules name them."""
        return tuple(read for key in self.matrix.values for read in setting_of(key))

    def told(self, explored: Explored | None) -> JudgedMatrix:
        """Return the figures of the matrix for reports."""
        budgets = Counter(_budget(member.deployment) for member in self.members)
        return JudgedMatrix(
            self.matrix.name,
            budgets.most_common(1)[0][0] if budgets else "",
            len(self.members),
            self.refused,
            0 if explored is None else explored.systems,
            self.matrix.values,
        )


@dataclass(frozen=True)
class Audited:
    """The deployments of a matrix with the outcome of each property."""

    members: Members
    outcomes: Mapping[tuple[int, str], Outcome]

    def of(self, member: Member, prop: str) -> Outcome:
        """Return the outcome of a property of a deployment."""
        return self.outcomes[(member.number, prop)]

    def statuses(self, prop: str) -> dict[Status, int]:
        """Return the number of deployments by the status of a property."""
        found = Counter(self.of(member, prop).status for member in self.members.members)
        return {status: found[status] for status in Status}


def setting_of(key: str) -> tuple[Read, ...]:
    """Return the setting that a key of a matrix sets, as rules name it; none for a key that no rule can name."""
    path = tuple(part for part in re.sub(r"^(\w+)\.settings\.", r"\1.", key).split(".", 1))
    if len(path) == 2 and path[0] == "assume" and path[1] == "replicas":
        return find("topic.replication.factor")
    if len(path) == 2 and path[1] == "version":
        return find(f"{path[0]}.client")
    if len(path) == 2 and path[0] in ("assume", "producer", "consumer") and (found := find(f"application.{path[1]}")):
        return found
    found = find(key)
    return found if len(found) == 1 else ()


def read_members(path: Path, faults: str | None = None) -> Members:
    """Return the deployments of a matrix file, with another total of faults if ``faults`` is given.

    Raise DeploymentError for a wrong file, and TooManyDeploymentsError.
    """
    matrix = read_matrix(path)
    matrix.check_keys()
    if matrix.size > MOST_DEPLOYMENTS * 4:
        raise _too_many(matrix, f"{matrix.size:,} combinations")
    found: list[Member] = []
    refused: Counter[str] = Counter()
    for number in range(matrix.size):
        chosen = matrix.chosen(number)
        if matrix.is_excluded(chosen):
            continue
        try:
            deployment = matrix.read(number)
        except DeploymentError as error:
            refused[error.message.replace(matrix.file, path.name)] += 1
            continue
        found.append(Member(number, chosen, narrowed(deployment, faults, None)))
    if len(found) > MOST_DEPLOYMENTS:
        raise _too_many(matrix, f"{len(found):,} deployments")
    return Members(matrix, tuple(found), dict(refused.most_common()))


def _too_many(matrix: Matrix, what: str) -> TooManyDeploymentsError:
    message = f"has {what}, and rules are decided over at most {MOST_DEPLOYMENTS:,} deployments; list fewer values"
    return TooManyDeploymentsError(message, file=matrix.file)


def _budget(deployment: Deployment) -> str:
    """Return the faults of a deployment in words."""
    faults = deployment.faults
    kinds = ", ".join(f"{kind} {most}" if most < 9 else kind for kind, most in faults.at_most)
    if faults.any_number:
        return f"any number of {', '.join(faults.any_number)}"
    total = ALWAYS_COVERED if faults.total is None else faults.total
    return f"at most {total} of: {kinds}" if total else "no fault"
