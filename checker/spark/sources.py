"""What an audit reads: an inventory with a deployment a row, a folder of deployment files, a folder with what Kafka's
own tools print of a cluster, or a matrix.

A source says which rows there are (a DataFrame of numbers and texts, made on the executors where it is large) and
reads one of them as a deployment. What is wrong with a row is that row's matter; what is wrong with the source ends
the audit.
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

from checker.source import narrowed
from checker.spark.csv_file import CORRUPT, check_header, csv_records
from checker.spark.paths import literal
from model.deployment.deployment import Deployment
from model.deployment.describe.described import DescribedCluster, read_cluster
from model.deployment.describe.folder import YAML, Files, look_into
from model.deployment.errors import DeploymentError
from model.deployment.hiding import shown_key
from model.deployment.matrix import Matrix, read_matrix
from model.deployment.options import read_options
from model.deployment.record_reader import labels_of, read_record
from model.deployment.yaml_reader import read_deployment

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import Column, DataFrame, SparkSession

ROWS = "number long, place string, text string"
RECORDS_AT_A_TIME = 1000


class NoSuchRow(Exception):
    """A rule of the source excludes this number."""


class Source(Protocol):
    """Where deployments come from; sent to the executors."""

    @property
    def nothing(self) -> str:
        """Why there is no row, where there is none."""

    def rows(self, spark: SparkSession) -> DataFrame:
        """Every row that there may be: ``ROWS``, each number once."""

    def read(self, number: int, place: str, text: str) -> Deployment:
        """The deployment of a row. Raises DeploymentError, and :class:`NoSuchRow`."""

    def called(self, number: int, place: str, text: str) -> str:
        """What a row is called, also one that cannot be read."""

    def values(self, number: int, text: str = "") -> Mapping[str, str | None]:
        """What distinguishes a row from others, where the source says so: the values chosen for it, its labels."""


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
    """A table with a deployment a row: CSV with a header, JSON lines, or Parquet."""

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
        """A row as far as it can be read; of what is wrong with it ``read`` tells."""
        try:
            record = json.loads(text or "null")
        except (ValueError, RecursionError):
            return {}
        return record if isinstance(record, dict) else {}


def _name_of(record: Mapping[str, object], number: int, place: str) -> str:
    name = record.get("name")
    return name if isinstance(name, str) and name.strip() else f"{Path(place).stem}-{number}"


def _csv_rows(path: str, batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """The records of a CSV file as JSON, each with the line on which it begins."""
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
    """What else lies in the folder and is not read, in words."""

    def rows(self, spark: SparkSession) -> DataFrame:
        # Not Spark's own reader of files: it passes over empty ones, and over names that start with an underscore.
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
    """A folder with what Kafka's tools print of a cluster, beside property files of clients: read once, by the driver.

    ``kafka`` is the release of the brokers, where no list of pipelines says it.
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
    """The deployments of another source, of which a profile says what is required, whatever they say themselves."""

    source: Source
    profile: str

    @property
    def nothing(self) -> str:
        """Why there is no row, where there is none."""
        return self.source.nothing

    def rows(self, spark: SparkSession) -> DataFrame:
        """Every row of the other source."""
        return self.source.rows(spark)

    def read(self, number: int, place: str, text: str) -> Deployment:
        """The deployment of a row, with what the profile requires."""
        return narrowed(self.source.read(number, place, text), None, None, self.profile)

    def called(self, number: int, place: str, text: str) -> str:
        """What a row is called, also one that cannot be read."""
        return self.source.called(number, place, text)

    def values(self, number: int, text: str = "") -> Mapping[str, str | None]:
        """What distinguishes a row from others."""
        return self.source.values(number, text)


@contextmanager
def _as_named(lines: Mapping[str, int]) -> Iterator[None]:
    """What is wrong is said of the column or key (name -> line) by which the source knows a setting."""
    try:
        yield
    except DeploymentError as error:
        ending = f".{error.key}"
        named = [name for name, line in lines.items() if error.key and name.endswith(ending) and line == error.line]
        if len(named) == 1:
            error.key = shown_key(named[0])
        raise


def _counted(by: str) -> Column:
    """The number of each row in the order of a column, from 1."""
    from pyspark.sql import functions as f
    from pyspark.sql.window import Window

    return f.row_number().over(Window.orderBy(by)).cast("long").alias("number")


def _spread(rows: DataFrame) -> DataFrame:
    """Rows that one task has read or counted, in as many parts as there are processors."""
    return rows.repartition(rows.sparkSession.sparkContext.defaultParallelism)


def find_source(path: Path, overrides: Mapping[str, str], kafka: str | None = None) -> Source:
    """What a path holds. Raises DeploymentError where that is nothing an audit reads.

    ``kafka`` is the release of the brokers of a cluster that Kafka's tools describe: no other source needs it said.
    """
    read_options(overrides)  # what is wrong with these is wrong with every row
    if not path.exists():
        raise DeploymentError("does not exist", file=str(path))
    if path.is_file() and not path.stat().st_size:
        raise DeploymentError("is empty", file=str(path))
    files = look_into(path) if path.is_dir() else None
    if files is not None and _is_cluster(path, files):
        return ClusterFolder(str(path), read_cluster(path, files), kafka, overrides)
    if kafka is not None:
        raise DeploymentError(
            "says itself which release each deployment has; leave this out", file=str(path), key=f"--kafka {kafka}"
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
        raise DeploymentError("Spark passes over files whose names start with an underscore: rename it", file=str(path))
    if path.suffix == ".csv":
        check_header(path)
    if path.suffix in (".csv", ".jsonl", ".ndjson", ".json", ".parquet"):
        return InventoryFile(str(path), overrides)
    raise DeploymentError(f"is none of what an audit reads: {_READ}", file=str(path))


def _is_cluster(path: Path, files: Files) -> bool:
    """Whether a folder holds a cluster's description, and nothing else that could be meant."""
    if any(path.glob("*.parquet")):
        return False
    described = bool(files.outputs) or files.pipelines is not None
    if files.deployments:
        if described:
            message = f"holds deployment files and a cluster's description, and one can be meant: {files.counted()}"
            raise DeploymentError(f"{message}; audit each in a folder of its own", file=str(path))
        return False
    if described or files.texts:
        return True
    if files.parquet:
        return False  # deeper down: a table in partitions
    raise DeploymentError(f"holds none of what an audit reads: {_READ} (found: {files.counted()})", file=str(path))


_READ = (
    "a matrix (.yaml), an inventory (.csv, .jsonl, .parquet), a folder of deployment files, or a folder with what "
    "kafka-topics.sh --describe and kafka-configs.sh --describe --all print, as .txt"
)
