"""Answers to fetches of followers that are still to be sent, after their leader has looked what there is (6.1)."""

from __future__ import annotations

from dataclasses import dataclass

from model.deployment.deployment import Deployment
from model.language import Variable


@dataclass(frozen=True)
class LateAnswers:
    """``until``: per follower, how long its leader's log was when that answered; 0 where no answer is late."""

    until: dict[int, Variable]

    @property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(self.until.values())


def declare_late_answers(deployment: Deployment) -> LateAnswers | None:
    """No answer is late at the start; None where none can be, or nothing comes of it."""
    if not deployment.answers_may_be_late:
        return None
    numbers = range(1, deployment.brokers + 1)
    return LateAnswers({n: Variable(f"broker_{n}_late_answer", 0, deployment.bounds.log, 0) for n in numbers})
