"""The client programs of the lab, of one role of a deployment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from proofka.checker.cluster.client import ClientProcess
from proofka.checker.cluster.cluster import Cluster
from proofka.checker.cluster.jars import jars_of, newest_patch
from proofka.checker.cluster.supervisor import Supervisor
from proofka.checker.conformance.lab_settings import lab_settings
from proofka.checker.real_settings import client_of
from proofka.model.deployment.deployment import Deployment


class LabClients:
    """The programs of one role on a cluster of a release. ``role``: "producer" or "consumer"."""

    def __init__(
        self, deployment: Deployment, cluster: Cluster, supervisor: Supervisor, *, release: str, role: str
    ) -> None:
        self._supervisor, self._cluster, self._role, self._release = supervisor, cluster, role, release
        self.library, version = client_of(deployment, role)
        self._client_release = version or release
        self._settings = lab_settings(deployment, role, self.library)

    def start(self, topic: str, client_id: str, more: Mapping[str, str]) -> ClientProcess:
        """Start a program. ``more``: settings in addition to those of the lab. Raises ClusterError."""
        return ClientProcess.start(
            self._supervisor,
            self.library,
            self._role,
            bootstrap=self._cluster.bootstrap,
            topic=topic,
            client_id=client_id,
            settings={**self._settings, **more},
            classpath=self._classpath() if self.library == "java" else (),
        )

    def _classpath(self) -> tuple[Path, ...]:
        """Return the jars of the client; a client of the brokers' release has theirs."""
        if self._release.startswith(self._client_release):
            return tuple(self._cluster.classpath)
        return tuple(jars_of(newest_patch(self._client_release)))
