"""The effect of a single setting: deployments that differ in nothing else, side by side.

Rules that exclude combinations, and rejected rows, can leave a value with deployments that differ in other settings as
well. So a value is compared only with deployments that exist for each other value, with all else equal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proofka.checker.spark.summing import rank
from proofka.properties.verdict import Status

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ONE = ("value", "outcome", "worst", "fewest")
"""Compared columns of a deployment."""

Weakest = tuple[int | None, int | None]
"""The rank of the worst status of the required properties, and the fewest faults that violate any of these
properties."""


@dataclass
class Compared:
    """The comparison of a setting's values, with equally many deployments for each value, alike in all else.

    ``pairs``: number of sets of deployments that differ only in this setting. ``changing``: number of these sets in
    which some verdict differs. ``statuses``: value -> property -> status -> number of deployments. ``weakest``: value
    -> weakest outcome -> number of deployments.
    """

    pairs: int
    changing: int
    statuses: dict[str | None, dict[str, dict[Status, int]]]
    weakest: dict[str | None, dict[Weakest, int]]


def by_deployment(verdicts: DataFrame) -> DataFrame:
    """Return a row for each deployment: its ``chosen`` values, its verdicts (``said``), and ``worst`` and ``fewest``.

    The last two are over the required properties, null if none is required.
    """
    from pyspark.sql import functions as f

    required = f.col("required")
    said = f.sort_array(f.collect_list(f.struct("property", "status"))).alias("said")
    return verdicts.groupBy("place", "number").agg(
        f.first("chosen").alias("chosen"),
        f.min("deployment").alias("deployment"),
        said,
        f.min(f.when(required, rank(f.col("status")))).alias("worst"),
        f.min(f.when(required, f.col("fewest_faults"))).alias("fewest"),
    )


def compare(deployments: DataFrame, values: Mapping[str, Sequence[str | None]]) -> dict[str, Compared]:
    """Compare the deployments of :func:`by_deployment`, for each setting with its present values."""
    from pyspark.sql import functions as f

    outcome = f.md5(f.to_json("said")).alias("outcome")
    others = f.filter(f.array_sort(f.map_entries("chosen")), lambda entry: entry["key"] != f.col("setting"))
    marked = deployments.select("*", outcome)
    each = marked.select("chosen", "outcome", "worst", "fewest", f.explode("chosen").alias("setting", "value"))
    each = each.where(f.col("setting").isin(list(values)))
    ones = f.collect_list(f.struct(*_ONE)).alias("ones")
    alike = each.groupBy("setting", others.alias("others")).agg(ones).where(f.size("ones") > 1)
    differs = (f.size(f.array_distinct("ones.outcome")) > 1).alias("differs")
    found = {setting: Compared(0, 0, {}, {}) for setting in values}
    pairs = alike.select("setting", differs).groupBy("setting", "differs").count().collect()
    for row in pairs:
        found[row["setting"]].pairs += row["count"]
        found[row["setting"]].changing += row["count"] * row["differs"]
    if not pairs:
        return found
    wanted = f.create_map(*(f.lit(part) for name, there in values.items() for part in (name, len(there))))
    whole = alike.where(f.size("ones") == wanted[f.col("setting")])
    counted = whole.select("setting", f.inline("ones")).groupBy("setting", *_ONE).count().collect()
    meant = {row["outcome"]: row["said"] for row in marked.select("outcome", "said").distinct().collect()}
    for row in counted:
        compared, value = found[row["setting"]], row["value"]
        statuses = compared.statuses.setdefault(value, defaultdict(lambda: defaultdict(int)))
        for verdict in meant[row["outcome"]]:
            statuses[verdict.property][Status(verdict.status)] += row["count"]
        weakest = compared.weakest.setdefault(value, defaultdict(int))
        weakest[row["worst"], row["fewest"]] += row["count"]
    return found
