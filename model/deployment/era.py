"""The behaviour of a release's brokers where releases differ (semantics 2, 6, 7)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from proofka.model.deployment.release import Release
from proofka.model.deployment.section import Section
from proofka.model.deployment.setting import Setting
from proofka.model.deployment.truncation import Truncation

ZOOKEEPER = "zookeeper.connect"
FIRST_KRAFT = (3, 3)
"""The first release whose KRaft mode is ready for use. Earlier brokers use ZooKeeper."""

LAST_ZOOKEEPER = (3, 9)

WAITS_FOR_ALL = (3, 8)
"""The first release whose KRaft controllers remove a moved replica only after all remaining replicas are in sync
(KAFKA-15665)."""

ASKS_FOLLOWERS = (1, 0, 1)
"""The first release that requires the right ClusterAction for a follower's fetch. 0.10.2.2 and 0.11.0.3 require it too,
but are treated as the first releases of their lines (CVE-2018-1288)."""

COPIES_NO_NEWER_EPOCH = (3, 9, 1)
"""The first release whose followers append no record of an epoch newer than the epoch of their fetch (KAFKA-18723)."""

COPIES_NEWER_EPOCHS_ONCE_MORE = (4, 0, 0)
"""The one later release whose followers append such records: the fix is in 4.0.1 and 4.1.0."""

CHECKS_EACH_FETCH, CHECKS_WITH_PROTOCOL = (2, 8), (2, 7)
"""The first release whose followers truncate by the answers to their fetches (KAFKA-10554), and the first inter-broker
protocol with which leaders compare the last epoch at every fetch (KIP-595)."""

FORGETS_OLD_FETCHES = (3, 5)
"""The first release whose KRaft leaders compare the epochs of brokers, and so count no fetch of an earlier incarnation
of a replica (KIP-903)."""

LOCKS_FETCHES = (3, 7)
"""The first release whose leaders change what they know of a follower only while they propose no change of the ISR.
Leaders of 3.5 and 3.6 can mix two fetches in one proposal (KAFKA-15221)."""

Line = tuple[int, int]

PROTOCOL = "inter.broker.protocol.version"
FIRST_EPOCHS = (0, 11)
"""The first record format with leader epochs. Without them, followers fall back on high watermarks (8)."""

FORMAT_IS_FIXED = (3, 0)
"""The first inter-broker protocol with which brokers write records in the protocol's own format."""

WITHOUT_EXPIRY = (2, 1)
"""The first inter-broker protocol with which committed offsets are stored without an expiry of their own (KIP-211).
Brokers of 2.1 with an older protocol write an expiry that is long past; the fix is in 2.2.0, in no release of 2.1
(KAFKA-8069)."""

FENCES_FETCHES = (2, 5, 0)
"""The first release whose fetch sessions keep the leader epochs of a follower's fetches. Earlier leaders compare the
epoch of the first fetch of a session only, and forget the epoch then (KAFKA-9338)."""

TRUNCATION = (
    ((2, 1), Truncation.FENCED),
    ((2, 0), Truncation.EPOCHS),
    ((0, 11), Truncation.LAST_EPOCH),
    ((0, 0), Truncation.HIGH_WATERMARK),
)
"""The first protocols, newest first, with the way in which followers reconcile their logs."""

MENDED = (2, 0, 1)
"""The first release with four fixes: followers truncate after an epoch that they missed, join the ISR at the start of
the leader's epoch, and do not halt; leaders know their own epoch at once (KAFKA-7164, KAFKA-7128, KAFKA-7414,
KAFKA-7415). The fixes in the branch of 1.1 came after its last release."""

OVERRUN, OVERRUN_MENDED = (1, 1, 0), (2, 5, 1)
"""The releases between which ``FileRecords`` asks twice for the length of a file under append (KAFKA-2903,
KAFKA-9835)."""


@dataclass(frozen=True)
class Behaviour:
    """The behaviour of a release's brokers on which the model depends.

    :class:`~model.deployment.cluster.Cluster` inherits these fields.
    """

    zookeeper: bool  # the brokers use ZooKeeper (to 3.9), not KRaft (from 3.3)
    high_watermark_needs_min_isr: bool  # no advance while the ISR is below min ISR (from 3.7 on; semantics 2, R2)
    restart_before_fenced: bool  # 3.3-3.9: a new incarnation can register before the old is fenced, and keep its seat
    old_fetches_count: bool  # fetches before a replica's restart can bring it into the ISR (6.2, KIP-903)
    mixes_fetches: bool  # a proposal can mix fetches of two incarnations (3.5 and 3.6, KRaft; 6.2, KAFKA-15221)
    new_replica_suffices: bool  # a new replica suffices to remove a moved one (KRaft before 3.8; 6.8, KAFKA-15665)
    copies_newer_epochs: bool  # a follower copies epochs newer than its fetch (to 3.9.0, in 4.0.0; 6.1, KAFKA-18723)
    believes_any_fetch: bool  # even a client's, in the name of a follower (before 1.0.1; 6.1, CVE-2018-1288)
    truncation: Truncation  # a follower's reconciliation of its log with a new leader's (semantics 8)
    reads_may_overrun: bool  # a read can return a record above the high watermark (1.1 to 2.5.0; 6.1, KAFKA-9835)
    mends_of_2_0_1: bool  # of followers and of leaders' answers, the fixes of MENDED (semantics 8)
    offsets_age_in_use: bool  # committed offsets expire by the age of the commit (before 2.1; 12, KIP-211)
    loaded_offsets_expire: bool  # offsets that a coordinator has loaded expire at once (2.1; 12, KAFKA-8069)
    fenced_may_join: bool  # a replica that the controller has lost can join the ISR (before 3.3; 6.2, KIP-841)


