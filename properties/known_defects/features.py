"""Features that a defect needs: whether a deployment uses each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from proofka.model.deployment.choices import Commit, Sink
from proofka.model.deployment.deployment import Deployment
from proofka.model.faults import Fault
from proofka.properties.known_defects.conditions import is_met, values_of
from proofka.properties.known_defects.releases import library_of


def _has_any(*conditions: str) -> Callable[[Deployment], bool]:
    def uses(deployment: Deployment) -> bool:
        values = values_of(deployment)
        return any(is_met(condition, values) for condition in conditions)

    return uses


COOPERATIVE_BY_DEFAULT = "franz-go"
"""The library whose groups rebalance cooperatively where no setting says otherwise."""

COMPRESSES_BY_DEFAULT = "franz-go"
"""The library whose producer compresses where no setting says otherwise."""

_names_compression = _has_any("compression.type!=none")

_names_rack = _has_any("client.rack=set")

_names_cooperative = _has_any(
    "partition.assignment.strategy=cooperative-sticky", "partition.assignment.strategy=CooperativeStickyAssignor"
)


def _is_of(library: str, deployment: Deployment, *scopes: str) -> bool:
    return library in (library_of(deployment, scope) for scope in scopes)


def _compresses_by_default(deployment: Deployment) -> bool:
    is_by_default = "ProducerBatchCompression" not in values_of(deployment)
    return is_by_default and _is_of(COMPRESSES_BY_DEFAULT, deployment, "producer")


USES: Mapping[str, Callable[[Deployment], bool]] = {
    "transactions": lambda deployment: (
        deployment.producer.transactional is not None or deployment.application.sink is Sink.KAFKA
    ),
    "idempotence": lambda deployment: deployment.producer.idempotence or deployment.producer.transactional is not None,
    "groups": lambda deployment: deployment.application.commit is not Commit.NEVER,
    "new-group-protocol": lambda deployment: deployment.consumer.rebalancing.by_brokers,
    "cooperative": lambda deployment: (
        _is_of(COOPERATIVE_BY_DEFAULT, deployment, "producer", "consumer") or _names_cooperative(deployment)
    ),
    "static-membership": _has_any("group.instance.id=set"),
    "auto-commit": lambda deployment: deployment.application.commit.is_by_client,
    "compaction": lambda deployment: deployment.cluster.compaction is not None,
    "retention": lambda deployment: (
        deployment.durations.retention.most is not None or deployment.cluster.deletes_for_size
    ),
    "followers-fetch": _names_rack,
    "followers-answer": lambda deployment: not deployment.consumer.knows_epochs or _names_rack(deployment),
    "log-dirs": lambda deployment: Fault.LOG_DIR_FAILURE in deployment.faults.possible,
    "reassignment": lambda deployment: Fault.REASSIGNMENT in deployment.faults.possible,
    "kraft": lambda deployment: not deployment.cluster.zookeeper,
    "zookeeper": lambda deployment: deployment.cluster.zookeeper,
    "compression": lambda deployment: _compresses_by_default(deployment) or _names_compression(deployment),
    "unclean-election": lambda deployment: deployment.cluster.unclean_leader_election,
    "tiered-storage": _has_any("remote.storage.enable=true"),
    "share-groups": lambda deployment: False,
}
"""Feature -> whether a deployment uses the feature. Share groups have no configuration that is read."""
