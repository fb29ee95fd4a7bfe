"""Output of Kafka's tools for a cluster, in the formats of their releases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from proofka.model.deployment.defaults import find_definition, known_keys
from proofka.model.deployment.describe.lines import DEFAULT, OWN
from proofka.model.deployment.release import parse_release

STATIC = "STATIC_BROKER_CONFIG"
CLUSTER_WIDE = "DYNAMIC_DEFAULT_BROKER_CONFIG"

Values = Mapping[str, tuple[str, str]]
"""Settings with a value and who set it."""


def printed_topic(
    name: str, partitions: Iterable[tuple[int, ...]], configs: Mapping[str, str] | None = None, release: str = "4.0"
) -> str:
    """Return a topic with the replicas of each partition as ``kafka-topics.sh --describe`` of a release prints it."""
    line = parse_release(release).line
    replicas = list(partitions)
    blank = "" if line < (2, 4) else " "
    fields = [f"Topic:{blank}{name}"]
    if line >= (2, 8):
        fields.append("TopicId: kUIpQdOzT-uHJJ8dDgLmsw")
    fields += [f"PartitionCount:{blank}{len(replicas)}", f"ReplicationFactor:{blank}{len(replicas[0])}"]
    fields.append(f"Configs:{blank}" + ",".join(f"{key}={value}" for key, value in (configs or {}).items()))
    lines = ["\t".join(fields)]
    for number, brokers in enumerate(replicas):
        ids = ",".join(map(str, brokers))
        fields = [f"Topic: {name}", f"Partition: {number}", f"Leader: {brokers[0]}", f"Replicas: {ids}", f"Isr: {ids}"]
        if line >= (3, 8):
            fields += ["Elr: ", "LastKnownElr: "] if line >= (4, 0) else ["Elr: N/A", "LastKnownElr: N/A"]
        lines.append("\t" + "\t".join(fields))
    return "\n".join(lines) + "\n"


def printed_section(heading: str, values: Values) -> str:
    """Return the settings of one entity as ``kafka-configs.sh --describe`` prints them."""
    return "\n".join([heading, *(printed_entry(key, *values[key]) for key in sorted(values))]) + "\n"


def printed_entry(key: str, value: str, source: str, *, sensitive: bool = False) -> str:
    """Return one setting, with the default after whatever overrides it."""
    synonyms = f"{source}:{key}={value}" + (f", {DEFAULT}:{key}=0" if source != DEFAULT else "")
    return f"  {key}={value} sensitive={str(sensitive).lower()} synonyms={{{synonyms}}}"


def every_setting(kind: str, set_ones: Values | None = None, release: str = "4.0") -> dict[str, tuple[str, str]]:
    """Return all that ``--all`` lists of a topic or broker: its own settings and the defaults of the release."""
    values = {}
    for key in known_keys(kind):
        definition = find_definition(kind, key, parse_release(release))
        internal = key == "remote.storage.enable" and parse_release(release).line < (3, 6)
        if definition is not None and not internal and key not in ("replication.factor", "partitions"):
            values[key] = ("null" if definition.default is None else definition.default, DEFAULT)
    return {**values, **(set_ones or {})}


def printed_all(kind: str, name: str, set_ones: Values | None = None, release: str = "4.0") -> str:
    """Return all settings of a topic or broker as ``--all`` lists them."""
    return printed_section(f"All configs for {kind} {name} are:", every_setting(kind, set_ones, release))


def write_cluster(folder: Path, *, brokers: Values | None = None, topics: bool = True) -> Path:
    """Write a small cluster: two topics of three and two replicas, Kafka's own topics, and three brokers that agree."""
    folder.mkdir(parents=True, exist_ok=True)
    own = {"min.insync.replicas": ("2", OWN), "retention.ms": ("1000", OWN)}
    (folder / "topics.txt").write_text(
        printed_topic("orders", [(1, 2, 3), (2, 3, 1)], {"min.insync.replicas": "2", "retention.ms": "1000"})
        + printed_topic("audit-log", [(3, 1)])
        + printed_topic("__consumer_offsets", [(1, 2, 3)], {"cleanup.policy": "compact"})
    )
    if topics:
        (folder / "topic-configs.txt").write_text(
            printed_all("topic", "orders", own)
            + printed_all("topic", "audit-log")
            + printed_all("topic", "__consumer_offsets", {"cleanup.policy": ("compact", OWN)})
        )
    (folder / "brokers.txt").write_text(
        "".join(
            printed_all("broker", str(number), {**(brokers or {}), "node.id": (str(number), STATIC)})
            for number in (1, 2, 3)
        )
        + "Default configs for brokers in the cluster are:\n"
    )
    return folder
