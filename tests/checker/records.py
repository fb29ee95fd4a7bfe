"""Deployments that are written as records, as a fleet's are, and verdicts on them: no question is explored twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache

from proofka.checker.budget import Budget
from proofka.checker.questions import Prepared, prepare
from proofka.model.deployment import KNOWN_PROPERTIES, Deployment
from proofka.model.deployment.record_reader import read_record
from proofka.model.pipeline import build
from proofka.properties.verdict import Verdict
from tests.checker.asking import explored

KEPT = 4
"""Prepared systems that stay for the next row: rows of one deployment stand side by side. All would fill the memory."""


def recorded(prop: str, faults: Mapping[str, int], *records: Mapping[str, object]) -> Deployment:
    """Read the deployment of these records, of which the later have the say; ``prop`` is what it requires.

    All of the faults can happen in one run unless ``faults`` has a total: no verdict depends on a machine's speed.
    """
    record: dict[str, object] = {}
    for more in records:
        record |= more
    record |= {"assume.faults": {"total": sum(faults.values()), **faults}, "require": [prop]}
    return read_record(record, name=prop, file="test", line=1)


def decide(prop: str, faults: Mapping[str, int], *records: Mapping[str, object]) -> Verdict:
    """Return the verdict on ``prop``, asked alone, of the deployment of these records."""
    return _decided(prop, replace(recorded(prop, faults, *records), name="", require=KNOWN_PROPERTIES))


@cache
def _decided(prop: str, deployment: Deployment) -> Verdict:
    (verdict,) = explored(_prepared(deployment), [prop], Budget(threads=1)).verdicts()
    return verdict


@lru_cache(maxsize=KEPT)
def _prepared(deployment: Deployment) -> Prepared:
    return prepare(build(deployment))
