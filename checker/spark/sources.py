"""Sources of an audit: an inventory, a folder of deployment files, the output of Kafka's tools for a cluster, or a
matrix.

An inventory has a deployment in each row. A source lists its rows as a DataFrame of numbers and texts, made on the
executors if it is large. A source also reads a row as a deployment. An error in a row affects this row only; an error
in the source ends the audit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from proofka.checker.source import narrowed
from proofka.checker.spark.csv_file import CORRUPT, check_header, csv_records
from proofka.checker.spark.paths import literal
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.describe.described import DescribedCluster, read_cluster
from proofka.model.deployment.describe.folder import YAML, Files, look_into
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.hiding import shown_key
from proofka.model.deployment.matrix import Matrix, read_matrix
from proofka.model.deployment.options import read_options
from proofka.model.deployment.record_reader import labels_of, read_record
from proofka.model.deployment.yaml_reader import read_deployment

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import Column, DataFrame, SparkSession

ROWS = "number long, place string, text string"
RECORDS_AT_A_TIME = 1000


class NoSuchRow(Exception):
    """A rule of the source excludes this number."""


class Source(Protocol):
    """A source of deployments, sent to the executors."""

    @property
    def nothing(self) -> str:
        """The reason why the source has no row, if it has none."""

    def rows(self, spark: SparkSession) -> DataFrame:
        """Return every possible row: ``ROWS``, each number once."""

    def read(self, number: int, place: str, text: str) -> Deployment:
        """Return the deployment of a row. Raise DeploymentError, and :class:`NoSuchRow`."""

    def called(self, number: int, place: str, text: str) -> str:
        """Return the name of a row, also of an unreadable row."""

    def values(self, number: int, text: str = "") -> Mapping[str, str | None]:
        """Return the values that distinguish a row, if the source has any: the values chosen for it, its labels."""


@dataclass(frozen=True)
class MatrixSource:
    """Every combination of a matrix that is not excluded."""

    nothing: ClassVar[str] = "its rules exclude every combination"
    matrix: Matrix
    overrides: Mapping[str, str]

    def rows(self, spark: SparkSession) -> DataFrame:
        from pyspark.sql import functions as f

        place, text = f.lit(self.matrix.file).alias("place"), f.lit("").alias("text")
        return spark.range(self.matrix.size).select(f.col("id").alias("number"), place, text)

    def read(self, number: int, place: str, text: str) -> Deployment:
        if self.matrix.is_excluded(self.matrix.chosen(number)):
            raise NoSuchRow
        with _as_named(self.matrix.lines):
            return self.matrix.read(number, self.overrides)

    def called(self, number: int, place: str, text: str) -> str:
        return self.matrix.called(number)

    def values(self, number: int, text: str = "") -> Mapping[str, str | None]:
        return self.matrix.chosen(number)


@dataclass(frozen=True)
class InventoryFile:
    """A table with a deployment in each row: CSV with a header, JSON lines, or Parquet."""

    nothing: ClassVar[str] = "there is no row in it"
    path: str
    overrides: Mapping[str, str]

    def rows(self, spark: SparkSession) -> DataFrame:
        from pyspark.sql import functions as f

        path = literal(self.path)
        if self.path.endswith(".csv"):
            files = spark.read.format("binaryFile").load(path).select("content")
            return _spread(files.mapInPandas(partial(_csv_rows, self.path), ROWS))
        if self.path.endswith((".jsonl", ".ndjson", ".json")):
            table, text = spark.read.text(path), f.col("value")
            where = f.struct("_metadata.file_block_start", f.monotonically_increasing_id())
        else:
            table, text = spark.read.parquet(path), f.to_json(f.struct("*"))
            where = f.struct("_metadata.file_path", "_metadata.row_index")
        numbered = table.select(text.alias("text"), where.alias("at"))
        rows = numbered.select(_counted("at"), f.lit(self.path).alias("place"), "text")
        return _spread(rows.where("trim(text) <> ''"))

    def read(self, number: int, place: str, text: str) -> Deployment:
        try:
            record = json.loads(text or "null", object_pairs_hook=_each_key_once)
        except (ValueError, RecursionError) as error:
            why = f"{error.msg} at character {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
            raise DeploymentError(f"is no JSON: {why}", file=place, line=number) from None
        if not isinstance(record, dict):
            raise DeploymentError("is no deployment: a JSON object is", file=place, line=number)
        if CORRUPT in record:
            raise DeploymentError(record[CORRUPT], file=place, line=number)
        name = _name_of(record, number, place)
        with _as_named(dict.fromkeys(record, number)):
            return read_record(record, name=name, file=place, line=number, overrides=self.overrides)

    def called(self, number: int, place: str, text: str) -> str:
        return _name_of(self._record(text), number, place)

    def values(self, number: int, text: str = "") -> Mapping[str, str | None]:
        return labels_of(self._record(text))

    @staticmethod
    def _record(text: str) -> Mapping[str, object]:
        """Return the readable part of a row; ``read`` reports its errors."""
        try:
            record = json.loads(text or "null")
        except (ValueError, RecursionError):
            return {}
        return record if isinstance(record, dict) else {}


def _name_of(record: Mapping[str, object], number: int, place: str) -> str:
    name = record.get("name")
    return name if isinstance(name, str) and name.strip() else f"{Path(place).stem}-{number}"


def _csv_rows(path: str, batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Yield the records of a CSV file as JSON, each with the line on which it begins."""
    import pandas as pd

    for batch in batches:
        for content in batch["content"]:
            numbered = csv_records(bytes(content))
            while some := list(islice(numbered, RECORDS_AT_A_TIME)):
                rows = [(number, path, json.dumps(record)) for number, record in some]
                yield pd.DataFrame(rows, columns=["number", "place", "text"])


