"""The producer's client of a deployment."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.model.deployment.choices import Acks
from proofka.model.deployment.older_transactions import OlderTransactions
from proofka.model.deployment.sender import REPEATING_NUMBERS, ClientRecovery, Sender
from proofka.model.deployment.sequencing import Sequencing
from proofka.model.deployment.transactional import Transactional


@dataclass(frozen=True)
class Producer:
    """The effective settings of the producer's client, and what its library does."""

    sender: Sender
    acks: Acks
    retries: int
    idempotence: bool
    sequencing: Sequencing | None  # idempotence with a client or brokers before 2.5; None otherwise (3.4, 3.5)
    expires_in_accumulator: bool  # after request.timeout.ms, and only there (clients before 2.1; 3.1 P7)
    max_in_flight: int
    transactional: Transactional | None  # its transactions; None without a transactional.id (semantics 11)
    connects: int  # messages to connect, by its security.protocol

    @property
    def numbers_repeat(self) -> bool:
        """Tell whether two records of an epoch can get the same number, so that the broker mistakes the second for the
        first (4.1 to 4.3)."""
        return self.idempotence and self.sender.recovery in REPEATING_NUMBERS

    @property
    def numbers_ahead(self) -> bool:
        """Tell whether the idempotent producer assigns numbers before it sends, and never changes them (semantics
        4.2)."""
        return self.idempotence and self.sender.recovery is ClientRecovery.SARAMA

    @property
    def older_transactions(self) -> OlderTransactions | None:
        """The differences of its transactions with a client or brokers before 2.5; None without transactions or with
        newer releases."""
        return None if self.transactional is None else self.transactional.older

    @property
    def timeouts_fence(self) -> bool:
        """Tell whether a transaction that takes too long is aborted with a new epoch (not in 0.11.0.0 and 0.11.0.1)."""
        return self.older_transactions is None or self.older_transactions.timeout_fences
