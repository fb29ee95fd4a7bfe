"""Answers to followers' fetches that are still to be sent, after their leader determined their length (6.1)."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.outages import answers_may_be_late, modelled_brokers
from proofka.model.language import Variable


@dataclass(frozen=True)
class LateAnswers:
    """``until``: by follower, the leader's log end when it handled the fetch; 0 where no answer is late."""

    until: dict[int, Variable]

    @property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(self.until.values())


def declare_late_answers(deployment: Deployment) -> LateAnswers | None:
    """Return the variables of late answers, at the start none; None where no answer can be late and matter."""
    if not answers_may_be_late(deployment):
        return None
    numbers = range(1, modelled_brokers(deployment) + 1)
    return LateAnswers({n: Variable(f"broker_{n}_late_answer", 0, deployment.bounds.log, 0) for n in numbers})
