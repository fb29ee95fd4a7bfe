"""A found pipeline as a deployment: its values, and the errors that prevent its check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.dialects.component import ASSUMED_REPLICAS, EVERYTHING, Found, Left
from proofka.model.deployment.dialects.finding import Findings
from proofka.model.deployment.dialects.pairing import Pipeline, Placed
from proofka.model.deployment.era import ZOOKEEPER
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given, GivenClient, GivenDeployment, Settings, library_of
from proofka.model.deployment.known_keys import is_misspelt
from proofka.model.deployment.leaving_out import AS_READ, rest_of, with_notes
from proofka.model.deployment.mode import LAST_WITH_ZOOKEEPER, with_mode
from proofka.model.deployment.options import outrank, read_options
from proofka.model.deployment.release import JAVA, NEWEST, Release
from proofka.model.deployment.setting import Origin

REPLICAS = "replication.factor"


@dataclass(frozen=True)
class Judged:
    """A pipeline with its deployment, or its errors.

    ``problems``: values that its client or broker refuses, and values that are still missing. ``rejected``: values that
    the readers of its files could not use. ``unbound``: names in these files that a framework binds to nothing,
    probably misspelt. ``notes``: the readers' notes. ``rest``: the deployment without the wrong values, for an account
    of all others; None if it cannot be built either. ``partial``: check the rest.
    """

    pipeline: Pipeline
    problems: tuple[DeploymentError, ...]
    rest: Deployment | None
    rejected: tuple[DeploymentError, ...] = ()
    unbound: tuple[DeploymentError, ...] = ()
    notes: tuple[str, ...] = ()
    partial: bool = False

    @property
    def wrong(self) -> tuple[DeploymentError, ...]:
        """All errors, each once."""
        return tuple({str(one): one for one in (*self.problems, *self.rejected)}.values())

    @property
    def deployment(self) -> Deployment | None:
        """The deployment to check; None if there are errors (unless ``partial``), or if the rest cannot be built."""
        if self.rest is None or (self.wrong and not self.partial):
            return None
        return with_notes(self.rest, self.wrong, (*map(str, self.unbound), *self.notes))

    @property
    def misspelt(self) -> tuple[DeploymentError, ...]:
        """Ignored settings that are probably misspelt, as error lines."""
        ignored = () if self.rest is None else self.rest.ignored
        doubtful = (one for one in ignored if is_misspelt(one.reason) and one.origin.file is not None)
        errors = (
            DeploymentError(one.reason, file=one.origin.file, line=one.origin.line, key=one.key) for one in doubtful
        )
        return (*errors, *self.unbound)


def with_left_out(judged: Judged, findings: Findings) -> Judged:
    """Return the pipeline with the values that its files, or others that reach it, give in vain.

    Rejected values prevent a verdict, because their effect is unknown. Probably misspelt names are reported.
    """
    pipeline = judged.pipeline
    members = (pipeline.topic, pipeline.brokers, pipeline.producer, pipeline.consumer)
    files = {one.file for one in members if one is not None}
    reaching = (EVERYTHING, pipeline.topic_name)
    rejected = [
        _error(left)
        for found in findings.found
        for left in found.rejected
        if found.file in files or (left.reaches and left.reaches in reaching)
    ]
    unbound = [
        _error(left)
        for found in findings.found
        if found.file in files
        for left in found.ignored
        if is_misspelt(left.reason)
    ]
    notes = [
        f"{found.file}, {AS_READ}: {note}" for found in findings.found if found.file in files for note in found.notes
    ]
    return replace(judged, rejected=tuple(rejected), unbound=tuple(unbound), notes=tuple(notes))


def rejected_in(found: Found) -> Iterator[DeploymentError]:
    """Return the values that the reader of a file could not use, as errors with their places."""
    return (_error(left) for left in found.rejected)


def _error(left: Left) -> DeploymentError:
    place = left.given.origin
    return DeploymentError(left.reason, file=place.file, line=place.line, key=left.given.key)


def judge(
    pipeline: Pipeline,
    kafka: str | None = None,
    assume: Mapping[str, str] | None = None,
    clients: Mapping[str, Given] | None = None,
) -> Judged:
    """Build the deployment of a pipeline. ``kafka``: the release of the brokers if no file gives it.

    ``clients``: the releases of clients by their libraries, which outrank files. Raises DeploymentError for an invalid
    option.
    """
    rest = rest_of(outrank(_given(pipeline, kafka, clients or {}), read_options(assume or {})))
    return Judged(pipeline, rest.problems, rest.deployment)


def _given(pipeline: Pipeline, kafka: str | None, clients: Mapping[str, Given]) -> GivenDeployment:
    application = {
        key: given
        for client in (pipeline.producer, pipeline.consumer)
        if client is not None
        for key, given in client.component.application.items()
    }
    release, topic = _release(pipeline, kafka), _topic(pipeline)
    return GivenDeployment(
        name=pipeline.name,
        kafka=release,
        topic=topic,
        broker=with_mode(release, topic, _settings(pipeline.brokers)),
        producer=_client(pipeline.producer, clients),
        consumer=_client(pipeline.consumer, clients),
        application=application,
        as_found=True,
    )


def _release(pipeline: Pipeline, kafka: str | None) -> Given:
    """Return the release: the user's, otherwise the files', otherwise the newest known one."""
    if kafka is not None:
        return Given("kafka", kafka, Origin("option", f"--kafka {kafka}"))
    for one in (pipeline.brokers, pipeline.topic):
        if one is not None and one.component.kafka is not None:
            return one.component.kafka
    if pipeline.brokers is not None and ZOOKEEPER in pipeline.brokers.component.settings:
        newest = f"the newest with {ZOOKEEPER}; change it with --kafka V"
        return Given("kafka", str(LAST_WITH_ZOOKEEPER), Origin("assumption", newest))
    return Given(
        "kafka", str(Release(*NEWEST)), Origin("assumption", "no file gives the release; set it with --kafka V")
    )


def _topic(pipeline: Pipeline) -> Settings:
    """Return the topic's settings; three replicas if neither its files nor the brokers' give a number."""
    settings = _settings(pipeline.topic)
    if REPLICAS in settings or pipeline.brokers is not None:
        return settings
    origin = Origin("assumption", "no file gives a number; set it with --assume replicas=N")
    return {REPLICAS: Given(REPLICAS, ASSUMED_REPLICAS, origin), **settings}


def _settings(placed: Placed | None) -> Settings:
    return {} if placed is None else placed.component.settings


def _client(placed: Placed | None, clients: Mapping[str, Given]) -> GivenClient:
    """Return the client of a file; Java's if no file describes one."""
    if placed is None:
        return GivenClient(version=clients.get(JAVA))
    one = placed.component
    version = clients.get(library_of(one.client)) or one.version or one.newest
    return GivenClient(one.settings, one.client, version, present=True)
