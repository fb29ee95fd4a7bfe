"""Container images that run Kafka: their way to turn variables into settings, and the release in their tag."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from proofka.model.deployment.vendor_releases import confluent_line

_TABLES = Path(__file__).with_name("tables")
_NUMBERS = re.compile(r"v?(\d{1,3}\.\d{1,3}(?:\.\d{1,3}){0,2})(?![\d.])", re.ASCII)
_SCALA_FIRST = re.compile(r"2\.\d\d-(.*)", re.ASCII)
_STRIMZI = re.compile(r".*-kafka-(.*)", re.ASCII)

MARKS_OF_A_BROKER = frozenset(
    {
        "KAFKA_ADVERTISED_HOST_NAME",
        "KAFKA_ADVERTISED_LISTENERS",
        "KAFKA_BROKER_ID",
        "KAFKA_CONTROLLER_QUORUM_VOTERS",
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP",
        "KAFKA_NODE_ID",
        "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR",
        "KAFKA_PROCESS_ROLES",
        "KAFKA_ZOOKEEPER_CONNECT",
    }
)
"""Variables that only a broker has, whatever its image is called."""


@dataclass(frozen=True)
class Image:
    """One image. ``runs``: broker, connect, other (brokers of another product), or empty for other images with Kafka.
    ``names``: the way in which a variable names a key.

    ``dots``: each underscore is a dot. ``escaped``: in addition, two underscores are an underscore, and three a dash.
    ``release``: the form of Kafka's release in the tag; empty if the tag has another release.
    """

    runs: str
    prefix: str
    names: str
    release: str

    def key(self, variable: str) -> str:
        """Return the setting that a variable sets; empty if it sets none."""
        if not variable.startswith(self.prefix):
            return ""
        name = variable[len(self.prefix) :].lower()
        if self.names == "escaped":
            return name.replace("___", "-").replace("__", "\0").replace("_", ".").replace("\0", "_")
        return name.replace("_", ".")


BY_MARKS = Image("broker", "KAFKA_", "escaped", "")
BY_PREFIX = Image("broker", "KAFKA_CFG_", "dots", "")
APPLICATION = Image("", "", "", "")
PLAIN = Image("broker", "\0", "dots", "")
"""An image with Kafka's own start script, which reads no settings from variables."""


def image_of(name: str, variables: Iterable[str]) -> Image:
    """Return the image of a container, by the image's name, otherwise by the container's variables."""
    known = _known(_path(name))
    if known is not None:
        return known
    if "zookeeper" in _path(name).rpartition("/")[2].lower():
        # Some ZooKeeper containers have a variable of the broker, copied from beside.
        return APPLICATION
    given = set(variables)
    if any(one.startswith(BY_PREFIX.prefix) for one in given):
        return BY_PREFIX
    return BY_MARKS if given & MARKS_OF_A_BROKER else APPLICATION


def release_in(name: str) -> str:
    """Return the release of Kafka in an image's tag; empty if it has none.

    >>> release_in("bitnami/kafka:3.6.1-debian-11-r0"), release_in("confluentinc/cp-kafka:7.3.0")
    ('3.6.1', '3.3')
    >>> release_in("wurstmeister/kafka:2.13-2.8.1"), release_in("apache/kafka:latest")
    ('2.8.1', '')
    """
    known, tag = _known(_path(name)), _tag(name)
    if known is None or not tag:
        return ""
    if known.release == "scala":
        tag = tag if (found := _SCALA_FIRST.fullmatch(tag)) is None else found[1]
    elif known.release == "strimzi":
        tag = "" if (found := _STRIMZI.fullmatch(tag)) is None else found[1]
    numbers = _NUMBERS.match(tag)
    if numbers is None or not known.release:
        return ""
    if known.release == "confluent":
        return confluent_line(".".join(numbers[1].split(".")[:2]))
    return numbers[1]


@cache
def other_variables() -> frozenset[str]:
    """Return the variables that an image's scripts read and that set no setting."""
    with (_TABLES / "image_variables.csv").open(encoding="utf-8", newline="") as table:
        return frozenset(row["variable"] for row in csv.DictReader(table))


def _path(name: str) -> str:
    """Return an image's name without its tag and digest."""
    name = name.partition("@")[0].strip()
    before, slash, last = name.rpartition("/")
    return before + slash + last.partition(":")[0]


def _tag(name: str) -> str:
    return name.partition("@")[0].strip().rpartition("/")[2].partition(":")[2]


def _known(path: str) -> Image | None:
    """Return the known image, by its last two names, or by the last if no other image has that name."""
    parts = path.lower().split("/")
    return _images().get("/".join(parts[-2:])) or _images().get(parts[-1])


@cache
def _images() -> dict[str, Image]:
    with (_TABLES / "images.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    return {row["image"]: Image(row["runs"], row["prefix"], row["names"], row["release"]) for row in rows}
