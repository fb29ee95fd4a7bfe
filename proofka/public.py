"""The functions of the package :mod:`proofka`: deployments read from files, their results, and tables of verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from proofka.model.deployment.deployment import Deployment
from proofka.properties.verdict import Result

if TYPE_CHECKING:
    import pandas

    from proofka.checker.source import Source


def read(
    file: str | Path, *, topic: str | None = None, kafka: str | None = None, assume: Mapping[str, str] | None = None
) -> Deployment:
    """Return the deployment of a file or folder: a deployment in YAML, or existing files of other programs.

    ``topic``: the name of the topic, where files name several. ``kafka``: the release of the brokers, where no file
    names it ("3.9"). ``assume``: behaviour and durations that no file tells, as in ``--assume``
    (``{"commit": "after"}``). Raises DeploymentError, also if there is no pipeline or more than one.
    """
    return _source(file, topic, kafka=kafka, assume=assume).read()


def read_all(
    file: str | Path, *, topic: str | None = None, kafka: str | None = None, assume: Mapping[str, str] | None = None
) -> tuple[Deployment, ...]:
    """Return every deployment that the existing files of a folder describe; the arguments are those of :func:`read`.

    A deployment in YAML is the only one of its file. Raises DeploymentError if a file cannot be read.
    """
    from proofka.model.deployment.problems import first_of

    source = _source(file, topic, kafka=kafka, assume=assume)
    sought = source.seek()
    if sought is None:
        return (source.read(),)
    if sought.problems:
        raise first_of(sought.problems)
    return sought.deployments


def read_properties(
    *,
    kafka: str,
    topic: str | Path | None = None,
    broker: str | Path | None = None,
    producer: str | Path | None = None,
    consumer: str | Path | None = None,
    assume: Mapping[str, str] | None = None,
) -> Deployment:
    """Return the deployment of ``.properties`` files; a missing file means the defaults.

    ``kafka``: the release of brokers and clients ("3.9"). ``assume``: as for :func:`read`. Raises DeploymentError,
    which names every wrong value.
    """
    from proofka.model.deployment.properties_reader import read_properties as read_files

    files = {"topic": topic, "broker": broker, "producer": producer, "consumer": consumer}
    paths = {name: None if file is None else Path(file) for name, file in files.items()}
    return read_files(kafka=kafka, **paths, assume=assume)


def check(
    deployment: Deployment | str | Path,
    *,
    faults: int | None = None,
    require: Sequence[str] = (),
    seconds: float | None = None,
) -> Result:
    """Explore every interleaving of failures, and return a verdict for each property.

    ``deployment``: a deployment, or a file or folder that :func:`read` takes without further arguments.

    ``faults``: the total number of faults, of which every combination is explored. Without a total, single faults are
    explored, then larger sets for ``seconds`` (8 by default). ``require``: names of the required properties; without
    names, those that the deployment requires. ``seconds``: with a total, the limit of the exploration (none by
    default).

    A property is ``Status.HOLDS`` within the faults and sizes of its ``coverage``; its ``known_defects`` name defects
    of these releases that the model lacks and that could violate it. Raises DeploymentError for an unknown property.
    """
    from proofka.checker.budget import Budget
    from proofka.checker.check import check as explore
    from proofka.checker.source import narrowed

    read_already = deployment if isinstance(deployment, Deployment) else read(deployment)
    asked = narrowed(read_already, None if faults is None else str(faults), list(require))
    return explore(asked, budget=Budget(seconds=seconds))


def frame(*results: Result) -> pandas.DataFrame:
    """Return a data frame with a row for each verdict of results (``pip install pandas``).

    The columns are those of ``properties.verdict_table.COLUMNS``: property, status, required, the smallest fault sets
    in words, the largest number of faults of which every combination was explored, the number of states, the ids of
    known defects, and the id of the verdict. Raises ModuleNotFoundError where pandas is not installed.
    """
    import pandas

    from proofka.properties.verdict_table import COLUMNS, rows_of

    return pandas.DataFrame([row for result in results for row in rows_of(result)], columns=list(COLUMNS))


def _source(file: str | Path, topic: str | None, *, kafka: str | None, assume: Mapping[str, str] | None) -> Source:
    from proofka.checker.source import Source

    said = tuple(f"{key}={value}" for key, value in (assume or {}).items())
    return Source(Path(file), kafka=kafka, topic=topic, assume=said)
