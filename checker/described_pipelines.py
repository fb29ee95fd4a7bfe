"""The pipelines of a described cluster as a check reads them: of a live cluster, or of a folder with the outputs of
Kafka's tools and a list of pipelines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from proofka.checker.source import assumed
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.describe.described import DescribedCluster, read_cluster
from proofka.model.deployment.describe.folder import PIPELINES, look_into
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.hiding import printable

if TYPE_CHECKING:
    from proofka.checker.existing_files import Sought
    from proofka.checker.source import Source


@dataclass(frozen=True)
class DescribedPipelines:
    """The pipelines that are asked for, each by its number in the list, as a deployment or its error.

    ``cluster``: the cluster in words. ``unread``: what could not be read of a live cluster, a sentence each.
    """

    ones: tuple[tuple[int, str, Deployment | DeploymentError], ...]
    cluster: str
    unread: tuple[str, ...] = ()


def is_described(folder: Path) -> bool:
    """Tell whether a folder holds the outputs of Kafka's tools for a cluster, and the list of its pipelines."""
    if not (folder / PIPELINES).is_file():
        return False
    files = look_into(folder)
    return bool(files.outputs) and not files.deployments


def seek_described(source: Source) -> Sought:
    """Read the pipelines of a folder. Raises DeploymentError."""
    assert source.file is not None
    _refuse_options(source)
    described = read_cluster(source.file, look_into(source.file))
    return sought_of(described, str(source.file), source, kafka=source.kafka, topic=source.topic)


def seek_live(source: Source) -> Sought:
    """Read the pipelines of a live cluster. Raises DeploymentError, LiveError."""
    assert source.live is not None
    snapshot = source.live.snapshot()
    return sought_of(snapshot.described(), snapshot.place, source, unread=snapshot.unread)


def _refuse_options(source: Source) -> None:
    """Raise DeploymentError for options about files of other programs, which have no effect here."""
    given = {
        "--set": source.fill,
        "--env": source.environment,
        "--partial": source.partial,
        "--client": source.clients,
        "--broker, --producer and --consumer": source.broker or source.producer or source.consumer,
    }
    named = next((option for option, value in given.items() if value), None)
    if named is not None:
        raise DeploymentError(
            f"{named}: {PIPELINES} lists the pipelines of this folder; write it there", file=str(source.file)
        )


def sought_of(
    described: DescribedCluster,
    place: str,
    source: Source,
    *,
    kafka: str | None = None,
    topic: str | None = None,
    unread: tuple[str, ...] = (),
) -> Sought:
    """Return the pipelines of a cluster that the options choose. Raises DeploymentError if they choose none."""
    from proofka.checker.existing_files import Sought
    from proofka.model.deployment.dialects.finding import Findings
    from proofka.model.deployment.dialects.pairing import Paired

    overrides = assumed(source.assume)
    pipelines = described.pipelines
    numbers = [number for number in range(1, len(pipelines) + 1) if topic in (None, pipelines[number - 1].topic)]
    if topic is not None and not numbers:
        raise DeploymentError(f"--topic {printable(topic)}: no pipeline has this topic", file=place)
    if source.pipeline is not None:
        if source.pipeline not in numbers:
            raise DeploymentError(f"--pipeline {source.pipeline}: there are {len(pipelines)} pipelines", file=place)
        numbers = [source.pipeline]
    ones = tuple(
        (number, described.called(number - 1), _read(described, number - 1, kafka, overrides)) for number in numbers
    )
    there = DescribedPipelines(ones, _in_words(described), unread)
    return Sought(Findings(place, (), (), 0), Paired((), ()), (), described=there)


def _read(
    described: DescribedCluster, index: int, kafka: str | None, overrides: Mapping[str, str]
) -> Deployment | DeploymentError:
    try:
        return described.read(index, kafka, overrides)
    except DeploymentError as error:
        return error


def _in_words(described: DescribedCluster) -> str:
    cluster = described.cluster
    release = cluster.release
    counts = [(len(cluster.brokers), "broker"), (len(cluster.topics), "topic"), (len(described.pipelines), "pipeline")]
    told = [f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts]
    return ", ".join([*([f"Kafka {release.value}"] if release is not None else []), *told])