def _each_key_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)} is there twice")
    return found


@dataclass(frozen=True)
class DeploymentFolder:
    """A folder of deployment files in YAML, at any depth."""

    nothing: ClassVar[str] = "there is no deployment in it"
    path: str
    overrides: Mapping[str, str]
    passed_over: str | None = None
    """Further files in the folder, which are not read, in words."""

    def rows(self, spark: SparkSession) -> DataFrame:
        # Spark's own reader of files skips empty files, and names that start with an underscore.
        files = enumerate(look_into(Path(self.path)).deployments, 1)
        return spark.createDataFrame([(number, str(file), "") for number, file in files], ROWS)

    def read(self, number: int, place: str, text: str) -> Deployment:
        return read_deployment(Path(place), self.overrides)

    def called(self, number: int, place: str, text: str) -> str:
        return Path(place).stem

    def values(self, number: int, text: str = "") -> Mapping[str, str | None]:
        return {}


@dataclass(frozen=True)
class ClusterFolder:
    """A folder with the output of Kafka's tools for a cluster, beside property files of clients; the driver reads it
    once.

    ``kafka`` is the release of the brokers, if no list of pipelines names it.
    """

    nothing: ClassVar[str] = "there is no pipeline in it"
    path: str
    described: DescribedCluster
    kafka: str | None
    overrides: Mapping[str, str]

    def rows(self, spark: SparkSession) -> DataFrame:
        from pyspark.sql import functions as f

        pipelines = self.described.pipelines
        numbers = spark.range(pipelines.first, pipelines.first + len(pipelines))
        return numbers.select(f.col("id").alias("number"), f.lit(self.path).alias("place"), f.lit("").alias("text"))

    def read(self, number: int, place: str, text: str) -> Deployment:
        return self.described.read(self._index(number), self.kafka, self.overrides)

    def called(self, number: int, place: str, text: str) -> str:
        return self.described.called(self._index(number))

    def values(self, number: int, text: str = "") -> Mapping[str, str | None]:
        return self.described.chosen(self._index(number))

    def _index(self, number: int) -> int:
        return number - self.described.pipelines.first


