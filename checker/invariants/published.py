"""The published replication protocols as subjects of proofs, for any number of leader epochs and records."""

from __future__ import annotations

from collections.abc import Sequence

from proofka.checker.invariants.proof import Subject
from proofka.model.published.constants import PublishedProtocolError
from proofka.model.published.invariants import violated
from proofka.model.published.leader_completeness import candidates
from proofka.model.published.unbounded import open_protocol

COMPLETENESS = ("WeakIsr", "StrongIsr")
"""Leader completeness: the members of the leader's own ISR, and of the quorum's, have what a leader has committed."""
PROPERTIES = (*COMPLETENESS, "LeaderInIsr")
"""The properties that can be asked. TypeOk speaks of domains, which an open system does not have."""


def protocol_subject(name: str, *, replicas: int, log_size: int, properties: Sequence[str] = COMPLETENESS) -> Subject:
    """Return a published protocol as the subject of a proof. Raise :class:`PublishedProtocolError`."""
    unknown = [one for one in properties if one not in PROPERTIES]
    if unknown:
        raise PublishedProtocolError(
            f"no property {unknown[0]!r} of published protocols: choose {', '.join(PROPERTIES)}"
        )
    protocol = open_protocol(name, replicas, log_size)
    terms = violated(protocol.cluster)
    return Subject(protocol.system, tuple(candidates(protocol)), {one: terms[one] for one in properties})
