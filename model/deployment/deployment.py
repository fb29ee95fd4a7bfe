"""The user's configuration as values: one deployment of one Kafka pipeline.

Every reader returns a :class:`Deployment`, and the model is built from one. The typed fields are the settings on which
the model depends. They are *effective*: after defaults of the release and the rules of the client.
:attr:`Deployment.settings` keeps every setting with its origin, for ``proofka show``.
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
    """One effective pipeline; the module's docstring explains its fields."""

    name: str
    kafka: tuple[int, int, int]  # release of the brokers, e.g. (4, 0, 0)
    client: str  # "java 4.0", for the first line of a report
    # topic and brokers
    replicas: int
    min_insync_replicas: int  # effective: capped at `replicas` from 3.7 on (semantics 2)
    zookeeper: bool  # the brokers use ZooKeeper (to 3.9), not KRaft (from 3.3)
    high_watermark_needs_min_isr: bool  # from 3.7 on (semantics 2, R2)
    eligible_leader_replicas: bool  # ELR (KIP-966): replicas that left the ISR below min ISR can lead (6.3)
    unclean_leader_election: bool  # as the release honours it (semantics 2: ignored in KRaft 3.3-3.8)
    restart_before_fenced: bool  # 3.3-3.9: a new incarnation can keep its ISR seat (semantics 6.4)
    old_fetches_count: bool  # fetches before a replica's restart can bring it into the ISR (6.2, KIP-903)
    new_replica_suffices: bool  # a new replica suffices to remove a moved one (KRaft before 3.8; 6.8, KAFKA-15665)
    copies_newer_epochs: bool  # a follower copies epochs newer than its fetch (before 3.9.1; 6.1, KAFKA-18723)
    believes_any_fetch: bool  # even a client's, in the name of a follower (before 1.0.1; 6.1, CVE-2018-1288)
    truncation: Truncation  # a follower's reconciliation of its log with a new leader's (semantics 8)
    reads_may_overrun: bool  # a read can return a record above the high watermark (1.1 to 2.5.0; 6.1, KAFKA-9835)
    mends_of_2_0_1: bool  # of followers and of leaders' answers (8; KAFKA-7164, KAFKA-7128, KAFKA-7414, KAFKA-7415)
    consumer_knows_epochs: bool  # never fetches from a leader of an older epoch (brokers from 2.1; KIP-320)
    consumer_checks_epochs: bool  # detects by epochs that a log was truncated (client and brokers from 2.3; 8)
    offsets_age_in_use: bool  # committed offsets expire by the age of the commit (before 2.1; 12, KIP-211)
    loaded_offsets_expire: bool  # offsets that a coordinator has loaded expire at once (2.1; 12, KAFKA-8069)
    offsets_applied_late: bool  # a transaction's, even after the next transaction's come (11.3, KAFKA-17507)
    fenced_may_join: bool  # a replica that the controller has lost can join the ISR (before 3.3; 6.2, KIP-841)
    consumer_waits_beyond_end: bool  # at an offset beyond the end of a log, until a record has that offset (4.5)
    compaction: Compaction | None  # the topic's compaction; None if it is not compacted (semantics 10)
    flush_messages: int | None  # force to disk after this many records; None = left to the operating system
    deletes_for_size: bool  # records are also deleted when the log exceeds retention.bytes (10, D1)
    # producer
    sender: Sender
    acks: Acks
    retries: int
    idempotence: bool
    sequencing: Sequencing | None  # idempotence with a client or brokers before 2.5; None otherwise (3.4, 3.5)
    expires_in_accumulator: bool  # after request.timeout.ms, and only there (clients before 2.1; 3.1 P7)
    max_in_flight: int
    sends: Sends
    on_send_error: OnSendError
    on_restart: OnRestart
    on_stop: OnStop
    producer_id: ProducerId
    keys: Keys  # of the records, if the topic is compacted
    transactional: Transactional | None  # its transactions; None without a transactional.id (semantics 11)
    # consumer
    group: Group
    rebalancing: Rebalancing  # the group's way of taking the partition away (semantics 12)
    commit: Commit
    processing: Processing
    on_processing_error: OnProcessingError
    sink: Sink
    late_results_count: bool  # with sink=kafka: commits of an evicted member count (semantics 11.3)
    offset_reset: OffsetReset
    max_poll_records: int
    # how clients and followers reach brokers
    producer_connects: int  # messages to connect, by its security.protocol
    consumer_connects: int
    commits_on_timer: bool  # commits wait for the end of auto.commit.interval.ms
    consumer_waits_for_bytes: bool  # fetch.min.bytes is more than one: available records may have to wait
    followers_wait_for_bytes: bool  # replica.fetch.min.bytes is more than one
    # time
    durations: Durations
    # what is explored
    faults: FaultBudget
    bounds: Bounds
    require: tuple[str, ...]
    # where everything came from
    settings: tuple[Setting, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    notes: tuple[str, ...] = ()  # silent changes by the client or broker, one sentence each
    profile: str | None = field(default=None, repr=False)  # the source of `require` (profiles.py); None: unknown
    given: GivenDeployment | None = field(default=None, compare=False, repr=False)  # its given values

    @property
    def numbers_repeat(self) -> bool:
        """Tell whether two records of an epoch can get the same number, so that the broker mistakes the second for the
        first (4.1 to 4.3)."""
        return self.idempotence and self.sender.repeats_numbers

    @property
    def numbers_ahead(self) -> bool:
        """Tell whether its idempotent producer assigns numbers before it sends, and never changes them (semantics
        4.2)."""
        return self.idempotence and self.sender.numbers_ahead

    @property
    def older_transactions(self) -> OlderTransactions | None:
        """The differences of its transactions with a client or brokers before 2.5; None without transactions or with
        newer releases."""
        return None if self.transactional is None else self.transactional.older

    @property
    def timeouts_fence(self) -> bool:
        """Tell whether a transaction that takes too long is aborted with a new epoch (not in 0.11.0.0 and 0.11.0.1)."""
        return self.older_transactions is None or self.older_transactions.timeout_fences

    @property
    def brokers_forget_fenced(self) -> bool:
        """Tell whether a broker can forget a producer as soon as a marker has fenced it (1.0 to 2.4.0; semantics
        11.7)."""
        return self.older_transactions is not None and self.older_transactions.forgets_fenced

    @property
    def transactions_split(self) -> bool:
        """Tell whether the coordinator can mistake a later part of a transaction for another transaction (semantics
        4.1, 11.7)."""
        unfenced = not self.timeouts_fence and Fault.TRANSACTION_TIMEOUT in self.possible_faults
        return self.sender.bumps_within or unfenced

    @property
    def brokers_forget_numbers(self) -> bool:
        """Tell whether a restarted broker can have forgotten a number that is sent again: it knows only each producer's
        last number."""
        older = self.older_transactions or self.sequencing
        if not self.idempotence or (older is not None and older.remembers_one):
            return False
        one_by_one = self.sends is Sends.SYNC or (self.max_in_flight == 1 and self.sender.one_at_a_time_everywhere)
        several = self.bounds.records * self.bounds.sends > 1 and (self.numbers_repeat or not one_by_one)
        return several and bool(BREAKS_CONNECTIONS & self.possible_faults)

    @property
    def fails_elsewhere(self) -> bool:
        """Tell whether another partition of its idempotent producer can fail and end the numbers of this one (semantics
        3.4, 4)."""
        return self.idempotence and Fault.FAILURE_ELSEWHERE in self.possible_faults

    @cached_property
    def producer_ids_expire(self) -> bool:
        """Tell whether brokers can forget its producer while a record is retried or a request is late (semantics 3.5).

        A delivery without a limit is assumed to end before that.
        """
        numbered = self.idempotence and self.sequencing is None and self.transactional is None
        return numbered and retries_outlast(self, self.durations.producer_ids_kept)

    @cached_property
    def brokers_forget_deleted(self) -> bool:
        """Tell whether brokers can forget its producer when they delete its records, with a possible effect (semantics
        3.5).

        Before 2.5, this has an effect before anybody has read the records, or while a record is retried. Later brokers
        accept any number of an unknown producer; then it has an effect while a record is retried, if a broker can
        restart or copy a log. If records are kept so briefly that they can go unread, a delivery without a limit
        outlasts them too.
        """
        endless = self._deletion_forgets and self.durations.delivery_timeout.most is None
        matters = self._unknown_is_refused or self._retries_outlast_records or endless
        return matters and self.records_expire_unread and self.transactional is None

    @property
    def _unknown_is_refused(self) -> bool:
        return self.sequencing is not None and self.sequencing.unknown is not Unknown.APPENDED

    @cached_property
    def _deletion_forgets(self) -> bool:
        """Tell whether a broker can forget its producer once the producer's records are deleted."""
        starts = bool((BREAKS_CONNECTIONS | {Fault.REASSIGNMENT}) & self.possible_faults)
        return self.idempotence and (starts or self._unknown_is_refused or self.older_transactions is not None)

    @cached_property
    def _retries_outlast_records(self) -> bool:
        return self._deletion_forgets and retries_outlast(self, self.durations.retention)

    @property
    def brokers_forget_producers(self) -> bool:
        """Tell whether running brokers can forget a producer for any reason (semantics 3.5, 11.7)."""
        return self.producer_ids_expire or self.brokers_forget_fenced or self.brokers_forget_deleted

    @property
    def leader_may_return_unnoticed(self) -> bool:
        """Tell whether a send can wait until its end for a leader that dies and continues in the same epoch (3.3 to
        3.9, 6.4)."""
        times = self.durations
        noticed = 2 * longest(times.broker_session) + longest(times.election) + longest(times.network)
        breaks = bool(BREAKS_CONNECTIONS & self.possible_faults)
        return self.restart_before_fenced and breaks and times.delivery_timeout.least <= noticed

    @property
    def brokers_may_be_away(self) -> bool:
        """Tell whether a broker can be unreachable for clients and other brokers, or unaware of decisions."""
        return bool(self.possible_faults & (BREAKS_CONNECTIONS | {Fault.CUT_OFF}))

    @property
    def records_expire_unread(self) -> bool:
        """Tell whether a record can wait for the consumer so long that it expires.

        A record waits for all possible outages, and for a poll before and after each. The timing settings decide
        whether it expires; here every retention counts that is less than twice that wait. A consumer that rebuilds its
        memory can come back to a record at any time. A retried record can also expire, if brokers can have forgotten
        its producer after its deletion.
        """
        kept = self.durations.retention
        comes_back = self.reads_all_again and kept.most is not None
        return comes_back or gets_too_old(self, kept) or self._retries_outlast_records

    @property
    def reads_all_again(self) -> bool:
        """Tell whether a starting consumer rebuilds its memory from the whole log (semantics 12.1)."""
        return self.sink is Sink.IN_MEMORY and self.commit is Commit.NEVER and self.outages_of_consumer > 0

    @property
    def cleans(self) -> bool:
        """Tell whether the cleaner removes records: those that share a key, or can be aborted (semantics 10, D3 D6)."""
        return self.compaction is not None and (self.keys is not Keys.DISTINCT or self.transactional is not None)

    @property
    def forgets_aborted(self) -> bool:
        """Tell whether the cleaner can omit a transaction from the index of aborted transactions (before 3.1.1; 10,
        D7)."""
        compacts = self.compaction is not None and self.transactional is not None
        return compacts and self.kafka < KEEPS_ABORTED

    @property
    def drops_markers(self) -> bool:
        """Tell whether the removal of a marker, or its omission from the index, can be visible (10, D6 D7)."""
        if self.compaction is None or self.transactional is None:
            return False
        return self.forgets_aborted or outlasts_brokers(self, self.durations.delete_retention)

    @property
    def clients_miss_tombstones(self) -> bool:
        """Tell whether a client can wait so long that the cleaner drops a tombstone, however soon brokers are back (10,
        D4)."""
        return self.keys is Keys.DELETED and clients_may_miss(self, self.durations.delete_retention)

    @property
    def drops_tombstones(self) -> bool:
        """Tell whether a tombstone can be dropped before the consumer or a follower has it."""
        away = self.keys is Keys.DELETED and outlasts_brokers(self, self.durations.delete_retention)
        return away or self.clients_miss_tombstones

    @property
    def reading_is_timed(self) -> bool:
        """Tell whether records can disappear before the consumer reads them."""
        return self.records_expire_unread or self.drops_tombstones

    @property
    def reading_in_time_is_assumed(self) -> bool:
        """Tell whether outages of brokers, more outages than are counted, or workers could make a record expire.

        Such a model does not include retention: its passes assume that records are read and processed in time.
        """
        return not self.records_expire_unread and may_get_too_old(self, self.durations.retention)

    @property
    def sending_in_time_is_assumed(self) -> bool:
        """Tell whether brokers could forget a producer that sends nothing for as long as records are kept.

        Brokers before 2.5 would then refuse the producer. Such a model does not include retention.
        """
        kept = self.durations.retention.most
        return self._unknown_is_refused and not self.brokers_forget_deleted and kept is not None

    @property
    def deletes_in_time_are_assumed(self) -> bool:
        """Tell the same for tombstones, which are kept permanently without compaction."""
        counted = self.keys is not Keys.DELETED or self.clients_miss_tombstones
        return not counted and may_get_too_old(self, self.durations.delete_retention)

    @property
    def ends_of_producer(self) -> int:
        """The number of times that the producer application can end and restart, whatever the total of faults."""
        return sum(dict(self.faults.at_most).get(kind, 0) for kind in ENDS_PRODUCER)

    @property
    def outages_of_consumer(self) -> int:
        """The number of times that the consumer's process can end."""
        closed = self.at_most(Fault.FAILED_PROCESSING) if self.on_processing_error is OnProcessingError.CLOSE else 0
        return self.at_most(Fault.CONSUMER_CRASH) + self.replacements_of_consumer + closed

    @property
    def replacements_of_consumer(self) -> int:
        """The number of times that the group can assign the partition to another member while the previous member keeps
        running."""
        return sum(self.at_most(kind) for kind in REPLACES_MEMBER)

    @cached_property
    def possible_faults(self) -> frozenset[Fault]:
        """The kinds of fault that the budget allows at least once."""
        return frozenset(Fault(kind) for kind, _ in self.faults.at_most if self.at_most(Fault(kind)))

    @property
    def brokers(self) -> int:
        """The number of modelled brokers: those with a replica, and one to which a replica can be moved."""
        return self.replicas + int(Fault.REASSIGNMENT in self.possible_faults)

    @property
    def answers_may_be_late(self) -> bool:
        """Tell whether a leader's answer to a follower can come from another log than the leader's present one
        (semantics 6.1)."""
        return self.copies_newer_epochs and Fault.LATE_ANSWER in self.possible_faults

    def at_most(self, kind: Fault) -> int:
        """Return the number of faults of a kind that can happen."""
        most = dict(self.faults.at_most).get(kind, 0)
        return most if self.faults.total is None else min(most, self.faults.total)

    @property
    def retries_processing(self) -> bool:
        """Tell whether the application can process the same record again without limit."""
        again = self.on_processing_error in (OnProcessingError.RETRY, OnProcessingError.RETRY_LAST)
        return again and Fault.FAILED_PROCESSING in self.possible_faults

    @property
    def commits_at_once(self) -> bool:
        """Tell whether the committed offset moves with every poll: it is committed before processing or stored with the
        result."""
        return self.commit is Commit.BEFORE or self.sink.keeps_offsets

    @property
    def commits_first(self) -> bool:
        """Tell whether the application commits the records of a poll() before processing, and the sink keeps no
        offset."""
        return self.commit is Commit.BEFORE and not self.sink.keeps_offsets

    @property
    def loses_commits(self) -> bool:
        """Tell whether a commit of the consumer can fail without a retry (semantics 12, C3 C7)."""
        return self.commit is Commit.ASYNC or (self.commit is Commit.AUTO and self.rebalancing.sent_once)

    @property
    def goes_back_to_last(self) -> bool:
        """Tell whether the consumer can go back to the last failed record, past an earlier failed one (12.1)."""
        fails = Fault.FAILED_PROCESSING in self.possible_faults and self.processing is Processing.HANDED_OFF
        return fails and self.on_processing_error is OnProcessingError.RETRY_LAST

    @property
    def forwards_unconfirmed(self) -> bool:
        """Tell whether failed records are written to another topic without waiting for the acknowledgement (12.1)."""
        fails = Fault.FAILED_PROCESSING in self.possible_faults
        return fails and self.on_processing_error is OnProcessingError.FORWARD_UNCONFIRMED

    @property
    def commits_may_be_missed(self) -> bool:
        """Tell whether the consumer can end before the records of a poll are committed."""
        return self.outages_of_consumer > 0 and not self.commits_at_once and self.commit is not Commit.NEVER

    @property
    def brokers_keep_offsets(self) -> bool:
        """Tell whether a starting consumer asks the brokers for its offset, which neither the sink keeps nor nobody."""
        return self.outages_of_consumer > 0 and self.sink is not Sink.TRANSACTIONAL and self.commit is not Commit.NEVER

    @property
    def transaction_state_may_be_lost(self) -> bool:
        """Tell whether the coordinator of the producer's transactions can lose its state (semantics 11.4)."""
        return self.transactional is not None and Fault.LOST_TRANSACTION_STATE in self.possible_faults

    @property
    def offsets_of_transactions_overlap(self) -> bool:
        """Tell whether a transaction's offsets can still be pending when the next transaction's come (to 3.9.0;
        semantics 11.3)."""
        return self.offsets_applied_late and self.sink is Sink.KAFKA

    @property
    def offsets_may_be_lost(self) -> bool:
        """Tell whether the brokers can lose the group's committed offsets (semantics 11.4)."""
        return self.brokers_keep_offsets and Fault.LOST_OFFSETS in self.possible_faults

    @property
    def offsets_may_be_gone(self) -> bool:
        """Tell whether a group that has committed can find no committed offset: expired, or lost."""
        return self.offsets_expire or self.offsets_may_be_lost

    @property
    def offsets_expire(self) -> bool:
        """Tell whether the committed offsets can expire before the consumer is back (semantics 12).

        Before 2.1 they age while the group runs too (KIP-211): a client that commits by itself renews them, an
        application renews them only with new records.
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
        """The bounds that matter, by name: producer epochs matter for idempotent producers only."""
        sizes = asdict(self.bounds)
        return sizes if self.idempotence else {name: size for name, size in sizes.items() if name != "producer_epochs"}

    @property
    def assumptions(self) -> tuple[Setting, ...]:
        """The settings that documented defaults filled in because no file gives them: the application's behaviour, and
        durations."""
        return tuple(s for s in self.settings if s.origin.kind == "assumption")