@dataclass(frozen=True)
class Requiring:
    """The deployments of another source, with the required properties of a profile instead of their own."""

    source: Source
    profile: str

    @property
    def nothing(self) -> str:
        """The reason why the source has no row, if it has none."""
        return self.source.nothing

    def rows(self, spark: SparkSession) -> DataFrame:
        """Return every row of the other source."""
        return self.source.rows(spark)

    def read(self, number: int, place: str, text: str) -> Deployment:
        """Return the deployment of a row, with the profile's required properties."""
        return narrowed(self.source.read(number, place, text), None, None, self.profile)

    def called(self, number: int, place: str, text: str) -> str:
        """Return the name of a row, also of an unreadable row."""
        return self.source.called(number, place, text)

    def values(self, number: int, text: str = "") -> Mapping[str, str | None]:
        """Return the values that distinguish a row."""
        return self.source.values(number, text)


@contextmanager
def _as_named(lines: Mapping[str, int]) -> Iterator[None]:
    """Name the source's own column or key (name -> line) in errors about a setting."""
    try:
        yield
    except DeploymentError as error:
        ending = f".{error.key}"
        named = [name for name, line in lines.items() if error.key and name.endswith(ending) and line == error.line]
        if len(named) == 1:
            error.key = shown_key(named[0])
        raise


def _counted(by: str) -> Column:
    """Return the number of each row in the order of a column, from 1."""
    from pyspark.sql import functions as f
    from pyspark.sql.window import Window

    return f.row_number().over(Window.orderBy(by)).cast("long").alias("number")


def _spread(rows: DataFrame) -> DataFrame:
    """Distribute rows read or counted by one task over as many parts as there are processors."""
    return rows.repartition(rows.sparkSession.sparkContext.defaultParallelism)


def find_source(path: Path, overrides: Mapping[str, str], kafka: str | None = None) -> Source:
    """Return the source at a path.

    Raise DeploymentError if an audit cannot read the path.

    ``kafka`` is the release of the brokers of a cluster that Kafka's tools describe; no other source needs this value.
    """
    read_options(overrides)  # an error here is an error of every row
    if not path.exists():
        raise DeploymentError("does not exist", file=str(path))
    if path.is_file() and not path.stat().st_size:
        raise DeploymentError("is empty", file=str(path))
    files = look_into(path) if path.is_dir() else None
    if files is not None and _is_cluster(path, files):
        return ClusterFolder(str(path), read_cluster(path, files), kafka, overrides)
    if kafka is not None:
        raise DeploymentError(
            "names the release of each deployment itself; leave this option out", file=str(path), key=f"--kafka {kafka}"
        )
    if files is not None:
        is_table = any(path.glob("*.parquet")) or not files.deployments
        if is_table:
            return InventoryFile(str(path), overrides)
        return DeploymentFolder(str(path), overrides, files.besides_deployments)
    if path.suffix in YAML:
        matrix = read_matrix(path)
        matrix.check_keys()
        return MatrixSource(matrix, overrides)
    if path.name.startswith("_"):
        raise DeploymentError(
            "Spark ignores files whose names start with an underscore: rename this file", file=str(path)
        )
    if path.suffix == ".csv":
        check_header(path)
    if path.suffix in (".csv", ".jsonl", ".ndjson", ".json", ".parquet"):
        return InventoryFile(str(path), overrides)
    raise DeploymentError(f"is no source of an audit: {_READ}", file=str(path))


def _is_cluster(path: Path, files: Files) -> bool:
    """Tell whether a folder holds a cluster's description, and nothing else."""
    if any(path.glob("*.parquet")):
        return False
    described = bool(files.outputs) or files.pipelines is not None
    if files.deployments:
        if described:
            message = f"holds deployment files and a cluster's description, of which one is allowed: {files.counted()}"
            raise DeploymentError(f"{message}; audit each in a folder of its own", file=str(path))
        return False
    if described or files.texts:
        return True
    if files.parquet:
        return False  # a partitioned table lies deeper
    raise DeploymentError(f"holds no source of an audit: {_READ} (found: {files.counted()})", file=str(path))


_READ = (
    "a matrix (.yaml), an inventory (.csv, .jsonl, .parquet), a folder of deployment files, or a folder with what "
    "kafka-topics.sh --describe and kafka-configs.sh --describe --all print, as .txt"
)