@dataclass(frozen=True)
class Era(Behaviour):
    """The behaviour of a release's brokers, with what only other rules ask for.

    ``unclean_is_honoured``: ``unclean.leader.election.enable=true`` has an effect. ``keeps_producer_ids``: the record
    format has producer ids, which idempotence needs. ``checks_each_fetch``: leaders report the point of divergence at
    every fetch (KIP-595). ``clients_know_epochs``: metadata contain leader epochs. ``positions_are_checked``: answers
    about the end of an epoch contain leader epochs.
    """

    unclean_is_honoured: bool
    clients_know_epochs: bool
    positions_are_checked: bool
    keeps_producer_ids: bool
    checks_each_fetch: bool


def era_of(broker: Section, topic: Section) -> Era:
    """Return the era of the brokers. Raises NotModelledError if the era is not modelled."""
    line = broker.release.line
    protocol, format_ = _spoken(broker, topic)
    followers = format_ if protocol < FORMAT_IS_FIXED and format_ < FIRST_EPOCHS else protocol
    zookeeper = broker.has(ZOOKEEPER) or line < FIRST_KRAFT
    if broker.has(ZOOKEEPER) and line > LAST_ZOOKEEPER:
        what = "brokers with ZooKeeper; Kafka 4.0 and later do not use it: remove this setting"
        raise broker.not_modelled(ZOOKEEPER, "N01", what)
    if broker.has("process.roles") and broker.given["process.roles"].value.strip():
        if line < FIRST_KRAFT:
            first = ".".join(map(str, FIRST_KRAFT))
            why = f"KRaft mode before {first}; remove this setting to check ZooKeeper mode, or name a later release"
            raise broker.not_modelled("process.roles", "N02", why)
        if broker.has(ZOOKEEPER):
            what = "the migration from ZooKeeper to KRaft; remove process.roles or this setting"
            raise broker.not_modelled(ZOOKEEPER, "N03", what)
    return Era(
        zookeeper=zookeeper,
        unclean_is_honoured=zookeeper or line >= (3, 9),
        restart_before_fenced=not zookeeper and line < (4, 0),
        old_fetches_count=zookeeper or line < FORGETS_OLD_FETCHES,
        mixes_fetches=not zookeeper and FORGETS_OLD_FETCHES <= line < LOCKS_FETCHES,
        offsets_age_in_use=protocol < WITHOUT_EXPIRY,
        loaded_offsets_expire=protocol < WITHOUT_EXPIRY == line,
        fenced_may_join=line < (3, 3),
        truncation=_truncation(broker.release, followers),
        mends_of_2_0_1=broker.release.full >= MENDED,
        reads_may_overrun=OVERRUN <= broker.release.full < OVERRUN_MENDED,
        clients_know_epochs=protocol >= (2, 1),
        positions_are_checked=protocol >= (2, 3) and followers == protocol,
        high_watermark_needs_min_isr=line >= (3, 7),
        copies_newer_epochs=_copies_newer_epochs(broker.release),
        checks_each_fetch=line >= CHECKS_EACH_FETCH and CHECKS_WITH_PROTOCOL <= protocol == followers,
        believes_any_fetch=broker.release.full < ASKS_FOLLOWERS,
        new_replica_suffices=not zookeeper and line < WAITS_FOR_ALL,
        keeps_producer_ids=protocol >= FORMAT_IS_FIXED or format_ >= FIRST_EPOCHS,
    )


def _copies_newer_epochs(release: Release) -> bool:
    return release.full < COPIES_NO_NEWER_EPOCH or release.full == COPIES_NEWER_EPOCHS_ONCE_MORE


def _truncation(release: Release, followers: Line) -> Truncation:
    """Return the way in which followers reconcile their logs: by their protocol, and by the sessions of the leader's
    release."""
    how = next(how for first, how in TRUNCATION if followers >= first)
    if how.fences_fetches and release.full < FENCES_FETCHES:
        return Truncation.FENCED_QUESTIONS
    return how


def _spoken(broker: Section, topic: Section) -> tuple[Line, Line]:
    """Return the inter-broker protocol and the record format, by the release or by the older settings for them."""
    protocol = _line(broker, PROTOCOL) or broker.release.line
    written = next(filter(None, (_line(*one) for one in _formats(broker, topic))), broker.release.line)
    return min(protocol, broker.release.line), written


def _formats(broker: Section, topic: Section) -> tuple[tuple[Section, str], ...]:
    """Return the settings for the record format, the topic's own setting first."""
    return ((topic, "message.format.version"), (broker, "log.message.format.version"))


def _line(section: Section, key: str) -> Line | None:
    """Return the release line that a setting names: 2.4 for 2.4-IV1, and 0.10 for 0.10.2."""
    if not section.has(key):
        return None
    found = re.match(r"\s*(\d{1,3})\.(\d{1,3})", section.text(key))
    if found is None:
        raise section.at(key, "must name a release, for example 2.4 or 0.10.2-IV0")
    return int(found[1]), int(found[2])


def settings_of(broker: Section, topic: Section) -> tuple[Setting, ...]:
    """Return the older settings that determine the era, where they are given."""
    keys = ((broker, PROTOCOL), *_formats(broker, topic))
    return tuple(section.setting(key) for section, key in keys if section.has(key))


def notes_of(era: Era, release: Release) -> tuple[str, ...]:
    """Return a note about the assumed mode of the brokers, where the release allows both."""
    if FIRST_KRAFT <= release.line <= LAST_ZOOKEEPER and not era.zookeeper:
        return (f"Kafka {release} is assumed to run in KRaft mode: for ZooKeeper mode, set {ZOOKEEPER} of the broker",)
    return ()
