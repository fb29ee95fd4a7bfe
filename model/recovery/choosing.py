"""The choice of a producer's recovery, by its client.

A client library that recovers in another way is a module of its own beside this one, a value of
:class:`~model.deployment.sender.ClientRecovery`, and a line of a table below.
"""

from __future__ import annotations

from collections.abc import Mapping

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.other_partitions import fails_elsewhere
from proofka.model.deployment.older_transactions import InDoubt
from proofka.model.deployment.sender import ClientRecovery
from proofka.model.deployment.sequencing import Recovery as AsReleased
from proofka.model.recovery.franz_go import FranzGo, FranzGoStopping
from proofka.model.recovery.franz_go_elsewhere import FranzGoBeginningAgain, FranzGoStoppingElsewhere
from proofka.model.recovery.java import Java
from proofka.model.recovery.java_0_11 import Java011
from proofka.model.recovery.java_2_7_0 import Java270, JavaKeepingNumbers
from proofka.model.recovery.java_before_2_5 import JavaBefore25
from proofka.model.recovery.java_elsewhere import JavaFollowing
from proofka.model.recovery.java_transactions import JavaTransactions
from proofka.model.recovery.java_transactions_before_2_5 import (
    JavaTransactions011,
    JavaTransactionsStopping,
    JavaTransactionsWaiting,
)
from proofka.model.recovery.librdkafka import Librdkafka, LibrdkafkaForgetting
from proofka.model.recovery.librdkafka_transactions import LibrdkafkaTransactions, LibrdkafkaWithin
from proofka.model.recovery.none import WithoutNumbers
from proofka.model.recovery.sarama import Sarama
from proofka.model.state.recovery import Recovery


def recovery_of(deployment: Deployment) -> Recovery:
    """Return the recovery of the deployment's producer: the only place that asks which client that is."""
    producer = deployment.producer
    if not producer.idempotence:
        return WithoutNumbers()
    if producer.older_transactions is not None:
        return _IN_OLDER_TRANSACTIONS[producer.older_transactions.in_doubt]
    if producer.transactional is not None:
        return _IN_TRANSACTIONS[producer.sender.recovery]
    if producer.sequencing is not None and producer.sequencing.takes_new_ids:
        return _BEFORE_2_5[producer.sequencing.recovery]
    clients = _WHERE_ANOTHER_PARTITION_FAILS if fails_elsewhere(deployment) else _WITHOUT_TRANSACTIONS
    return clients[producer.sender.recovery]


_WITHOUT_TRANSACTIONS: Mapping[ClientRecovery, Recovery] = {
    ClientRecovery.JAVA: Java(),
    ClientRecovery.JAVA_2_7_0: Java270(),
    ClientRecovery.LIBRDKAFKA: Librdkafka(),
    ClientRecovery.LIBRDKAFKA_GAPLESS: Librdkafka(gapless=True),
    ClientRecovery.LIBRDKAFKA_FORGETTING: LibrdkafkaForgetting(),
    ClientRecovery.LIBRDKAFKA_FORGETTING_GAPLESS: LibrdkafkaForgetting(gapless=True),
    ClientRecovery.FRANZ_GO: FranzGo(),
    ClientRecovery.FRANZ_GO_STOPPING: FranzGoStopping(),
    ClientRecovery.SARAMA: Sarama(),
}

_WHERE_ANOTHER_PARTITION_FAILS: Mapping[ClientRecovery, Recovery] = {
    **_WITHOUT_TRANSACTIONS,
    ClientRecovery.JAVA: JavaFollowing(),
    ClientRecovery.JAVA_2_7_0: JavaKeepingNumbers(),
    ClientRecovery.FRANZ_GO: FranzGoBeginningAgain(),
    ClientRecovery.FRANZ_GO_STOPPING: FranzGoStoppingElsewhere(),
}

_BEFORE_2_5: Mapping[AsReleased, Recovery] = {
    AsReleased.PRODUCER_ID: JavaBefore25(),
    AsReleased.ONE_BY_ONE: Java011(),
}

_IN_TRANSACTIONS: Mapping[ClientRecovery, Recovery] = {
    ClientRecovery.JAVA: JavaTransactions(),
    ClientRecovery.JAVA_2_7_0: JavaTransactions(),
    ClientRecovery.LIBRDKAFKA_TRANSACTIONS: LibrdkafkaTransactions(),
    ClientRecovery.LIBRDKAFKA_BUMP_ABORTS: LibrdkafkaTransactions(bump_aborts=True),
    ClientRecovery.LIBRDKAFKA_BUMP_WITHIN: LibrdkafkaWithin(),
}

_IN_OLDER_TRANSACTIONS: Mapping[InDoubt, Recovery] = {
    InDoubt.NEXT_RECORD: JavaTransactions011(),
    InDoubt.STOPS: JavaTransactionsStopping(),
    InDoubt.STOPS_WHEN_DRAINED: JavaTransactionsWaiting(),
}
