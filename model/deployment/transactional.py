"""The transactions of a deployment, if its producer has any (semantics 11)."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.model.deployment.older_transactions import OlderTransactions


@dataclass(frozen=True)
class Transactional:
    """The handling of transactions by releases and settings.

    ``records``: number of records in one transaction. ``verified``: a leader without an open transaction asks the
    coordinator before it appends (KIP-890, brokers from 3.6). ``epoch_each``: every end of a transaction raises the
    producer epoch (TV2: brokers and clients from 4.0). ``first_is_zero``: a leader accepts only sequence number 0 from
    an unknown producer (4.1 with TV2). ``read_committed``: the consumer's ``isolation.level``. ``strict_markers``: a
    leader refuses a marker for an open transaction of the marker's own epoch (KIP-1228, 4.2 with TV2). ``older``: the
    differences with a client or brokers before 2.5; None if both are newer. ``survives_refused_send``: a ``send()``
    that the client itself refuses does not fail the transaction (Java clients before 3.2; KAFKA-9279).
    ``hands_over_aborted``: the consumer is given aborted records although it reads committed ones only (librdkafka
    before 1.5.3, compressed batches).
    """

    records: int
    verified: bool
    epoch_each: bool
    first_is_zero: bool
    read_committed: bool
    strict_markers: bool = False
    older: OlderTransactions | None = None
    survives_refused_send: bool = False
    hands_over_aborted: bool = False
