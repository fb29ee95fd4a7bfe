"""The plan of a replay, made of a deployment and a trace of its model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from checker.reproduction.plan import Plan, PlannedClient, PlannedSend, PlannedStep
from model.deployment.deployment import Deployment
from model.deployment.setting import Setting
from properties.verdict import Shown, Trace, states_of

_GIVEN = ("file", "option")
"""Origins of settings that the user gave; a real client and a real broker derive all others by themselves."""
_OF_CLIENT = ("client", "version")
_OF_TOPIC_ITSELF = ("name", "replication.factor")
_ELR = "eligible.leader.replicas.version"


def plan_of(deployment: Deployment, trace: Trace, failures: Sequence[tuple[str, str]]) -> Plan:
    """Return the plan that replays ``trace``. ``failures``: each violated property, with what failed, in words."""
    given = [one for one in deployment.settings if one.origin.kind in _GIVEN]
    effective = {f"{one.scope}.{one.key}": one.value for one in deployment.settings}
    states = list(states_of(trace))
    return Plan(
        name=deployment.name,
        kafka=effective.get("broker.release", ".".join(map(str, deployment.cluster.kafka))),
        replicas=deployment.cluster.replicas,
        producer=_client(deployment, given, "producer"),
        consumer=_client(deployment, given, "consumer"),
        topic_settings=_settings(given, "topic", without=_OF_TOPIC_ITSELF),
        broker_settings=_settings(given, "broker", without=("release", _ELR)),
        features={_ELR: int(effective[f"broker.{_ELR}"])} if f"broker.{_ELR}" in effective else {},
        effective=effective,
        application={one.key: one.value for one in deployment.settings if one.scope == "application"},
        idempotent=deployment.producer.idempotence,
        transactional=deployment.producer.transactional is not None,
        acks=deployment.producer.acks.value,
        sends=_sends(deployment),
        failures=tuple(failures),
        faults=dict(trace.faults),
        start=_in_words(states[0]),
        steps=tuple(
            PlannedStep(
                number=number,
                action=step.action,
                arguments=dict(step.arguments),
                text=step.text,
                lane=step.lane,
                fault=step.fault,
                at=step.at,
                state=_in_words(state),
                logs=_logs(state),
            )
            for number, (step, state) in enumerate(zip(trace.steps, states[1:], strict=True), start=1)
        ),
    )


def _settings(given: Sequence[Setting], scope: str, *, without: Sequence[str]) -> Mapping[str, str]:
    return {one.key: one.value for one in given if one.scope == scope and one.key not in without}


def _client(deployment: Deployment, given: Sequence[Setting], role: str) -> PlannedClient:
    effective = {one.key: one.value for one in deployment.settings if one.scope == role}
    library, _, release = effective["client"].partition(" ")
    return PlannedClient(library, release or None, _settings(given, role, without=_OF_CLIENT))


def _sends(deployment: Deployment) -> tuple[PlannedSend, ...]:
    """Return the call of ``send()`` behind each batch, by number."""
    from model.pipeline import declared

    batches = sorted(declared(deployment).producer.batches, key=lambda batch: batch.number)
    return tuple(PlannedSend(record=batch.record + 1, attempt=batch.attempt + 1) for batch in batches)


def _in_words(state: Sequence[Shown]) -> Mapping[str, str]:
    return {one.what: one.value for one in state}


def _logs(state: Sequence[Shown]) -> Mapping[int, tuple[str, ...]]:
    """Return the entries of each broker's log, by broker."""
    return {
        int(one.owner.removeprefix("broker ")): one.entries
        for one in state
        if one.entries is not None and one.what.endswith("'s log")
    }
