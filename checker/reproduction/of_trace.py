"""The plan of a replay, made of a deployment and a trace of its model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofka.checker.cluster.plan import KRAFT, ZOOKEEPER
from proofka.checker.cluster.sends import Send
from proofka.checker.real_settings import client_of, effective_of, features_of, given_settings, group_of
from proofka.checker.reproduction.plan import Plan, PlannedClient, PlannedStep
from proofka.model.deployment.deployment import Deployment
from proofka.properties.verdict import Shown, Trace, states_of


def plan_of(deployment: Deployment, trace: Trace, failures: Sequence[tuple[str, str]]) -> Plan:
    """Return the plan that replays ``trace``. ``failures``: each violated property, with what failed, in words."""
    effective = effective_of(deployment)
    states = list(states_of(trace))
    return Plan(
        name=deployment.name,
        kafka=effective.get("broker.release", ".".join(map(str, deployment.cluster.kafka))),
        mode=ZOOKEEPER if deployment.cluster.zookeeper else KRAFT,
        replicas=deployment.cluster.replicas,
        producer=_client(deployment, "producer"),
        consumer=_client(deployment, "consumer"),
        topic_settings=given_settings(deployment, "topic"),
        broker_settings=given_settings(deployment, "broker"),
        features=features_of(deployment),
        effective=effective,
        application={one.key: one.value for one in deployment.settings if one.scope == "application"},
        idempotent=deployment.producer.idempotence,
        transactional=deployment.producer.transactional is not None,
        acks=deployment.producer.acks.value,
        group=group_of(deployment),
        reads_committed=_reads_committed(deployment),
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


def _client(deployment: Deployment, role: str) -> PlannedClient:
    library, release = client_of(deployment, role)
    return PlannedClient(library, release, given_settings(deployment, role))


def _reads_committed(deployment: Deployment) -> bool:
    transactional = deployment.producer.transactional
    return transactional is not None and transactional.read_committed


def _sends(deployment: Deployment) -> tuple[Send, ...]:
    """Return the call of ``send()`` behind each batch, by number."""
    from proofka.model.pipeline import declared

    batches = sorted(declared(deployment).producer.batches, key=lambda batch: batch.number)
    return tuple(Send(record=batch.record + 1, attempt=batch.attempt + 1) for batch in batches)


def _in_words(state: Sequence[Shown]) -> Mapping[str, str]:
    return {one.what: one.value for one in state}


def _logs(state: Sequence[Shown]) -> Mapping[int, tuple[str, ...]]:
    """Return the entries of each broker's log, by broker."""
    return {
        int(one.owner.removeprefix("broker ")): one.entries
        for one in state
        if one.entries is not None and one.what.endswith("'s log")
    }
