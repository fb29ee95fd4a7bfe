"""What makes the difference between the deployments of an audit: which settings, and how many faults each stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from checker.spark.folder import AuditFolder
from checker.spark.summing import WORST_FIRST, rank, read_verdicts
from model.deployment.required_properties import KNOWN_PROPERTIES
from properties.audited import Influence, Portion, Tolerance
from properties.verdict import Status

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Values = Mapping[str, Sequence[str | None]]
"""The settings of a matrix, each with its values, as the file lists them."""

MOST_COMBINATIONS = 36
"""How many combinations of values are told apart at most."""

LEAST_GAIN = 0.02
"""A setting is told apart where it explains so much of what is mixed without it."""

MOST_OUTCOMES = 36
"""How many different sets of verdicts are told apart at most."""

NOT_SET = "(not set)"
ALL_DEPLOYMENTS, EACH_PROPERTY = "all deployments", "each property"

Key = tuple[Any, ...]
Counts = Mapping[str, Mapping[Status, int]]
Splits = Mapping[str, Mapping[Key, Counts]]


def influence(spark: SparkSession, folder: AuditFolder, settings: Values) -> Influence:
    """Read it off the tables of an audit. ``settings`` is empty where the source is no matrix."""
    verdicts = read_verdicts(spark, folder).select(
        "place", "number", "deployment", "chosen", "property", "required", "status", "fewest_faults"
    )
    verdicts.cache()
    try:
        required = _in_order(row.property for row in verdicts.where("required").select("property").distinct().collect())
        tolerance = _tolerance(verdicts, settings)
        if not settings:
            return Influence(required, (), (), (), _outcomes(verdicts), tolerance)
        splits = _splits(verdicts, ())
        by_value, without = _by_value(splits, settings)
        return Influence(required, by_value, without, _by_combination(verdicts, splits, settings), (), tolerance)
    finally:
        verdicts.unpersist()


def _splits(verdicts: DataFrame, chosen: Sequence[str]) -> dict[str, dict[Key, Counts]]:
    """For each setting: the portions for the values of the chosen settings and of this one, in a single job.

    Each is told as property -> status -> how many deployments.
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
    """How mixed the verdicts of a portion are: 0 where all have the same status on each property."""
    each = [tuple(statuses.values()) for statuses in counts.values()]
    return sum(sum(numbers) - sum(number**2 for number in numbers) / sum(numbers) for numbers in each)


def _together(portions: Mapping[Key, Counts]) -> Counts:
    """The portions as one."""
    counts: dict[str, dict[Status, int]] = defaultdict(lambda: defaultdict(int))
    for portion in portions.values():
        for name, statuses in portion.items():
            for status, deployments in statuses.items():
                counts[name][status] += deployments
    return counts


def _left(portions: Mapping[Key, Counts]) -> float:
    return sum(_mixed(counts) for counts in portions.values())


def _by_value(splits: Splits, settings: Values) -> tuple[tuple[Portion, ...], tuple[str, ...]]:
    whole = _mixed(_together(next(iter(splits.values()))))
    telling = sorted((s for s in settings if _left(splits[s]) < whole * (1 - 1e-9)), key=lambda s: _left(splits[s]))
    portions = [
        _portion([(setting, value)], splits[setting][(value,)])
        for setting in telling
        for value in settings[setting]
        if (value,) in splits[setting]
    ]
    return tuple(portions), tuple(setting for setting in settings if setting not in telling)


def _by_combination(verdicts: DataFrame, splits: Splits, settings: Values) -> tuple[Portion, ...]:
    """Tell apart the setting that explains most, then that which explains most of the rest, and so on."""
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
    shown = tuple((setting, NOT_SET if value is None else value) for setting, value in values)
    ordered = {name: counts[name] for name in _in_order(counts)}
    return Portion(shown, max(sum(statuses.values()) for statuses in counts.values()), ordered)


def _in_order(properties: Iterable[str]) -> tuple[str, ...]:
    """The properties as the catalogue lists them."""
    return tuple(sorted(properties, key=KNOWN_PROPERTIES.index))


def _outcomes(verdicts: DataFrame) -> tuple[Portion, ...]:
    from pyspark.sql import functions as f

    said = f.sort_array(f.collect_list(f.struct("property", "status"))).alias("said")
    each = verdicts.groupBy("place", "number").agg(f.min("deployment").alias("deployment"), said)
    rows = each.groupBy("said").agg(f.count("*").alias("deployments"), f.min("deployment").alias("first")).collect()
    rows.sort(key=lambda row: (-row.deployments, row.first))
    portions = []
    for row in rows[:MOST_OUTCOMES]:
        name = row.first if row.deployments == 1 else f"{row.first} and {row.deployments - 1:,} more"
        statuses = {verdict.property: {Status(verdict.status): row.deployments} for verdict in row.said}
        portions.append(_portion([("", name)], statuses))
    return tuple(portions)


def _tolerance(verdicts: DataFrame, settings: Values) -> Sequence[Tolerance]:
    """Of all deployments, of each property, and of each value of each setting.

    What a deployment stands is what the weakest of the properties that it requires stands.
    """
    from pyspark.sql import functions as f

    worst, fewest = f.min(rank(f.col("status"))).alias("worst"), f.min("fewest_faults").alias("fewest")
    required = verdicts.where("required").groupBy("place", "number")
    weakest = required.agg(f.first("chosen").alias("chosen"), worst, fewest).cache()
    last = (rank(f.col("status")).alias("worst"), f.col("fewest_faults").alias("fewest"))
    tables = (
        weakest.select(f.lit(ALL_DEPLOYMENTS).alias("group"), f.lit("").alias("label"), "worst", "fewest"),
        verdicts.select(f.lit(EACH_PROPERTY).alias("group"), f.col("property").alias("label"), *last),
        weakest.select(f.explode("chosen").alias("group", "label"), "worst", "fewest"),
    )
    found: dict[tuple[str, str | None], dict[tuple[Status, int | None], int]] = defaultdict(dict)
    for row in (
        reduce(type(verdicts).unionByName, tables).groupBy("group", "label", "worst", "fewest").count().collect()
    ):
        found[row["group"], row["label"]][WORST_FIRST[row["worst"]], row["fewest"]] = row["count"]
    weakest.unpersist()
    labels: Values = {ALL_DEPLOYMENTS: [""], EACH_PROPERTY: KNOWN_PROPERTIES, **settings}
    return [
        _one_tolerance(group, NOT_SET if label is None else label, found[group, label])
        for group in labels
        for label in labels[group]
        if (group, label) in found
    ]


def _one_tolerance(group: str, label: str, by: Mapping[tuple[Status, int | None], int]) -> Tolerance:
    fewest: dict[int, int] = defaultdict(int)
    for (_, faults), deployments in by.items():
        if faults is not None:
            fewest[faults] += deployments
    undecided = sum(n for (status, faults), n in by.items() if faults is None and status is Status.UNKNOWN)
    return Tolerance(group, label, dict(fewest), sum(by.values()) - sum(fewest.values()) - undecided, undecided)
