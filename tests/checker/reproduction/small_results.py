"""Results of small deployments, for ``proofka reproduce``."""

from __future__ import annotations

import json
from pathlib import Path

import proofka
from proofka.reports.document import to_document

DEPLOYMENT = """
kafka: "{kafka}"
topic: {{replicas: {replicas}}}
producer: {{acks: 1}}
consumer: {{enable.auto.commit: false}}
assume: {{faults: {{total: 1, {fault}: 1}}}}
bounds: {{records: 1}}
"""


def result_of(folder: Path, *, replicas: int, fault: str, kafka: str = "4.0") -> Path:
    """Write the result of a producer that waits for the leader alone; its first trace loses a record by the fault."""
    file = folder / "small.yaml"
    file.write_text(DEPLOYMENT.format(replicas=replicas, fault=fault, kafka=kafka), encoding="utf-8")
    deployment = proofka.read(file)
    document = to_document(deployment, proofka.check(deployment, faults=1), command="proofka check small.yaml")
    result = folder / "small.json"
    result.write_text(json.dumps(document), encoding="utf-8")
    return result
