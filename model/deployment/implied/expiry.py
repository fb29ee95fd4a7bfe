"""Records that can be deleted before the consumer reads them (semantics 10)."""

from __future__ import annotations

from proofka.model.deployment.choices import Commit, Sink
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.deletion import retries_outlast_records
from proofka.model.deployment.implied.outages import outages_of_consumer
from proofka.model.deployment.implied.waiting import gets_too_old, may_get_too_old


def records_expire_unread(deployment: Deployment) -> bool:
    """Tell whether a record can wait for the consumer so long that it expires.

    A record waits for all possible outages, and for a poll before and after each. The timing settings decide whether
    it expires; here every retention counts that is less than twice that wait. A consumer that rebuilds its memory can
    come back to a record at any time. A retried record can also expire, if brokers can have forgotten its producer
    after its deletion.
    """
    kept = deployment.durations.retention
    comes_back = reads_all_again(deployment) and kept.most is not None
    return comes_back or gets_too_old(deployment, kept) or retries_outlast_records(deployment)


def reads_all_again(deployment: Deployment) -> bool:
    """Tell whether a starting consumer rebuilds its memory from the whole log (semantics 12.1)."""
    application = deployment.application
    in_memory = application.sink is Sink.IN_MEMORY and application.commit is Commit.NEVER
    return in_memory and outages_of_consumer(deployment) > 0


def reading_in_time_is_assumed(deployment: Deployment) -> bool:
    """Tell whether outages of brokers, more outages than are counted, or workers could make a record expire.

    Such a model does not include retention: its passes assume that records are read and processed in time.
    """
    return not records_expire_unread(deployment) and may_get_too_old(deployment, deployment.durations.retention)
