"""What the user configured, as values: one deployment of one Kafka pipeline.

A :class:`Deployment` is what every reader yields and what the model is built from. The typed fields are
the settings the model depends on, *effective* (after defaults of the release and the rules of the client);
:attr:`Deployment.settings` keeps every setting with where it came from, for ``proofka show``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from math import inf

from model.deployment.choices import (
    Acks,
    Commit,
    Group,
    OffsetReset,
    OnProcessingError,
    OnRestart,
    OnSendError,
    OnStop,
    Processing,
    ProducerId,
    Sends,
    Sink,
)
from model.deployment.compaction import KEEPS_ABORTED, Compaction, Keys
from model.deployment.explored import Bounds, FaultBudget
from model.deployment.given import GivenDeployment
from model.deployment.older_transactions import OlderTransactions
from model.deployment.rebalancing import Rebalancing
from model.deployment.sender import Sender
from model.deployment.sequencing import Sequencing, Unknown
from model.deployment.setting import Ignored, Setting
from model.deployment.times import Durations
from model.deployment.transactional import Transactional
from model.deployment.truncation import Truncation
from model.deployment.waiting import (
    clients_may_miss,
    gets_too_old,
    may_get_too_old,
    outlasts_brokers,
    retries_outlast,
)
from model.durations import longest
from model.faults import BREAKS_CONNECTIONS, ENDS_PRODUCER, REPLACES_MEMBER, Fault


@dataclass(frozen=True)
class Deployment:
    """One pipeline, everything effective. See the module's docstring."""

    name: str
    kafka: tuple[int, int, int]  # release of the brokers, e.g. (4, 0, 0)
    client: str  # "java 4.0", for the first line of a report
    # topic and brokers
    replicas: int
    min_insync_replicas: int  # effective: capped at `replicas` from 3.7 on (semantics 2)
    zookeeper: bool  # the brokers keep their state in ZooKeeper (to 3.9), not in KRaft (from 3.3)
    high_watermark_needs_min_isr: bool  # from 3.7 on (semantics 2, R2)
    eligible_leader_replicas: bool  # ELR (KIP-966): who left the ISR below min.insync.replicas may still lead (6.3)
    unclean_leader_election: bool  # as the release honours it (semantics 2: ignored in KRaft 3.3-3.8)
    restart_before_fenced: bool  # 3.3-3.9: a new incarnation may keep its ISR seat (semantics 6.4)
    old_fetches_count: bool  # what a replica fetched before its restart may bring it into the ISR (6.2, KIP-903)
    new_replica_suffices: bool  # for a replica that is moved to be removed (KRaft before 3.8; 6.8, KAFKA-15665)
    copies_newer_epochs: bool  # than a follower fetched in (before 3.9.1; 6.1, KAFKA-18723)
    believes_any_fetch: bool  # also a client's in the name of a follower (before 1.0.1; 6.1, CVE-2018-1288)
    truncation: Truncation  # how a follower reconciles its log with a new leader's (semantics 8)
    reads_may_overrun: bool  # a read may return a record above the high watermark (1.1 to 2.5.0; 6.1, KAFKA-9835)
    mends_of_2_0_1: bool  # of followers and of what leaders answer (8; KAFKA-7164, KAFKA-7128, KAFKA-7414, KAFKA-7415)
    consumer_knows_epochs: bool  # it fetches from no leader of an older epoch (brokers from 2.1; KIP-320)
    consumer_checks_epochs: bool  # and finds out by epochs that a log was truncated (2.3 with 2.3; 8)
    offsets_age_in_use: bool  # committed offsets expire by the age of the commit (before 2.1; 12, KIP-211)
    loaded_offsets_expire: bool  # so do all that a coordinator has loaded, at once (2.1; 12, KAFKA-8069)
    offsets_applied_late: bool  # those of a transaction, perhaps after the next one's are there (11.3, KAFKA-17507)
    fenced_may_join: bool  # so may a replica that the controller has lost (before 3.3; 6.2, KIP-841)
    consumer_waits_beyond_end: bool  # at an offset beyond the end of a log, until there is a record at it (4.5)
    compaction: Compaction | None  # how the topic is compacted; None where it is not (semantics 10)
    flush_messages: int | None  # force to disk after so many records; None = left to the operating system
    deletes_for_size: bool  # records are also deleted where the log gets larger than retention.bytes (10, D1)
    # producer
    sender: Sender
    acks: Acks
    retries: int
    idempotence: bool
    sequencing: Sequencing | None  # idempotence with a client or brokers before 2.5; None otherwise (3.4, 3.5)
    expires_in_accumulator: bool  # after request.timeout.ms there, and nowhere else (clients before 2.1; 3.1 P7)
    max_in_flight: int
    sends: Sends
    on_send_error: OnSendError
    on_restart: OnRestart
    on_stop: OnStop
    producer_id: ProducerId
    keys: Keys  # of the records, where the topic is compacted
    transactional: Transactional | None  # how its transactions work; None without a transactional.id (semantics 11)
    # consumer
    group: Group
    rebalancing: Rebalancing  # how its group takes the partition from it (semantics 12)
    commit: Commit
    processing: Processing
    on_processing_error: OnProcessingError
    sink: Sink
    late_results_count: bool  # with sink=kafka: what a member commits that was thrown out (semantics 11.3)
    offset_reset: OffsetReset
    max_poll_records: int
    # how clients and followers reach brokers
    producer_connects: int  # in so many messages, with what its security.protocol asks for
    consumer_connects: int
    commits_on_timer: bool  # what is to be committed waits for the end of auto.commit.interval.ms
    consumer_waits_for_bytes: bool  # fetch.min.bytes is more than one: what there is may have to wait
    followers_wait_for_bytes: bool  # the same of replica.fetch.min.bytes
    # time
    durations: Durations
    # what is explored
    faults: FaultBudget
    bounds: Bounds
    require: tuple[str, ...]
    # where everything came from
    settings: tuple[Setting, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    notes: tuple[str, ...] = ()  # what the client or broker changed silently, one sentence each
    profile: str | None = field(default=None, repr=False)  # what made `require` (profiles.py); None: not known
    given: GivenDeployment | None = field(default=None, compare=False, repr=False)  # what it was built from, if known

    @property
    def drains(self) -> bool:
        """Its idempotent producer waits until nothing is in flight where Java's renumbers what is (semantics 4.1)."""
        return self.idempotence and self.sender.drains

    @property
    def rewinds(self) -> bool:
        """It drains, and begins again with the record that failed and all that followed it (semantics 4.3)."""
        return self.drains and self.sender.rewinds

    @property
    def numbers_repeat(self) -> bool:
        """Two records of an epoch may get the same number: the broker takes the second for the first (4.1 to 4.3)."""
        return self.numbers_ahead or self.rewinds or self.sender.forgets_numbers

    @property
    def numbers_ahead(self) -> bool:
        """Its idempotent producer gives out numbers before it sends, and never other ones (semantics 4.2)."""
        return self.idempotence and self.sender.numbers_ahead

    @property
    def takes_new_ids(self) -> bool:
        """Its idempotent producer gets over failures with a new producer id (clients before 2.5; semantics 3.4)."""
        return self.sequencing is not None and self.sequencing.takes_new_ids

    @property
    def older_transactions(self) -> OlderTransactions | None:
        """What a client or brokers before 2.5 make of its transactions; None where it has none, or both are newer."""
        return None if self.transactional is None else self.transactional.older

    @property
    def timeouts_fence(self) -> bool:
        """A transaction that takes too long is aborted with a new epoch (but not in 0.11.0.0 and 0.11.0.1)."""
        return self.older_transactions is None or self.older_transactions.timeout_fences

    @property
    def brokers_forget_fenced(self) -> bool:
        """A broker may forget a producer as soon as a marker has fenced it (1.0 to 2.4.0; semantics 11.7)."""
        return self.older_transactions is not None and self.older_transactions.forgets_fenced

    @property
    def transactions_split(self) -> bool:
        """The coordinator may take a later part of a transaction for another one (semantics 4.1, 11.7)."""
        unfenced = not self.timeouts_fence and Fault.TRANSACTION_TIMEOUT in self.possible_faults
        return self.sender.bumps_within or unfenced

    @property
    def brokers_forget_numbers(self) -> bool:
        """A broker that starts may have forgotten a number that is sent again: it knows the last of each producer."""
        older = self.older_transactions or self.sequencing
        if not self.idempotence or (older is not None and older.remembers_one):
            return False
        one_by_one = self.sends is Sends.SYNC or (self.max_in_flight == 1 and self.sender.one_at_a_time_everywhere)
        several = self.bounds.records * self.bounds.sends > 1 and (self.numbers_repeat or not one_by_one)
        return several and bool(BREAKS_CONNECTIONS & self.possible_faults)

    @property
    def fails_elsewhere(self) -> bool:
        """Another partition of its idempotent producer may fail, and end the numbers of this one (semantics 3.4, 4)."""
        return self.idempotence and Fault.FAILURE_ELSEWHERE in self.possible_faults

    @cached_property
    def producer_ids_expire(self) -> bool:
        """Brokers may forget its producer while a record is retried, or a request of it late (semantics 3.5).

        A delivery without an end is taken to be over before that.
        """
        numbered = self.idempotence and self.sequencing is None and self.transactional is None
        return numbered and retries_outlast(self, self.durations.producer_ids_kept)

    @cached_property
    def brokers_forget_deleted(self) -> bool:
        """Brokers may forget its producer for records that they delete, and it may matter (semantics 3.5).

        Before 2.5 that is before anybody has read them, or while a record is retried. Later ones take any number of a
        producer that they do not know: then it is while a record is retried, where a broker may start again or copy a
        log. What is kept for so short a time that it may go unread a delivery without an end outlasts as well.
        """
        endless = self._deletion_forgets and self.durations.delivery_timeout.most is None
        matters = self._unknown_is_refused or self._retries_outlast_records or endless
        return matters and self.records_expire_unread and self.transactional is None

    @property
    def _unknown_is_refused(self) -> bool:
        return self.sequencing is not None and self.sequencing.unknown is not Unknown.APPENDED

    @cached_property
    def _deletion_forgets(self) -> bool:
        """A broker may know its producer no more once its records are deleted."""
        starts = bool((BREAKS_CONNECTIONS | {Fault.REASSIGNMENT}) & self.possible_faults)
        return self.idempotence and (starts or self._unknown_is_refused or self.older_transactions is not None)

    @cached_property
    def _retries_outlast_records(self) -> bool:
        return self._deletion_forgets and retries_outlast(self, self.durations.retention)

    @property
    def brokers_forget_producers(self) -> bool:
        """Brokers that run may forget a producer, for whichever reason (semantics 3.5, 11.7)."""
        return self.producer_ids_expire or self.brokers_forget_fenced or self.brokers_forget_deleted

    @property
    def follows_epoch(self) -> bool:
        """After that this partition follows later: when nothing is in flight (Java from 2.5 on), or by rewinding."""
        return self.fails_elsewhere and (self.rewinds or not (self.drains or self.numbers_ahead or self.takes_new_ids))

    @property
    def numbers_on(self) -> bool:
        """And it may number on in the new epoch (Java 2.5 to 2.7.0; KAFKA-12152)."""
        return self.follows_epoch and self.sender.keeps_numbers

    @property
    def leader_may_return_unnoticed(self) -> bool:
        """A send may wait until its end for a leader that dies and leads on in the same epoch (3.3 to 3.9, 6.4)."""
        times = self.durations
        noticed = 2 * longest(times.broker_session) + longest(times.election) + longest(times.network)
        breaks = bool(BREAKS_CONNECTIONS & self.possible_faults)
        return self.restart_before_fenced and breaks and times.delivery_timeout.least <= noticed

    @property
    def brokers_may_be_away(self) -> bool:
        """Whether a broker may be such that neither clients nor the others reach it, or that it knows of nothing."""
        return bool(self.possible_faults & (BREAKS_CONNECTIONS | {Fault.CUT_OFF}))

    @property
    def records_expire_unread(self) -> bool:
        """Whether a record may wait so long for the consumer that it gets too old.

        It waits for as many outages as there may be, and before and after each for a poll. Whether it really gets too
        old is for the clocks to say; here everything counts that is not twice as long as that. A consumer that makes
        anew what it had in memory may come back to a record at any time. So may a record that is retried once it is
        deleted, where brokers may have forgotten its producer by then.
        """
        kept = self.durations.retention
        comes_back = self.reads_all_again and kept.most is not None
        return comes_back or gets_too_old(self, kept) or self._retries_outlast_records

    @property
    def reads_all_again(self) -> bool:
        """A consumer that starts makes what it has in memory from the whole log (semantics 12.1)."""
        return self.sink is Sink.IN_MEMORY and self.commit is Commit.NEVER and self.outages_of_consumer > 0

    @property
    def cleans(self) -> bool:
        """Whether the cleaner takes out records: those that share a key, or may be aborted (semantics 10, D3 D6)."""
        return self.compaction is not None and (self.keys is not Keys.DISTINCT or self.transactional is not None)

    @property
    def forgets_aborted(self) -> bool:
        """The cleaner may leave a transaction out of the index of those that are aborted (before 3.1.1; 10, D7)."""
        compacts = self.compaction is not None and self.transactional is not None
        return compacts and self.kafka < KEEPS_ABORTED

    @property
    def drops_markers(self) -> bool:
        """Whether it may be seen that the cleaner removes a marker, or leaves it out of the index (10, D6 D7)."""
        if self.compaction is None or self.transactional is None:
            return False
        return self.forgets_aborted or outlasts_brokers(self, self.durations.delete_retention)

    @property
    def clients_miss_tombstones(self) -> bool:
        """Whether one may wait so long that the cleaner drops it, however soon brokers are back (10, D4); as above."""
        return self.keys is Keys.DELETED and clients_may_miss(self, self.durations.delete_retention)

    @property
    def drops_tombstones(self) -> bool:
        """Whether a tombstone may be dropped before the consumer, or a follower, has it."""
        away = self.keys is Keys.DELETED and outlasts_brokers(self, self.durations.delete_retention)
        return away or self.clients_miss_tombstones

    @property
    def reading_is_timed(self) -> bool:
        """Whether what the consumer has to read may be gone before it does."""
        return self.records_expire_unread or self.drops_tombstones

    @property
    def reading_in_time_is_assumed(self) -> bool:
        """Whether outages of brokers, more outages than are counted, or workers could make a record too old.

        Retention is no part of such a model: what passes does so only if records are read, and processed, in time.
        """
        return not self.records_expire_unread and may_get_too_old(self, self.durations.retention)

    @property
    def sending_in_time_is_assumed(self) -> bool:
        """Whether a producer that sends nothing for as long as records are kept could be forgotten with them.

        Brokers before 2.5 refuse it then; retention is no part of such a model.
        """
        kept = self.durations.retention.most
        return self._unknown_is_refused and not self.brokers_forget_deleted and kept is not None

    @property
    def deletes_in_time_are_assumed(self) -> bool:
        """The same of tombstones, which are kept for ever where nothing is compacted."""
        counted = self.keys is not Keys.DELETED or self.clients_miss_tombstones
        return not counted and may_get_too_old(self, self.durations.delete_retention)

    @property
    def ends_of_producer(self) -> int:
        """How often the producer application may end and be started again, whatever the number of faults altogether."""
        return sum(dict(self.faults.at_most).get(kind, 0) for kind in ENDS_PRODUCER)

    @property
    def outages_of_consumer(self) -> int:
        """How often the consumer's process may end."""
        closed = self.at_most(Fault.FAILED_PROCESSING) if self.on_processing_error is OnProcessingError.CLOSE else 0
        return self.at_most(Fault.CONSUMER_CRASH) + self.replacements_of_consumer + closed

    @property
    def replacements_of_consumer(self) -> int:
        """How often the group may give the partition to another member while the one before runs on."""
        return sum(self.at_most(kind) for kind in REPLACES_MEMBER)

    @cached_property
    def possible_faults(self) -> frozenset[Fault]:
        """The kinds that the budget allows at least once."""
        return frozenset(Fault(kind) for kind, _ in self.faults.at_most if self.at_most(Fault(kind)))

    @property
    def brokers(self) -> int:
        """How many brokers are modelled: those with a replica, and one that a replica may be moved to."""
        return self.replicas + int(Fault.REASSIGNMENT in self.possible_faults)

    @property
    def answers_may_be_late(self) -> bool:
        """What a leader sends to a follower may be another log than it had (semantics 6.1)."""
        return self.copies_newer_epochs and Fault.LATE_ANSWER in self.possible_faults

    def at_most(self, kind: Fault) -> int:
        """How often a kind of fault can happen."""
        most = dict(self.faults.at_most).get(kind, 0)
        return most if self.faults.total is None else min(most, self.faults.total)

    @property
    def retries_processing(self) -> bool:
        """The application may stay at a record for as long as it likes, processing it again and again."""
        again = self.on_processing_error in (OnProcessingError.RETRY, OnProcessingError.RETRY_LAST)
        return again and Fault.FAILED_PROCESSING in self.possible_faults

    @property
    def commits_at_once(self) -> bool:
        """The committed offset moves with every poll: committed before processing, or stored with the result."""
        return self.commit is Commit.BEFORE or self.sink.keeps_offsets

    @property
    def commits_first(self) -> bool:
        """The application commits what poll() returned before it processes that, and the sink keeps no offset."""
        return self.commit is Commit.BEFORE and not self.sink.keeps_offsets

    @property
    def loses_commits(self) -> bool:
        """What the consumer commits it may commit in vain, and nobody sends it again (semantics 12, C3 C7)."""
        return self.commit is Commit.ASYNC or (self.commit is Commit.AUTO and self.rebalancing.sent_once)

    @property
    def goes_back_to_last(self) -> bool:
        """Workers fail, and the consumer goes back to the last record that failed, past one before it (12.1)."""
        fails = Fault.FAILED_PROCESSING in self.possible_faults and self.processing is Processing.HANDED_OFF
        return fails and self.on_processing_error is OnProcessingError.RETRY_LAST

    @property
    def forwards_unconfirmed(self) -> bool:
        """What fails is written to another topic, and nobody waits until that has it (12.1)."""
        fails = Fault.FAILED_PROCESSING in self.possible_faults
        return fails and self.on_processing_error is OnProcessingError.FORWARD_UNCONFIRMED

    @property
    def commits_may_be_missed(self) -> bool:
        """The consumer may be gone before what a poll returned is committed."""
        return self.outages_of_consumer > 0 and not self.commits_at_once and self.commit is not Commit.NEVER

    @property
    def brokers_keep_offsets(self) -> bool:
        """A consumer that starts asks the brokers where the group was: not where the sink keeps that, or nobody."""
        return self.outages_of_consumer > 0 and self.sink is not Sink.TRANSACTIONAL and self.commit is not Commit.NEVER

    @property
    def transaction_state_may_be_lost(self) -> bool:
        """The coordinator of the producer's transactions may forget what it had written (semantics 11.4)."""
        return self.transactional is not None and Fault.LOST_TRANSACTION_STATE in self.possible_faults

    @property
    def offsets_of_transactions_overlap(self) -> bool:
        """Offsets of a transaction may still be pending when the next one's come (to 3.9.0; semantics 11.3)."""
        return self.offsets_applied_late and self.sink is Sink.KAFKA

    @property
    def offsets_may_be_lost(self) -> bool:
        """The brokers may lose what the group committed (semantics 11.4)."""
        return self.brokers_keep_offsets and Fault.LOST_OFFSETS in self.possible_faults

    @property
    def offsets_may_be_gone(self) -> bool:
        """A group that has committed may find nothing committed: deleted for its age, or lost."""
        return self.offsets_expire or self.offsets_may_be_lost

    @property
    def offsets_expire(self) -> bool:
        """Whether the committed offsets may be deleted before the consumer is back (semantics 12).

        Before 2.1 they age while the group runs as well (KIP-211): a client that
        commits by itself renews them, an application only when there are new records.
        """
        if not self.brokers_keep_offsets:
            return False
        times = self.durations
        away = inf if self.loaded_offsets_expire else longest(times.application_restart)
        if self.offsets_age_in_use:
            away += longest(times.auto_commit) + longest(times.max_poll) if self.commit.is_by_client else inf
        return away >= times.offsets_kept_at_least.at_least()

    @property
    def sizes(self) -> dict[str, int]:
        """The bounds that count for it, by name: producer epochs are for idempotent producers only."""
        sizes = asdict(self.bounds)
        return sizes if self.idempotence else {name: size for name, size in sizes.items() if name != "producer_epochs"}

    @property
    def assumptions(self) -> tuple[Setting, ...]:
        """What no file told and documented defaults filled in: how the application behaves, how long things take."""
        return tuple(s for s in self.settings if s.origin.kind == "assumption")
