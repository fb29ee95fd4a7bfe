"""How the brokers of a release behave where releases differ (semantics 2, 6, 7)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from model.deployment.release import Release
from model.deployment.section import Section
from model.deployment.setting import Setting
from model.deployment.truncation import Truncation

ZOOKEEPER = "zookeeper.connect"
FIRST_KRAFT = (3, 3)
"""KRaft is ready for use from here on; the release names no mode before."""

LAST_ZOOKEEPER = (3, 9)

WAITS_FOR_ALL = (3, 8)
"""From here on KRaft controllers remove a replica that is moved only when all that stay are in sync (KAFKA-15665)."""

ASKS_FOLLOWERS = (1, 0, 1)
"""From here on a fetch as a follower's takes the right to ClusterAction. So it does in 0.10.2.2 and 0.11.0.3, which are
taken for the first releases of their lines (CVE-2018-1288)."""

COPIES_NO_NEWER_EPOCH = (3, 9, 1)
"""From here on followers append no record of an epoch newer than the one that they fetched in (KAFKA-18723)."""

CHECKS_EACH_FETCH = (2, 7)
"""Brokers that speak this to each other compare the last epoch with every fetch (KIP-595)."""

Line = tuple[int, int]

PROTOCOL = "inter.broker.protocol.version"
FIRST_EPOCHS = (0, 11)
"""Records carry leader epochs from this format on; without them followers fall back on high watermarks (8)."""

FORMAT_IS_FIXED = (3, 0)
"""Brokers that speak this to each other write records in its format."""

WITHOUT_EXPIRY = (2, 1)
"""Committed offsets are stored without an expiry of their own by brokers that speak this to each other (KIP-211). Those
of 2.1 that speak something older write one that is long over; the fix is in 2.2.0, in no release of 2.1 (KAFKA-8069).
"""

TRUNCATION = (
    ((2, 1), Truncation.FENCED),
    ((2, 0), Truncation.EPOCHS),
    ((0, 11), Truncation.LAST_EPOCH),
    ((0, 0), Truncation.HIGH_WATERMARK),
)
"""First release -> how its followers reconcile their logs, newest first."""

MENDED = (2, 0, 1)
"""From here on followers truncate after an epoch that they missed, join the ISR at the start of the leader's epoch, and
do not halt, and leaders know their own epoch at once (KAFKA-7164, KAFKA-7128, KAFKA-7414, KAFKA-7415). The same fixes
in the branch of 1.1 came after its last release.
"""

OVERRUN, OVERRUN_MENDED = (1, 1, 0), (2, 5, 1)
"""In between, ``FileRecords`` asks twice for the length of a file that is appended to (KAFKA-2903, KAFKA-9835)."""


@dataclass(frozen=True)
class Era:
    """What a release's brokers do.

    ``unclean_is_honoured``: ``unclean.leader.election.enable=true`` has an effect. ``restart_before_fenced``: a new
    incarnation may register before the old one was fenced, and keeps its ISR seat. ``old_fetches_count``: what a
    replica fetched before its restart may still bring it into the ISR (before KIP-903). ``fenced_may_join``: so may a
    replica that is dead by then (before KIP-841). ``mends_of_2_0_1``: followers do what they did not before (MENDED).
    ``reads_may_overrun``: a read may return a record that is not committed. ``offsets_age_in_use``: committed offsets
    expire by the age of the commit, also while the group runs (before KIP-211). ``loaded_offsets_expire``: their expiry
    is over as soon as a coordinator has loaded them (KAFKA-8069). ``high_watermark_needs_min_isr``: it stands still
    below that. ``keeps_producer_ids``: the format of records has room for them, which idempotence needs.
    ``new_replica_suffices``: a reassignment is complete as soon as the new replica is in sync (before KAFKA-15665).
    ``copies_newer_epochs``: followers append records of an epoch that they do not know (KAFKA-18723);
    ``checks_each_fetch``: leaders tell them where logs part whenever they fetch (KIP-595).
    ``believes_any_fetch``: nobody asks whether who fetches as a follower may (CVE-2018-1288).
    ``clients_know_epochs``: metadata tell leader epochs; ``positions_are_checked``: so do answers about where one ends.
    """

    zookeeper: bool
    unclean_is_honoured: bool
    restart_before_fenced: bool
    old_fetches_count: bool
    offsets_age_in_use: bool
    loaded_offsets_expire: bool
    fenced_may_join: bool
    truncation: Truncation
    mends_of_2_0_1: bool
    reads_may_overrun: bool
    clients_know_epochs: bool
    positions_are_checked: bool
    high_watermark_needs_min_isr: bool
    keeps_producer_ids: bool
    new_replica_suffices: bool
    copies_newer_epochs: bool
    checks_each_fetch: bool
    believes_any_fetch: bool


def era_of(broker: Section, topic: Section) -> Era:
    """The era of the brokers, or the refusal of one that is not modelled."""
    line = broker.release.line
    protocol, format_ = _spoken(broker, topic)
    followers = format_ if protocol < FORMAT_IS_FIXED and format_ < FIRST_EPOCHS else protocol
    zookeeper = broker.has(ZOOKEEPER) or line < FIRST_KRAFT
    if broker.has(ZOOKEEPER) and line > LAST_ZOOKEEPER:
        raise broker.not_modelled(ZOOKEEPER, "brokers with ZooKeeper; Kafka 4.0 and later have none: remove it")
    if broker.has("process.roles") and broker.given["process.roles"].value.strip():
        if line < FIRST_KRAFT:
            first = ".".join(map(str, FIRST_KRAFT))
            why = f"KRaft mode before {first}; leave it out to check ZooKeeper mode, or name a later release"
            raise broker.not_modelled("process.roles", why)
        if broker.has(ZOOKEEPER):
            raise broker.not_modelled(ZOOKEEPER, "the way from ZooKeeper to KRaft; leave out one of the two")
    return Era(
        zookeeper=zookeeper,
        unclean_is_honoured=zookeeper or line >= (3, 9),
        restart_before_fenced=not zookeeper and line < (4, 0),
        old_fetches_count=zookeeper or line < (3, 5),
        offsets_age_in_use=protocol < WITHOUT_EXPIRY,
        loaded_offsets_expire=protocol < WITHOUT_EXPIRY == line,
        fenced_may_join=line < (3, 3),
        truncation=next(how for first, how in TRUNCATION if followers >= first),
        mends_of_2_0_1=broker.release.full >= MENDED,
        reads_may_overrun=OVERRUN <= broker.release.full < OVERRUN_MENDED,
        clients_know_epochs=protocol >= (2, 1),
        positions_are_checked=protocol >= (2, 3) and followers == protocol,
        high_watermark_needs_min_isr=line >= (3, 7),
        copies_newer_epochs=broker.release.full < COPIES_NO_NEWER_EPOCH,
        checks_each_fetch=protocol >= CHECKS_EACH_FETCH and followers == protocol,
        believes_any_fetch=broker.release.full < ASKS_FOLLOWERS,
        new_replica_suffices=not zookeeper and line < WAITS_FOR_ALL,
        keeps_producer_ids=protocol >= FORMAT_IS_FIXED or format_ >= FIRST_EPOCHS,
    )


def _spoken(broker: Section, topic: Section) -> tuple[Line, Line]:
    """What brokers speak to each other, and how records are written: by their release, or by a setting of old."""
    protocol = _line(broker, PROTOCOL) or broker.release.line
    written = next(filter(None, (_line(*one) for one in _formats(broker, topic))), broker.release.line)
    return min(protocol, broker.release.line), written


def _formats(broker: Section, topic: Section) -> tuple[tuple[Section, str], ...]:
    """What says in which format records are written, the topic's own setting first."""
    return ((topic, "message.format.version"), (broker, "log.message.format.version"))


def _line(section: Section, key: str) -> Line | None:
    """The release line that a setting names: 2.4-IV1 and 0.10.2 are of 2.4 and 0.10."""
    if not section.has(key):
        return None
    found = re.match(r"\s*(\d{1,3})\.(\d{1,3})", section.text(key))
    if found is None:
        raise section.at(key, "must name a release, as in 2.4 or 0.10.2-IV0")
    return int(found[1]), int(found[2])


def settings_of(broker: Section, topic: Section) -> tuple[Setting, ...]:
    """The settings of old that decide of an era, where they are given."""
    keys = ((broker, PROTOCOL), *_formats(broker, topic))
    return tuple(section.setting(key) for section, key in keys if section.has(key))


def notes_of(era: Era, release: Release) -> tuple[str, ...]:
    """In which mode the brokers are taken to run, where the release allows both."""
    if FIRST_KRAFT <= release.line <= LAST_ZOOKEEPER and not era.zookeeper:
        return (f"Kafka {release} is taken to run in KRaft mode: say {ZOOKEEPER} of the broker if it does not",)
    return ()
