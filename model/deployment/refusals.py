"""Combinations that clients and brokers refuse although no delivery depends on them: the client or broker does not
start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from proofka.model.deployment.problems import Problems
from proofka.model.deployment.section import Section
from proofka.model.deployment.values import protocol_version

NO_SUCH_CLIENT = "RD_KAFKA_RESP_ERR__INVALID_ARG"
ASSIGNORS = "partition.assignment.strategy"
GROUP_OF_BROKERS = ("session.timeout.ms", "heartbeat.interval.ms", ASSIGNORS, "group.protocol.type")


@dataclass(frozen=True)
class Refusal:
    """A combination that a client or broker refuses.

    ``since`` and ``before``: release lines. ``of``: the settings at which the error points; the first given one is
    used.
    """

    rule: str
    table: str
    exception: str
    of: tuple[str, ...]
    why: str
    is_so: Callable[[Section], bool]
    since: tuple[int, int] = (0, 0)
    before: tuple[int, int] = (99, 0)


def _mixes_assignors(section: Section) -> bool:
    names = {name.strip() for name in section.text(ASSIGNORS).split(",") if name.strip()}
    return any("cooperative" in name for name in names) and any("cooperative" not in name for name in names)


def _fetches_less(section: Section) -> bool:
    if section.has("fetch.max.bytes") and section.integer("fetch.max.bytes") < section.integer("message.max.bytes"):
        return True
    whole = "receive.message.max.bytes"
    return section.has(whole) and section.integer(whole) < section.integer("fetch.max.bytes") + 512


def _requests_too_short(section: Section) -> bool:
    longest = max(section.integer("session.timeout.ms"), section.integer("fetch.max.wait.ms"))
    return section.integer("request.timeout.ms") <= longest


REFUSALS = (
    Refusal(
        "C07",
        "consumer",
        "ConfigException",
        ("request.timeout.ms", "session.timeout.ms", "fetch.max.wait.ms"),
        "request.timeout.ms must be greater than session.timeout.ms and fetch.max.wait.ms",
        _requests_too_short,
        before=(2, 0),
    ),
    Refusal(
        "B18",
        "broker",
        "IllegalArgumentException",
        ("offsets.commit.required.acks",),
        "offsets.commit.required.acks must be at most offsets.topic.replication.factor",
        lambda section: (
            section.integer("offsets.commit.required.acks") > section.integer("offsets.topic.replication.factor")
        ),
        before=(4, 0),
    ),
    Refusal(
        "L16",
        "librdkafka consumer",
        NO_SUCH_CLIENT,
        GROUP_OF_BROKERS,
        f"{', '.join(GROUP_OF_BROKERS)} must not be set with group.protocol=consumer",
        lambda section: (
            section.has("group.protocol")
            and section.text("group.protocol").lower() == "consumer"
            and any(section.has(key) for key in GROUP_OF_BROKERS)
        ),
    ),
    Refusal(
        "L17",
        "librdkafka consumer",
        NO_SUCH_CLIENT,
        ("fetch.max.bytes", "receive.message.max.bytes"),
        "fetch.max.bytes must be at least message.max.bytes, and receive.message.max.bytes 512 more than that",
        _fetches_less,
    ),
    Refusal(
        "L18",
        "librdkafka consumer",
        NO_SUCH_CLIENT,
        (ASSIGNORS,),
        f"{ASSIGNORS} must not mix cooperative and eager assignors",
        _mixes_assignors,
    ),
    Refusal(
        "A10",
        "sarama producer",
        "ConfigurationError",
        ("Producer.Flush.MaxMessages", "Producer.Flush.Messages"),
        "Producer.Flush.MaxMessages must be at least Producer.Flush.Messages when set",
        lambda section: 0 < section.integer("Producer.Flush.MaxMessages") < section.integer("Producer.Flush.Messages"),
    ),
    Refusal(
        "A14",
        "sarama consumer",
        "ConfigurationError",
        ("Consumer.IsolationLevel",),
        "Consumer.IsolationLevel=ReadCommitted needs Version 0.11 or later",
        lambda section: (
            section.text("Consumer.IsolationLevel") in ("ReadCommitted", "1") and _is_before(section, (0, 11))
        ),
        since=(1, 22),
    ),
    Refusal(
        "A16",
        "sarama consumer",
        "ConfigurationError",
        ("Consumer.Group.InstanceId",),
        "Consumer.Group.InstanceId needs Version 2.3 or later",
        lambda section: bool(section.text("Consumer.Group.InstanceId").strip('"')) and _is_before(section, (2, 3)),
        since=(1, 34),
    ),
)
"""All of these combinations. Limits of a single setting are in the tables of defaults; combinations that affect
deliveries are in the rules of each client."""


def _is_before(section: Section, version: tuple[int, int]) -> bool:
    return () < protocol_version(section.text("Version")) < version


def check_refusals(section: Section) -> None:
    """Raise RefusedError for the first combination that this client or these brokers refuse, with the others
    attached."""
    problems = Problems()
    for one in REFUSALS:
        line = section.release.line
        if one.table == section.table and one.since <= line < one.before and one.is_so(section):
            key = next((key for key in one.of if section.has(key)), one.of[0])
            problems.found.append(section.refused(key, one.exception, one.why, one.rule))
    problems.raise_any()
