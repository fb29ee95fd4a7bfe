"""Deployments as JSON documents: exact round trips, and one clear line for what is wrong."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofka.model.deployment import DocumentError, from_document, read_deployment, to_document
from proofka.model.deployment.cluster import Cluster
from proofka.model.deployment.consumer import Consumer
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.durations import NAMES
from proofka.model.deployment.explored import Bounds, FaultBudget
from proofka.model.deployment.older_transactions import OlderTransactions
from proofka.model.deployment.producer import Producer
from proofka.model.deployment.profiles import NAMED, PROFILES
from proofka.model.deployment.required_properties import KNOWN_PROPERTIES
from proofka.model.deployment.setting import Ignored, Origin, Setting
from proofka.model.deployment.times import Durations
from proofka.model.deployment.transactional import Transactional
from proofka.model.durations import Quantity
from proofka.model.faults import Fault

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.yaml"))

origins = st.builds(
    Origin,
    st.sampled_from(["file", "option", "default", "rule", "assumption"]),
    st.text(),
    st.none() | st.text(),
    st.none() | st.integers(1, 10**6),
)
scopes = st.sampled_from(["topic", "broker", "producer", "consumer", "application", "assume", "bounds"])
kinds = st.sampled_from([kind.value for kind in Fault])
milliseconds = st.integers(0, 2**53)
quantities = st.builds(
    lambda name, least, more: Quantity(name, least, None if more is None else least + more),
    st.text(),
    milliseconds,
    st.none() | milliseconds,
)
deployments = st.builds(
    Deployment,
    cluster=st.builds(
        Cluster,
        kafka=st.tuples(st.integers(3, 4), st.integers(0, 9), st.integers(0, 9)),
        replicas=st.integers(1, 5),
        min_insync_replicas=st.integers(1, 9),
        flush_messages=st.none() | st.integers(1, 2**31),
        spare_coordinators=st.integers(0, 9),
    ),
    producer=st.builds(
        Producer,
        retries=st.integers(0, 2**31 - 1),
        transactional=st.none()
        | st.builds(Transactional, st.integers(1, 3), older=st.none() | st.builds(OlderTransactions)),
        max_in_flight=st.integers(1, 2**31 - 1),
        connects=st.integers(1, 99),
    ),
    consumer=st.builds(Consumer, max_poll_records=st.integers(1, 2**31 - 1), connects=st.integers(1, 99)),
    durations=st.builds(Durations, **dict.fromkeys(NAMES, quantities)),
    faults=st.builds(
        FaultBudget, st.none() | st.integers(0, 20), st.lists(st.tuples(kinds, st.integers(0, 9))).map(tuple)
    ),
    bounds=st.builds(
        Bounds, st.integers(1, 3), st.integers(3, 5), st.integers(1, 3), st.integers(2, 15), st.integers(1, 4)
    ),
    require=st.lists(st.sampled_from(KNOWN_PROPERTIES)).map(tuple),
    settings=st.lists(st.builds(Setting, scopes, st.text(), st.text(), origins), max_size=3).map(tuple),
    ignored=st.lists(st.builds(Ignored, scopes, st.text(), st.text(), origins, st.text()), max_size=3).map(tuple),
    notes=st.lists(st.text(), max_size=3).map(tuple),
    profile=st.none() | st.sampled_from((*PROFILES, NAMED)),
)


@given(deployments)
def test_round_trip(deployment: Deployment) -> None:
    assert from_document(json.loads(json.dumps(to_document(deployment)))) == deployment


def test_a_document_of_before_there_were_profiles_is_read() -> None:
    document = broken("profile", ...)
    assert from_document(document).profile is None
    assert to_document(from_document(document)) == document


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_round_trip(path: Path) -> None:
    deployment = read_deployment(path)
    assert from_document(json.loads(json.dumps(to_document(deployment)))) == deployment


def broken(change: str, value: Any) -> Any:
    document = deepcopy(to_document(read_deployment(EXAMPLES[0])))
    target: Any = document
    *path, last = change.split("/")
    for step in path:
        target = target[int(step) if step.isdigit() else step]
    if value is ...:
        del target[last]
    else:
        target[int(last) if last.isdigit() else last] = value
    return document


@pytest.mark.parametrize(
    ("change", "value", "message"),
    [
        ("acks", "2", "deployment.acks: must be one of 0, 1, all"),
        ("acks", ..., "deployment.acks: is missing"),
        ("kafka", [4, 0], "deployment.kafka: must be three numbers"),
        ("kafka", "4.0", "deployment.kafka: must be a list"),
        ("replicas", 6, "deployment.replicas: must be a whole number from 1 to 5"),
        ("replicas", True, "deployment.replicas: must be a whole number from 1 to 5"),
        ("replicas", 3.0, "deployment.replicas: must be a whole number from 1 to 5"),
        ("idempotence", 1, "deployment.idempotence: must be true or false"),
        ("faults/at_most/0", ["lightning", 1], "deployment.faults.at_most[0][0]: must be one of kill"),
        ("faults/at_most/0", ["kill"], "must be a pair: a kind of fault, and a number"),
        ("durations", ..., "deployment.durations: is missing"),
        ("durations/network", ..., "deployment.durations.network: is missing"),
        ("durations/network/least", -1, "deployment.durations.network.least: must be a whole number from 0"),
        ("durations/network", {"name": "n", "least": 5, "most": 4}, "network.most: must be a whole number from 5"),
        ("durations/patience", 1, "deployment.durations.patience: is not a member"),
        ("bounds/records", 9, "deployment.bounds.records: must be a whole number from 1 to 3"),
        ("bounds/log", 1, "deployment.bounds.log: must be at least the number of records"),
        ("bounds", 7, "deployment.bounds: must be an object"),
        ("profile", "at-most-once", "deployment.profile: must be one of at-least-once, exactly-once"),
        ("require/0", "peace", "deployment.require[0]: must be one of"),
        ("settings/0/origin/kind", "oracle", "deployment.settings[0].origin.kind: must be one of file"),
        ("settings/0/value", 5, "deployment.settings[0].value: must be a text"),
        ("surprise", 1, "deployment.surprise: is not a member of a deployment"),
    ],
)
def test_wrong_document(change: str, value: Any, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        from_document(broken(change, value))
    assert str(caught.value).startswith(message) or message in str(caught.value)


@pytest.mark.parametrize("document", [None, [], 3, "x"])
def test_no_document(document: Any) -> None:
    with pytest.raises(DocumentError):
        from_document(document)
