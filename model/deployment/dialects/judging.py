"""A pipeline that was found, as a deployment: what its values come to, and what keeps it from being checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from model.deployment.deployment import Deployment
from model.deployment.dialects.component import ASSUMED_REPLICAS, EVERYTHING, Found, Left
from model.deployment.dialects.finding import Findings
from model.deployment.dialects.pairing import Pipeline, Placed
from model.deployment.era import ZOOKEEPER
from model.deployment.errors import DeploymentError
from model.deployment.given import Given, GivenClient, GivenDeployment, Settings, library_of
from model.deployment.known_keys import is_misspelt
from model.deployment.leaving_out import AS_READ, rest_of, with_notes
from model.deployment.mode import LAST_WITH_ZOOKEEPER, with_mode
from model.deployment.options import outrank, read_options
from model.deployment.release import JAVA, NEWEST, Release
from model.deployment.setting import Origin

REPLICAS = "replication.factor"


@dataclass(frozen=True)
class Judged:
    """A pipeline with its deployment, or what is wrong with it.

    ``problems`` are what its client or broker refuses, and what still has to be filled in; ``rejected``: what the
    readers of its files could not use; ``unbound``: names in these files that a framework binds to nothing, and that
    are misspelt most likely; ``notes``: what the readers noted. ``rest`` is what the deployment would be without the
    values that are wrong, for an account of all others; None where not even that can be built. ``partial``: that is to
    be checked.
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
        """All that is wrong, each said once."""
        return tuple({str(one): one for one in (*self.problems, *self.rejected)}.values())

    @property
    def deployment(self) -> Deployment | None:
        """The deployment to check: None where something is wrong, or where even the rest cannot be built."""
        if self.rest is None or (self.wrong and not self.partial):
            return None
        return with_notes(self.rest, self.wrong, (*map(str, self.unbound), *self.notes))

    @property
    def misspelt(self) -> tuple[DeploymentError, ...]:
        """Settings that are ignored, and that are misspelt most likely, as lines beside what is wrong."""
        ignored = () if self.rest is None else self.rest.ignored
        doubtful = (one for one in ignored if is_misspelt(one.reason) and one.origin.file is not None)
        errors = (
            DeploymentError(one.reason, file=one.origin.file, line=one.origin.line, key=one.key) for one in doubtful
        )
        return (*errors, *self.unbound)


def with_left_out(judged: Judged, findings: Findings) -> Judged:
    """The same with what its files, or others that reach it, say in vain.

    What was rejected keeps the verdict back: what that would change is not known. What is misspelt most likely is told.
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
    """What the reader of a file could not use, as errors with their places."""
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
    """Make a pipeline a deployment; ``kafka`` is the release of the brokers where no file says it.

    ``clients``: the releases of clients by their libraries, whatever files say.

    Raises DeploymentError for an option that makes no sense.
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
    """What the user says, else the files, else the newest that is known."""
    if kafka is not None:
        return Given("kafka", kafka, Origin("option", f"--kafka {kafka}"))
    for one in (pipeline.brokers, pipeline.topic):
        if one is not None and one.component.kafka is not None:
            return one.component.kafka
    if pipeline.brokers is not None and ZOOKEEPER in pipeline.brokers.component.settings:
        newest = f"the newest with {ZOOKEEPER}; --kafka V says another"
        return Given("kafka", str(LAST_WITH_ZOOKEEPER), Origin("assumption", newest))
    return Given("kafka", str(Release(*NEWEST)), Origin("assumption", "no file says the release; --kafka V does"))


def _topic(pipeline: Pipeline) -> Settings:
    """What files say of the topic; where neither they nor the brokers' say how many replicas it has, three."""
    settings = _settings(pipeline.topic)
    if REPLICAS in settings or pipeline.brokers is not None:
        return settings
    origin = Origin("assumption", "no file says how many; --assume replicas=N does")
    return {REPLICAS: Given(REPLICAS, ASSUMED_REPLICAS, origin), **settings}


def _settings(placed: Placed | None) -> Settings:
    return {} if placed is None else placed.component.settings


def _client(placed: Placed | None, clients: Mapping[str, Given]) -> GivenClient:
    """The client as its file says; of Java's, where no file speaks of one."""
    if placed is None:
        return GivenClient(version=clients.get(JAVA))
    one = placed.component
    return GivenClient(one.settings, one.client, clients.get(library_of(one.client)) or one.version, present=True)
