"""A folder that contains a cluster, read as one deployment for each pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from proofka.model.deployment.builder import build
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.describe.cluster import Cluster
from proofka.model.deployment.describe.features import check_groups, check_release, feature_settings
from proofka.model.deployment.describe.folder import Files, read_client, read_outputs, sort_clients
from proofka.model.deployment.describe.pipelines import Pipeline, Pipelines, every_pair, read_pipelines
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given, GivenClient, GivenDeployment, Settings, complaint, place
from proofka.model.deployment.hiding import printable, shown_key
from proofka.model.deployment.options import outrank, read_options
from proofka.model.deployment.record_reader import given_record, labels_of
from proofka.model.deployment.setting import Origin


@dataclass(frozen=True)
class DescribedCluster:
    """A cluster, its clients by their files, and its pipelines."""

    cluster: Cluster
    clients: Mapping[str, GivenClient | DeploymentError]
    pipelines: Pipelines

    def chosen(self, index: int) -> dict[str, str | None]:
        """Return a pipeline's topic and clients, and its labels."""
        pipeline = self.pipelines[index]
        made_of = {"topic": printable(pipeline.topic), "producer": pipeline.producer, "consumer": pipeline.consumer}
        return {**made_of, **labels_of(pipeline.record)}

    def called(self, index: int) -> str:
        """Return the name of a pipeline: its given name, or a name made of topic and clients."""
        pipeline = self.pipelines[index]
        return pipeline.record.get("name", "").strip() or pipeline.name

    def read(self, index: int, kafka: str | None = None, overrides: Mapping[str, str] | None = None) -> Deployment:
        """Return the deployment of a pipeline. ``kafka``: the release if its row has none. Raises DeploymentError."""
        pipeline = self.pipelines[index]
        if pipeline.problem is not None:
            raise DeploymentError(pipeline.problem, file=pipeline.file, line=pipeline.line)
        said = self._said(pipeline, kafka)
        try:
            of_topic = self.cluster.settings(pipeline.topic)
        except DeploymentError as error:
            if error.file is None:
                error.file, error.line = pipeline.file, pipeline.line
            raise
        consumer = self._client(pipeline.consumer, said.consumer)
        levels = feature_settings(self.cluster.features, said.kafka.value)
        check_groups(self.cluster.features, consumer.settings, said.kafka.value)
        group = consumer.settings.get("group.id")
        own = {} if group is None else self.cluster.of_group(group.value.strip())
        given = replace(
            said,
            topic=_together(of_topic.topic, said.topic),
            broker=_together({**of_topic.broker, **levels, **own}, said.broker),
            producer=self._client(pipeline.producer, said.producer),
            consumer=consumer,
            elr=said.elr or (None if levels else of_topic.elr),
        )
        return build(outrank(given, read_options(overrides or {})))

    def _client(self, name: str | None, said: GivenClient) -> GivenClient:
        if name is None:
            return said
        client = self.clients[name]
        if isinstance(client, DeploymentError):
            # Another pipeline can raise the same error, so each gets its own instance.
            raise DeploymentError(client.message, file=client.file, line=client.line, key=client.key)
        return replace(said, settings=_together(client.settings, said.settings), present=True)

    def _said(self, pipeline: Pipeline, kafka: str | None) -> GivenDeployment:
        """Return the given deployment of the row with its release: the row's, the option's, or the outputs'."""
        listed = pipeline.record.get("kafka")
        if listed and kafka is not None and listed != kafka.strip():
            message = f"is {printable(listed)} here, but the option --kafka gives {printable(kafka)}; keep one of them"
            raise DeploymentError(message, file=pipeline.file, line=pipeline.line, key="kafka")
        named = listed or kafka
        found = self.cluster.release
        if named is None and found is None:
            message = (
                "has no release of the brokers, and no output tells it: add --kafka, as in --kafka 4.0, or a column "
                "kafka in pipelines.csv, or the output of kafka-features.sh describe"
            )
            raise DeploymentError(message, file=pipeline.file, line=pipeline.line)
        release = named or (found.value if found is not None else "")
        record = {**pipeline.record, "kafka": release}
        said = given_record(record, name=pipeline.name, file=pipeline.file, line=pipeline.line)
        if named is None and found is not None:
            return replace(said, kafka=found)
        if not listed:
            origin = Origin("option", f"--kafka {printable(release)}")
            said = replace(said, kafka=Given("kafka", release, origin))
        check_release(said.kafka, found)
        return said


def read_cluster(folder: Path, files: Files) -> DescribedCluster:
    """Read a folder of outputs, clients and perhaps a list of pipelines. Raises DeploymentError for errors that affect
    all of them."""
    cluster = read_outputs(files)
    if not cluster.names():
        message = f"has no topic: add the output of kafka-topics.sh --describe (found: {files.counted()})"
        raise DeploymentError(message, file=str(folder))
    pipelines: Pipelines
    if files.pipelines is not None:
        pipelines = read_pipelines(files.pipelines)
        named = {name for row in pipelines.rows for name in (row.producer, row.consumer) if name is not None}
    else:
        clients = sort_clients(folder, files.properties, cluster.names())
        pipelines = every_pair(str(folder), cluster.names(), clients)
        named = {client.name for client in clients}
    return DescribedCluster(cluster, {name: read_client(folder / name) for name in sorted(named)}, pipelines)


def _together(described: Settings, said: Settings) -> dict[str, Given]:
    """Return the described settings together with the row's. Raises DeploymentError if a row contradicts or repeats a
    described setting."""
    for key in said:
        if key in described:
            message = f"is given twice, also at {place(described[key])}; keep one"
            raise complaint(Given(shown_key(key), "", said[key].origin), message)
    return {**described, **said}
