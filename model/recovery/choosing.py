"""The choice of a producer's recovery, by its client.

A client library that recovers in another way is a module of its own beside this one, and a line in :func:`recovery_of`.
"""

from __future__ import annotations

from model.deployment.deployment import Deployment
from model.deployment.older_transactions import InDoubt
from model.deployment.sequencing import Recovery as AsReleased
from model.recovery.franz_go import FranzGo, FranzGoStopping
from model.recovery.java import Java
from model.recovery.java_0_11 import Java011
from model.recovery.java_2_7_0 import JavaKeepingNumbers
from model.recovery.java_before_2_5 import JavaBefore25
from model.recovery.java_transactions import JavaTransactions
from model.recovery.java_transactions_before_2_5 import (
    JavaTransactions011,
    JavaTransactionsStopping,
    JavaTransactionsWaiting,
)
from model.recovery.librdkafka import Librdkafka, LibrdkafkaForgetting
from model.recovery.librdkafka_transactions import LibrdkafkaTransactions, LibrdkafkaWithin
from model.recovery.none import WithoutNumbers
from model.recovery.sarama import Sarama
from model.state.recovery import Recovery


def recovery_of(deployment: Deployment) -> Recovery:
    """Return the recovery of the deployment's producer: the only place that asks which client that is."""
    sender, sequencing = deployment.producer.sender, deployment.producer.sequencing
    if not deployment.producer.idempotence:
        return WithoutNumbers()
    if deployment.producer.transactional is not None:
        return _in_transactions(deployment)
    if sender.numbers_ahead:
        return Sarama()
    if sender.rewinds and sender.drains:
        return FranzGoStopping() if sender.stops_on_loss else FranzGo()
    if sender.drains:
        librdkafka = LibrdkafkaForgetting if sender.forgets_numbers else Librdkafka
        return librdkafka(gapless=sender.gapless)
    if sequencing is None or sequencing.recovery is AsReleased.EPOCH:
        return JavaKeepingNumbers() if sender.keeps_numbers else Java()
    return Java011() if sequencing.recovery is AsReleased.ONE_BY_ONE else JavaBefore25()


def _in_transactions(deployment: Deployment) -> Recovery:
    sender = deployment.producer.sender
    if sender.bumps_within:
        return LibrdkafkaWithin()
    if sender.drains:
        return LibrdkafkaTransactions(bump_aborts=sender.bump_aborts)
    if deployment.producer.older_transactions is None:
        return JavaTransactions()
    return _KEEPING_EPOCHS[deployment.producer.older_transactions.in_doubt]


_KEEPING_EPOCHS = {
    InDoubt.NEXT_RECORD: JavaTransactions011(),
    InDoubt.STOPS: JavaTransactionsStopping(),
    InDoubt.STOPS_WHEN_DRAINED: JavaTransactionsWaiting(),
}
