"""Plans of short traces that a test writes down step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from proofka.checker.cluster.sends import Send
from proofka.checker.reproduction.plan import Plan, PlannedClient, PlannedStep


class Trace:
    """A trace of three brokers, of which broker 1 leads in epoch 1 at first. The state changes as each step says."""

    def __init__(self) -> None:
        self._logs: dict[int, tuple[str, ...]] = dict.fromkeys((1, 2, 3), ())
        self._state = {
            **{f"broker {broker}": "up" for broker in (1, 2, 3)},
            "broker 1's role": "leader in epoch 1, ISR {1, 2, 3}",
            **{f"broker {broker}'s role": "follower of broker 1 in epoch 1" for broker in (2, 3)},
            "leader": "broker 1",
            "leader epoch": "1",
            "ISR": "{1, 2, 3}",
            "position": "0",
            "committed offset at the last start": "0",
            **{f"record {record}": "in flight" for record in (1, 2, 3)},
        }
        self._start = self._words()
        self._steps: list[PlannedStep] = []

    def add(
        self,
        action: str,
        *,
        text: str = "",
        logs: Mapping[int, tuple[str, ...]] | None = None,
        state: Mapping[str, str] | None = None,
        **arguments: int,
    ) -> Self:
        """Add a step. ``logs``, ``state``: what differs after the step."""
        self._logs.update(logs or {})
        self._state.update(state or {})
        self._steps.append(
            PlannedStep(
                number=len(self._steps) + 1,
                action=action,
                arguments=arguments,
                text=text or action,
                lane="",
                fault=None,
                at=None,
                state=self._words(),
                logs=dict(self._logs),
            )
        )
        return self

    def plan(self, **changes: Any) -> Plan:
        """Return the plan of the steps so far, with a producer that asks all replicas. ``changes``: other fields."""
        fields: dict[str, Any] = {
            "name": "trace",
            "kafka": "4.0",
            "mode": "kraft",
            "replicas": 3,
            "producer": PlannedClient("java", None),
            "consumer": PlannedClient("java", None),
            "topic_settings": {},
            "broker_settings": {},
            "features": {},
            "effective": {},
            "application": {},
            "idempotent": False,
            "transactional": False,
            "acks": "all",
            "group": None,
            "reads_committed": False,
            "sends": (Send(1), Send(2), Send(3)),
            "failures": (("no-acked-loss", "record 1 is lost"),),
            "faults": {},
            "start": self._start,
            "steps": tuple(self._steps),
        }
        return Plan(**{**fields, **changes})

    def _words(self) -> dict[str, str]:
        logs = {f"broker {broker}'s log": f"[{', '.join(log)}]" for broker, log in self._logs.items()}
        return {**self._state, **logs}
