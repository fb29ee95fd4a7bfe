"""Differences between the deployments of an audit: the settings that matter, and the number of faults that each
tolerates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from proofka.checker.spark.comparing import Compared, Weakest, by_deployment, compare
from proofka.checker.spark.folder import AuditFolder
from proofka.checker.spark.summing import WORST_FIRST, rank, read_verdicts
from proofka.model.deployment.required_properties import KNOWN_PROPERTIES
from proofka.properties.audited import Influence, Portion, Tolerance
from proofka.properties.verdict import Status

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Values = Mapping[str, Sequence[str | None]]
"""The settings of a matrix, each with its values in the order of the file."""

MOST_COMBINATIONS = 36
"""Largest number of combinations of values that are distinguished."""

LEAST_GAIN = 0.02
"""Smallest part of the initial mixture that a setting must explain to be distinguished."""

MOST_OUTCOMES = 36
"""Largest number of different sets of verdicts that are distinguished."""

NOT_SET = "(not set)"
ALL_DEPLOYMENTS, EACH_PROPERTY = "all deployments", "each property"

Key = tuple[Any, ...]
Counts = Mapping[str, Mapping[Status, int]]
Splits = Mapping[str, Mapping[Key, Counts]]


def influence(spark: SparkSession, folder: AuditFolder, settings: Values) -> Influence:
    """Read the influence of settings from the tables of an audit. ``settings`` is empty if the source is no matrix."""
    verdicts = read_verdicts(spark, folder).select(
        "place", "number", "deployment", "chosen", "property", "required", "status", "fewest_faults"
    )
    verdicts.cache()
    deployments = by_deployment(verdicts).cache()
    try:
        required = _in_order(row.property for row in verdicts.where("required").select("property").distinct().collect())
        tolerance = _tolerance(verdicts, deployments)
        if not settings:
            return Influence(required, (), (), (), (), _outcomes(deployments), tolerance)
        splits = _splits(verdicts, ())
        there = {s: [v for v in values if (v,) in splits[s]] for s, values in settings.items() if s in splits}
        compared = compare(deployments, there)
        telling = [s for s in there if compared[s].changing and compared[s].statuses]
        telling.sort(key=lambda s: -compared[s].changing / compared[s].pairs)
        without = tuple(s for s in there if compared[s].pairs and not compared[s].changing)
        return Influence(
            required,
            tuple(_portion([(s, v)], compared[s].statuses[v]) for s in telling for v in there[s]),
            without,
            tuple(s for s in settings if len(settings[s]) > 1 and s not in telling and s not in without),
            _by_combination(verdicts, splits, settings),
            (),
            [*tolerance, *_tolerance_by_value(compared, there)],
        )
    finally:
        deployments.unpersist()
        verdicts.unpersist()


def _splits(verdicts: DataFrame, chosen: Sequence[str]) -> dict[str, dict[Key, Counts]]:
    """Return, for each setting, the portions for the values of the chosen settings and of this setting, in a single
    job.

    Each portion maps property -> status -> number of deployments.
    """
    from pyspark.sql import functions as f

    by = [f.col("chosen")[name].alias(f"value{place}") for place, name in enumerate(chosen)]
    each = verdicts.select("property", "status", *by, f.explode("chosen").alias("setting", "value"))
    names = [f"value{place}" for place in range(len(chosen))] + ["value"]
    splits: dict[str, dict[Key, dict[str, dict[Status, int]]]] = defaultdict(dict)
    for row in each.groupBy("setting", *names, "property", "status").count().collect():
        counts = splits[row["setting"]].setdefault(tuple(row[name] for name in names), defaultdict(dict))
        counts[row["property"]][Status(row["status"])] = row["count"]
    return {setting: dict(portions) for setting, portions in splits.items() if setting not in chosen}


def _mixed(counts: Counts) -> float:
    """Return the mixture of the verdicts of a portion: 0 if all deployments have the same status on each property."""
    each = [tuple(statuses.values()) for statuses in counts.values()]
    return sum(sum(numbers) - sum(number**2 for number in numbers) / sum(numbers) for numbers in each)


def _together(portions: Mapping[Key, Counts]) -> Counts:
    """Return the union of the portions."""
    counts: dict[str, dict[Status, int]] = defaultdict(lambda: defaultdict(int))
    for portion in portions.values():
        for name, statuses in portion.items():
            for status, deployments in statuses.items():
                counts[name][status] += deployments
    return counts


def _left(portions: Mapping[Key, Counts]) -> float:
    return sum(_mixed(counts) for counts in portions.values())


def _by_combination(verdicts: DataFrame, splits: Splits, settings: Values) -> tuple[Portion, ...]:
    """Distinguish the setting that explains most, then the setting that explains most of the rest, and so on."""
    chosen: list[str] = []
    best: Mapping[Key, Counts] = {(): _together(next(iter(splits.values())))}
    first = _left(best)
    while _left(best) > first * LEAST_GAIN:
        small = {s: splits[s] for s in settings if s in splits and len(splits[s]) <= MOST_COMBINATIONS}
        most = min(small, key=lambda s: _left(small[s]), default=None)
        if most is None or _left(small[most]) > _left(best) - first * LEAST_GAIN:
            break
        chosen.append(most)
        best = small[most]
        splits = _splits(verdicts, chosen)
    if not chosen:
        return ()
    order: list[Callable[[str | None], int]] = [settings[name].index for name in chosen]
    keys = sorted(best, key=lambda key: [place(value) for place, value in zip(order, key, strict=True)])
    return tuple(_portion(list(zip(chosen, key, strict=True)), best[key]) for key in keys)


def _portion(values: Sequence[tuple[str, str | None]], counts: Counts) -> Portion:
    shown = tuple((setting, _shown(value)) for setting, value in values)
    ordered = {name: counts[name] for name in _in_order(counts)}
    return Portion(shown, max(sum(statuses.values()) for statuses in counts.values()), ordered)


def _in_order(properties: Iterable[str]) -> tuple[str, ...]:
    """Return the properties in the order of the catalogue."""
    return tuple(sorted(properties, key=KNOWN_PROPERTIES.index))


def _outcomes(deployments: DataFrame) -> tuple[Portion, ...]:
    from pyspark.sql import functions as f

    each = f.count("*").alias("deployments"), f.min("deployment").alias("first")
    rows = deployments.groupBy("said").agg(*each).collect()
    rows.sort(key=lambda row: (-row.deployments, row.first))
    portions = []
    for row in rows[:MOST_OUTCOMES]:
        name = row.first if row.deployments == 1 else f"{row.first} and {row.deployments - 1:,} more"
        statuses = {verdict.property: {Status(verdict.status): row.deployments} for verdict in row.said}
        portions.append(_portion([("", name)], statuses))
    return tuple(portions)


def _tolerance(verdicts: DataFrame, deployments: DataFrame) -> list[Tolerance]:
    """Return the tolerance of all deployments, and for each property.

    A deployment tolerates as many faults as the weakest of its required properties.
    """
    from pyspark.sql import functions as f

    weakest: dict[Weakest, int] = {}
    for row in deployments.groupBy("worst", "fewest").count().collect():
        weakest[row["worst"], row["fewest"]] = row["count"]
    each: dict[str, dict[Weakest, int]] = defaultdict(dict)
    status = rank(f.col("status")).alias("worst")
    for row in verdicts.groupBy("property", status, f.col("fewest_faults").alias("fewest")).count().collect():
        each[row["property"]][row["worst"], row["fewest"]] = row["count"]
    everything = _one_tolerance(ALL_DEPLOYMENTS, "", weakest)
    return [everything, *(_one_tolerance(EACH_PROPERTY, name, each[name]) for name in _in_order(each))]


def _tolerance_by_value(compared: Mapping[str, Compared], values: Values) -> Iterator[Tolerance]:
    for setting, there in values.items():
        for value in there:
            if value in compared[setting].weakest:
                yield _one_tolerance(setting, _shown(value), compared[setting].weakest[value])


def _one_tolerance(group: str, label: str, by: Mapping[Weakest, int]) -> Tolerance:
    """Return one tolerance, without the deployments that require nothing."""
    fewest: dict[int, int] = defaultdict(int)
    others: dict[Status, int] = defaultdict(int)
    for (worst, faults), deployments in by.items():
        if faults is not None:
            fewest[faults] += deployments
        elif worst is not None:
            others[WORST_FIRST[worst]] += deployments
    return Tolerance(group, label, dict(fewest), others[Status.HOLDS], others[Status.VACUOUS], others[Status.UNKNOWN])


def _shown(value: str | None) -> str:
    return NOT_SET if value is None else value
