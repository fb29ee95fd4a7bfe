"""Kafka's behaviour step by step: what each rule of the reference allows, forbids and does.

Section numbers are those of docs/semantics.md, which follows the reference's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from proofka.model.deployment.choices import Commit, OffsetReset, OnSendError, Processing, ProducerId, Sends, Sink
from proofka.model.faults import Fault
from proofka.model.state.pipeline import Fate
from tests.checker.asking import example
from tests.model.scripted import BOUNDS, Scenario, scenario

# --- replication: sections 6.1, 3.2 -------------------------------------------------------------------------------


def test_high_watermark_needs_a_second_fetch() -> None:
    """A leader believes of a follower the offset of its last fetch, not the follower's log (6.1)."""
    run = scenario(replicas=2).produce(0, 1)
    run.do("fetch", follower=2, leader=1)
    assert run.log(2) == [0]
    assert run.high_watermark(1) == 0, "the follower has the record, and the leader does not know"
    assert not run.can("acknowledge", batch=0, leader=1)
    run.do("fetch", follower=2, leader=1)
    assert run.high_watermark(1) == 1
    assert run.can("acknowledge", batch=0, leader=1)


def test_high_watermark_waits_for_every_member_of_the_isr() -> None:
    run = scenario().produce(0, 1).replicate(2, 1)
    assert run.high_watermark(1) == 0
    run.replicate(3, 1)
    assert run.high_watermark(1) == 1


def test_a_follower_never_has_a_higher_watermark_than_log() -> None:
    run = scenario(replicas=2).produce(0, 1).replicate(2, 1).produce(1, 1)
    run.do("fetch", follower=2, leader=1)
    assert run.high_watermark(2) <= len(run.log(2))
    assert run.high_watermark(2) <= run.high_watermark(1)


def test_acks_1_is_acknowledged_at_once_and_acks_0_without_an_answer() -> None:
    run = scenario("acks-1").produce(0, 1)
    assert run.can("acknowledge", batch=0, leader=1)
    assert run.high_watermark(1) == 0
    run = scenario("acks-0").do("send", batch=0).do("transmit", batch=0, leader=1).do("append", batch=0, leader=1)
    assert run.fate(0) is Fate.ACKNOWLEDGED


def test_acks_0_takes_a_lost_request_for_done() -> None:
    run = scenario("acks-0").do("send", batch=0).do("transmit", batch=0, leader=1).do("lose_request", batch=0)
    assert run.fate(0) is Fate.ACKNOWLEDGED
    assert run.log(1) == []


# --- elections and truncation: sections 6.3, 6.5, 8 ---------------------------------------------------------------


def test_first_eligible_replica_in_assignment_order_is_elected() -> None:
    """No comparison of logs: broker 2 is first, whatever broker 3 has (E1)."""
    run = scenario().produce(0, 1).do("fetch", follower=3, leader=1).do("kill", broker=1)
    assert run.leader == 1, "a session has to expire first"
    run.do("fence", broker=1)
    assert (run.leader, run.isr) == (2, {2, 3})
    assert (run.log(2), run.log(3)) == ([], [0])


def test_a_new_leader_leads_once_it_knows() -> None:
    """The controller's decision and a broker's applied metadata are two things."""
    run = scenario().do("kill", broker=1).do("fence", broker=1).do("send", batch=0).do("transmit", batch=0, leader=2)
    assert not run.can("append", batch=0, leader=2)
    run.do("apply_metadata", broker=2)
    assert run.can("append", batch=0, leader=2)
    assert not run.can("fetch", follower=3, leader=2), "broker 3 is still in the old epoch"
    run.do("apply_metadata", broker=3)
    assert run.can("fetch", follower=3, leader=2)


def test_a_former_leader_truncates_records_that_its_successor_lacks() -> None:
    run = scenario("acks-1").produce(0, 1).do("acknowledge", batch=0, leader=1)
    run.do("move_leader", broker=2).do("apply_metadata", broker=2).do("apply_metadata", broker=1)
    assert run.log(1) == [0]
    assert not run.can("fetch", follower=1, leader=2), "the logs diverge"
    run.do("truncate", follower=1, leader=2)
    assert run.log(1) == []
    assert run.fate(0) is Fate.ACKNOWLEDGED
    assert run.can("fetch", follower=1, leader=2)


def test_logs_that_differ_only_in_epoch_diverge() -> None:
    """The same offset, another leader epoch: KIP-101's case (8)."""
    run = scenario("acks-1").produce(0, 1).do("acknowledge", batch=0, leader=1).do("kill", broker=1)
    run.do("fence", broker=1).do("apply_metadata", broker=2).produce(1, 2)
    assert (run.epochs(1), run.epochs(2)) == ([1], [2])
    run.do("restart", broker=1)
    assert not run.can("fetch", follower=1, leader=2)
    run.do("truncate", follower=1, leader=2).do("fetch", follower=1, leader=2)
    assert run.log(1) == [1]


def test_a_log_behind_its_leaders_is_not_truncated() -> None:
    run = scenario().produce(0, 1)
    assert not run.can("truncate", follower=2, leader=1)


def test_old_epochs_are_fenced_from_fetching() -> None:
    """Followers of the new epoch do not fetch from a leader that has not heard of it (KIP-320)."""
    run = scenario().do("cut_off", broker=1).do("fence", broker=1).do("apply_metadata", broker=2)
    run.do("apply_metadata", broker=3).produce(0, 1)
    assert not run.can("fetch", follower=2, leader=1)
    assert not run.can("fetch", follower=3, leader=1)
    assert not run.can("apply_metadata", broker=1)


def test_replica_outside_the_isr_is_elected_only_by_unclean_election() -> None:
    for name, unclean in (("acks-all-min-isr-1", False), ("acks-all-min-isr-1-unclean", True)):
        run = scenario(name, replicas=2).do("become_slow", broker=2).produce(0, 1)
        run.do("shrink_isr", leader=1, follower=2).do("kill", broker=1).do("fence", broker=1)
        assert (run.leader, run.isr) == (0, {1}), "the last member keeps its seat"
        assert (run.model.system.action("elect_unclean", {"broker": 2}) is not None) == unclean
        if unclean:
            run.do("elect_unclean", broker=2)
            assert (run.leader, run.isr) == (2, {2})


def test_no_unclean_election_while_an_isr_member_is_eligible() -> None:
    run = scenario("acks-all-min-isr-1-unclean").do("kill", broker=1)
    assert not run.can("elect_unclean", broker=2)
    run.do("fence", broker=1)
    assert run.leader == 2
    assert not run.can("elect_unclean", broker=3)


def test_the_last_member_is_elected_when_it_returns() -> None:
    run = scenario("acks-all-min-isr-1", replicas=2).do("become_slow", broker=2).produce(0, 1)
    run.do("shrink_isr", leader=1, follower=2).do("lose_power", broker=1, kept=0).do("fence", broker=1)
    run.do("restart", broker=1)
    assert (run.leader, run.isr, run.log(1)) == (1, {1}, [])


def test_fencing_and_restarting() -> None:
    """A broker that runs and reaches the controller is not fenced; a dead one returns only after its fencing (6.4)."""
    run = scenario()
    assert not run.can("fence", broker=1)
    run.do("kill", broker=1)
    assert not run.can("restart", broker=1), "the old session is still valid"
    assert run.model.system.action("restart_before_fenced", {"broker": 1}) is None
    run.do("fence", broker=1).do("restart", broker=1)
    assert run.leader == 2
    assert 1 not in run.isr


def test_a_restart_before_fencing_keeps_the_seat_until_3_9() -> None:
    run = scenario("fast-restart-3.9").do("kill", broker=1).do("restart_before_fenced", broker=1)
    assert (run.leader, run.isr) == (1, {1, 2, 3})
    run.do("apply_metadata", broker=1)
    assert run.can("send", batch=0)


def test_a_restart_before_fencing_takes_a_stall_of_the_controller() -> None:
    """Without it, a broker of 3.9 is fenced before it comes back (6.4)."""
    run = Scenario(example("fast-restart-3.9", (Fault.KILL,))).do("kill", broker=1)
    assert run.model.system.action("restart_before_fenced", {"broker": 1}) is None
    assert not run.can("restart", broker=1)
    run.do("fence", broker=1).do("restart", broker=1)
    assert (run.leader, run.isr) == (2, {2, 3})


def test_planned_move_does_not_wait_for_the_target_to_catch_up() -> None:
    """The target is in the ISR and does not have the whole log (E5)."""
    run = scenario().produce(0, 1)
    assert not run.can("move_leader", broker=1)
    run.do("move_leader", broker=3)
    assert (run.leader, run.log(3)) == (3, [])
    run.do("kill", broker=2).do("fence", broker=2)
    assert not run.can("move_leader", broker=2)


# --- faults: sections 1.1, 5 --------------------------------------------------------------------------------------


def test_kill_keeps_and_power_loss_takes_the_page_cache() -> None:
    run = scenario("acks-1").produce(0, 1).produce(1, 1)
    for kept in (0, 1, 2):
        assert run.can("lose_power", broker=1, kept=kept), "any prefix may survive"
    assert not run.can("lose_power", broker=1, kept=3)
    assert run.do("kill", broker=1).log(1) == [0, 1]
    assert scenario().produce(0, 1).do("lose_power", broker=1, kept=0).log(1) == []
    assert scenario().produce(0, 1).do("lose_disk", broker=1).log(1) == []


def test_flushed_records_survive_a_power_loss() -> None:
    every = scenario("acks-1", flush_messages=1).produce(0, 1)
    assert not every.can("lose_power", broker=1, kept=0)
    assert every.can("lose_power", broker=1, kept=1)
    second = scenario("acks-1", flush_messages=2).produce(0, 1)
    assert second.can("lose_power", broker=1, kept=0)
    second.produce(1, 1)
    assert not second.can("lose_power", broker=1, kept=1)
    assert second.can("lose_power", broker=1, kept=2)


def test_followers_flush_as_well() -> None:
    run = scenario(flush_messages=1).produce(0, 1).do("fetch", follower=2, leader=1)
    assert not run.can("lose_power", broker=2, kept=0)


def test_a_dead_broker_does_nothing() -> None:
    run = scenario().produce(0, 1).do("kill", broker=2)
    assert not run.can("fetch", follower=2, leader=1)
    assert not run.can("kill", broker=2)
    assert not run.can("become_slow", broker=2)


# --- the ISR: section 6.2, 3.2 ------------------------------------------------------------------------------------


def test_shrinking_needs_a_follower_that_lags() -> None:
    run = scenario().produce(0, 1)
    assert not run.can("shrink_isr", leader=1, follower=2), "it fetches, and will have caught up in time"
    run.do("become_slow", broker=2)
    assert run.can("shrink_isr", leader=1, follower=2)
    assert not run.can("fetch", follower=2, leader=1)


def test_a_slow_follower_that_has_everything_stays() -> None:
    run = scenario().produce(0, 1).replicate(2, 1).do("become_slow", broker=2)
    assert not run.can("shrink_isr", leader=1, follower=2)


def test_shrinking_waits_for_the_controller() -> None:
    """The leader that is cut off proposes in vain, and its high watermark waits (I1)."""
    run = scenario("acks-all-min-isr-1").do("become_slow", broker=2).do("become_slow", broker=3).produce(0, 1)
    run.do("cut_off", broker=1)
    assert not run.can("shrink_isr", leader=1, follower=2)
    run.do("fence", broker=1)
    assert run.isr == {2, 3}
    assert run.isr_of(1) == {1, 2, 3}
    assert not run.can("acknowledge", batch=0, leader=1)


def test_shrinking_raises_the_high_watermark() -> None:
    run = scenario().produce(0, 1).replicate(3, 1).do("become_slow", broker=2)
    assert run.high_watermark(1) == 0
    run.do("shrink_isr", leader=1, follower=2)
    assert (run.isr, run.high_watermark(1)) == ({1, 3}, 1)


def test_expanding_needs_a_fetch_at_the_high_watermark() -> None:
    run = scenario().do("become_slow", broker=2).produce(0, 1).replicate(3, 1)
    run.do("shrink_isr", leader=1, follower=2).do("recover_speed", broker=2)
    assert not run.can("expand_isr", leader=1, follower=2)
    run.do("fetch", follower=2, leader=1)
    assert not run.can("expand_isr", leader=1, follower=2), "the leader saw it ask for the record, not have it"
    run.do("fetch", follower=2, leader=1).do("expand_isr", leader=1, follower=2)
    assert run.isr == {1, 2, 3}


@pytest.mark.parametrize("gated", [True, False], ids=["since-3.7", "until-3.6"])
def test_high_watermark_below_min_isr(gated: bool) -> None:
    """From 3.7 on the high watermark waits while the ISR is too small; until 3.6 only the client heard of it."""
    run = scenario(replicas=2, high_watermark_needs_min_isr=gated).produce(0, 1).do("become_slow", broker=2)
    run.do("shrink_isr", leader=1, follower=2)
    assert run.high_watermark(1) == (0 if gated else 1)
    assert not run.can("acknowledge", batch=0, leader=1)
    assert run.can("fail_not_enough_after_append", batch=0, leader=1) != gated
    assert run.can("time_out_at_broker", batch=0, leader=1) == gated


def test_min_isr_is_checked_before_appending() -> None:
    run = scenario(replicas=2).produce(0, 1).do("become_slow", broker=2).do("shrink_isr", leader=1, follower=2)
    run.do("time_out_at_broker", batch=0, leader=1).do("transmit", batch=0, leader=1)
    assert not run.can("append", batch=0, leader=1)
    run.do("reject_not_enough_replicas", batch=0, leader=1)
    assert (run.log(1), run.fate(0)) == ([0], Fate.BUFFERED)
    lenient = scenario("acks-1", replicas=2).produce(0, 1).do("become_slow", broker=2)
    lenient.do("shrink_isr", leader=1, follower=2).produce(1, 1)
    assert lenient.log(1) == [0, 1], "min.insync.replicas is for acks=all alone"


def test_a_waiting_request_fails_when_its_leader_steps_down() -> None:
    """NOT_LEADER while waiting: written here, and retried elsewhere (6.5)."""
    run = scenario().produce(0, 1).do("move_leader", broker=2).do("apply_metadata", broker=2)
    run.do("apply_metadata", broker=1)
    assert run.fate(0) is Fate.BUFFERED
    assert run.log(1) == [0]
    assert run.can("transmit", batch=0, leader=2)
    assert not run.can("transmit", batch=0, leader=1)


# --- the producer: sections 3.1, 3.4, 3.5 -------------------------------------------------------------------------


def test_a_lost_response_duplicates_without_idempotence() -> None:
    run = scenario("retries-in-flight-1").produce(0, 1).do("lose_response", batch=0).do("notice", broker=1)
    run.do("transmit", batch=0, leader=1).do("append", batch=0, leader=1)
    assert run.log(1) == [0, 0]


def test_an_idempotent_retry_is_recognised() -> None:
    run = scenario("idempotent").produce(0, 1).do("lose_response", batch=0).do("notice", broker=1)
    run.do("transmit", batch=0, leader=1)
    assert not run.can("append", batch=0, leader=1)
    run.do("recognise_duplicate", batch=0, leader=1)
    assert (run.log(1), run.fate(0)) == ([0], Fate.APPENDED)


def test_a_retry_is_recognised_by_the_next_leader_as_far_as_its_log_goes() -> None:
    """Followers rebuild the producer's state from what they replicate (3.5)."""
    for replicated in (True, False):
        run = scenario("idempotent").produce(0, 1)
        if replicated:
            run.do("fetch", follower=2, leader=1)
        run.do("kill", broker=1).do("fence", broker=1).do("apply_metadata", broker=2)
        run.do("transmit", batch=0, leader=2)
        assert run.can("recognise_duplicate", batch=0, leader=2) == replicated
        assert run.can("append", batch=0, leader=2) != replicated


def test_a_gap_in_the_sequence_is_refused_if_the_producer_is_known() -> None:
    """Of a new producer id any sequence is accepted; of a known one only the next (3.5)."""
    for producer_id, accepted in ((ProducerId.KNOWN, False), (ProducerId.NEW, True)):
        run = scenario("idempotent", producer_id=producer_id).do("send", batch=0).do("send", batch=1)
        run.do("transmit", batch=0, leader=1).do("move_leader", broker=2).do("apply_metadata", broker=2)
        run.do("transmit", batch=1, leader=2)
        assert run.can("append", batch=1, leader=2) == accepted
        assert run.can("reject_out_of_order", batch=1, leader=2) != accepted


def test_one_connection_keeps_its_order() -> None:
    run = scenario("retries-in-flight-5").do("send", batch=0).do("send", batch=1)
    assert not run.can("transmit", batch=1, leader=1), "the accumulator hands out the older batch first"
    run.do("transmit", batch=0, leader=1).do("transmit", batch=1, leader=1)
    assert not run.can("append", batch=1, leader=1)
    run.do("append", batch=0, leader=1)
    assert not run.can("append", batch=1, leader=1), "the broker has not answered the first, and reads no further"
    run.replicate(2, 1).replicate(3, 1)
    assert run.can("append", batch=1, leader=1)


def test_leader_answers_acks_1_once_it_has_the_record() -> None:
    run = scenario("acks-1").do("send", batch=0).do("send", batch=1)
    run.do("transmit", batch=0, leader=1).do("transmit", batch=1, leader=1).do("append", batch=0, leader=1)
    assert run.can("append", batch=1, leader=1)


def test_producer_with_one_request_in_flight_waits_for_the_answer() -> None:
    run = scenario("retries-in-flight-1").produce(0, 1).do("send", batch=1)
    assert not run.can("transmit", batch=1, leader=1)
    assert scenario("retries-in-flight-5").produce(0, 1).do("send", batch=1).can("transmit", batch=1, leader=1)


def test_a_retry_behind_a_later_batch_reorders() -> None:
    """In-flight 5 without idempotence: batch i fails, batch i+1 is appended, i is retried (3.7)."""
    run = scenario("retries-in-flight-5").do("send", batch=0).do("send", batch=1)
    run.do("transmit", batch=0, leader=1).do("transmit", batch=1, leader=1).do("lose_request", batch=0)
    run.do("notice", broker=1).do("transmit", batch=1, leader=1).do("append", batch=1, leader=1)
    run.replicate(2, 1).replicate(3, 1)
    run.do("transmit", batch=0, leader=1).do("append", batch=0, leader=1)
    assert run.log(1) == [1, 0]


def test_an_idempotent_producer_retries_in_order() -> None:
    run = scenario("idempotent").do("send", batch=0).do("send", batch=1)
    run.do("transmit", batch=0, leader=1).do("transmit", batch=1, leader=1).do("lose_request", batch=0)
    run.do("notice", broker=1)
    assert not run.can("transmit", batch=1, leader=1)
    run.do("transmit", batch=0, leader=1)
    assert run.can("append", batch=0, leader=1)


def test_send_is_given_up_only_for_a_cause() -> None:
    run = scenario().do("send", batch=0)
    assert not run.can("give_up", batch=0), "a leader is there to take it"
    run.do("transmit", batch=0, leader=1).do("append", batch=0, leader=1)
    assert not run.can("give_up", batch=0), "the followers fetch"
    run.do("become_slow", broker=2).do("give_up", batch=0)
    assert (run.fate(0), run.log(1)) == (Fate.FAILED, [0]), "failed, and written"


def held_up_behind(*, transmitted: bool) -> Scenario:
    """Record 1 waits for a slow follower; record 2 is behind it, in the accumulator or on its way."""
    run = scenario("retries-in-flight-5" if transmitted else "retries-in-flight-1").do("become_slow", broker=2)
    run.produce(0, 1).do("send", batch=1)
    return run.do("transmit", batch=1, leader=1) if transmitted else run


def test_batch_behind_a_delayed_batch_can_be_abandoned() -> None:
    assert held_up_behind(transmitted=False).do("give_up", batch=1).fate(1) is Fate.FAILED
    run = held_up_behind(transmitted=True).do("give_up", batch=1)
    assert run.fate(1) is Fate.FAILED
    assert run.can("execute_delayed", batch=1, leader=1), "the request is out"


def test_a_client_that_times_out_drops_its_connection_with_all_on_it() -> None:
    run = held_up_behind(transmitted=True).do("time_out", leader=1)
    assert (run.fate(0), run.fate(1)) == (Fate.BUFFERED, Fate.BUFFERED)
    assert run.can("execute_delayed", batch=1, leader=1)
    assert run.can("discard_delayed", batch=1)
    assert not scenario("retries-in-flight-5").produce(0, 1).can("time_out", leader=1), "nothing is held up"


def test_a_sequence_given_up_on_bumps_the_epoch() -> None:
    """Nothing new goes out while a sequence is unresolved; then the producer takes a new epoch (KIP-360, 3.4)."""
    run = scenario("idempotent").do("send", batch=0).do("transmit", batch=0, leader=1).do("lose_request", batch=0)
    run.do("notice", broker=1).do("give_up", batch=0).do("send", batch=1)
    assert run.fate(0) is Fate.FAILED
    assert not run.can("transmit", batch=1, leader=1)
    run.do("resolve_sequences")
    producer = run.pipeline.producer
    assert (run.value(producer.epoch), run.value(producer.next_sequence)) == (1, 0)
    run.do("transmit", batch=1, leader=1).do("append", batch=1, leader=1)
    assert run.log(1) == [1]


def test_a_first_attempt_given_up_on_in_flight_leaves_its_sequence_resolved() -> None:
    """The client takes a sequence for unresolved only if the batch was sent again (3.4); the next is out of order."""
    run = scenario("idempotent").do("send", batch=0).do("transmit", batch=0, leader=1).do("lose_request", batch=0)
    run.do("give_up", batch=0).do("send", batch=1).do("transmit", batch=1, leader=1)
    assert (run.fate(0), run.value(run.pipeline.producer.unresolved)) == (Fate.FAILED, 0)
    run.do("reject_out_of_order", batch=1, leader=1)
    assert (run.value(run.pipeline.producer.epoch), run.can("transmit", batch=1, leader=1)) == (0, True)


# --- connections that die unseen: choice 26 -----------------------------------------------------------------------


def two_in_flight(**assume: object) -> Scenario:
    """Return a run in which both records are sent, and the first is on its way to broker 1."""
    run = scenario("idempotent", **assume).do("send", batch=0).do("send", batch=1)
    return run.do("transmit", batch=0, leader=1)


def test_a_broker_that_falls_silent_leaves_requests_waiting() -> None:
    for fault, arguments in (("lose_power", {"kept": 0}), ("lose_disk", {})):
        run = two_in_flight().do(fault, broker=1, **arguments)
        assert run.fate(0) is Fate.UNANSWERED
        assert not run.can("transmit", batch=0, leader=2)
        assert run.do("notice", broker=1).fate(0) is Fate.BUFFERED
    assert two_in_flight().do("kill", broker=1).fate(0) is Fate.BUFFERED, "whose connections are closed"


def test_a_newer_record_overtakes_a_request_on_a_dead_connection() -> None:
    """The leader that is new knows nothing of a new producer id, and takes its second record first (3.5)."""
    run = two_in_flight(producer_id=ProducerId.NEW).do("lose_power", broker=1, kept=0)
    run.do("fence", broker=1).do("apply_metadata", broker=2).do("transmit", batch=1, leader=2)
    assert run.do("append", batch=1, leader=2).log(2) == [1]


def test_nothing_is_sent_over_a_dead_connection() -> None:
    run = two_in_flight().do("lose_request", batch=0)
    assert not run.can("transmit", batch=1, leader=1)
    assert run.do("notice", broker=1).can("transmit", batch=0, leader=1)


def test_request_on_a_dead_connection_counts_as_in_flight() -> None:
    run = scenario("retries-in-flight-1").do("send", batch=0).do("send", batch=1).do("transmit", batch=0, leader=1)
    run.do("lose_power", broker=1, kept=0).do("fence", broker=1).do("apply_metadata", broker=2)
    assert not run.can("transmit", batch=1, leader=2)
    assert run.do("notice", broker=1).can("transmit", batch=0, leader=2)


def test_all_requests_of_a_dead_connection_fail_together() -> None:
    run = two_in_flight().do("transmit", batch=1, leader=1).do("lose_request", batch=1)
    assert (run.fate(0), run.fate(1)) == (Fate.UNANSWERED, Fate.UNANSWERED)
    assert run.can("execute_delayed", batch=0, leader=1), "it was ahead of the one that is lost"
    assert not run.can("execute_delayed", batch=1, leader=1)
    run.do("notice", broker=1)
    assert (run.fate(0), run.fate(1)) == (Fate.BUFFERED, Fate.BUFFERED)


# --- requests executed late, crashes, the application ---------------------------------------------------------------


def test_an_abandoned_request_may_be_executed_later() -> None:
    run = scenario("retries-in-flight-1").do("send", batch=0).do("transmit", batch=0, leader=1)
    run.do("delay_request", batch=0).do("notice", broker=1).do("transmit", batch=0, leader=1).do(
        "append", batch=0, leader=1
    )
    assert run.do("execute_delayed", batch=0, leader=1).log(1) == [0, 0]


def test_an_abandoned_request_of_an_idempotent_producer_is_not_appended_twice() -> None:
    run = scenario("idempotent").do("send", batch=0).do("transmit", batch=0, leader=1)
    run.do("delay_request", batch=0).do("notice", broker=1).do("transmit", batch=0, leader=1).do(
        "append", batch=0, leader=1
    )
    assert not run.can("execute_delayed", batch=0, leader=1)
    assert run.can("discard_delayed", batch=0)


@pytest.mark.slow
def test_application_reacts_to_a_failed_send() -> None:
    def failed(on_send_error: OnSendError) -> Scenario:
        run = scenario("idempotent", on_send_error=on_send_error, bounds=replace(BOUNDS, sends=2), sends=Sends.ASYNC)
        run.do("send", batch=0).do("transmit", batch=0, leader=1).do("lose_request", batch=0)
        return run.do("give_up", batch=0)

    assert failed(OnSendError.RESEND).can("send", batch=2), "batch 2 is record 1 once more"
    assert not failed(OnSendError.DROP).can("send", batch=2)
    assert failed(OnSendError.DROP).can("send", batch=1)
    assert not failed(OnSendError.HALT).can("send", batch=1)


def test_synchronous_sends_wait() -> None:
    run = scenario(sends=Sends.SYNC).produce(0, 1)
    assert not run.can("send", batch=1)
    assert scenario().produce(0, 1).can("send", batch=1)


def test_a_crashed_producer_forgets_and_starts_a_session() -> None:
    run = scenario("idempotent").do("send", batch=0).do("transmit", batch=0, leader=1).do("crash_producer")
    assert run.fate(0) is Fate.FORGOTTEN
    assert run.value(run.pipeline.producer.session) == 1
    assert run.can("execute_delayed", batch=0, leader=1), "what is on its way stays on its way"


# --- the consumer: section 12 -------------------------------------------------------------------------------------


def consuming(name: str = "auto-commit", **settings: Any) -> Scenario:
    """Return a run with two readable records in the log."""
    run = scenario(name, replicas=2, min_insync_replicas=1, **settings)
    return run.produce(0, 1).replicate(2, 1).produce(1, 1).replicate(2, 1)


def consumed(run: Scenario) -> tuple[list[int], int, int]:
    """Return how often each record was processed, the position, and the committed offset."""
    consumer = run.pipeline.consumer
    return (
        [run.value(count) for count in consumer.processed],
        run.value(consumer.position),
        run.value(consumer.committed),
    )


def test_only_records_below_the_high_watermark_are_returned() -> None:
    run = scenario("auto-commit").produce(0, 1)
    assert not run.can("poll", leader=1, count=1)
    run.replicate(2, 1).replicate(3, 1)
    assert run.can("poll", leader=1, count=1)
    assert not run.can("poll", leader=1, count=2)


def restart(run: Scenario, committed_all: bool, finished: int = 0) -> Scenario:
    """Restart after the last commit covered everything returned, or nothing; ``finished`` by workers: bits."""
    return run.do("restart_consumer", committed_all=int(committed_all), finished=finished)


def test_auto_commit_covers_records_of_earlier_polls() -> None:
    """Processed in the poll thread, what was returned is finished before the next poll commits it (C1, C2)."""
    run = consuming().do("poll", leader=1, count=1)
    assert consumed(run)[:2] == ([1, 0], 1)
    run.do("crash_while_processing", leader=1, count=1, done=0)
    assert consumed(restart(run, committed_all=True)) == ([1, 0], 1, 1)


def test_processing_is_repeated_after_a_crash() -> None:
    run = restart(consuming().do("crash_while_processing", leader=1, count=2, done=1), committed_all=False)
    assert consumed(run) == ([1, 0], 0, 0)
    assert consumed(run.do("poll", leader=1, count=2))[:2] == ([2, 1], 2)


def test_nothing_of_a_crashed_poll_is_auto_committed() -> None:
    """The commit of what a poll returned is sent by the next poll, which there was none (C2)."""
    run = consuming().do("crash_while_processing", leader=1, count=2, done=0)
    assert not run.can("restart_consumer", committed_all=1, finished=0), "there is nothing more to commit"
    assert consumed(restart(run, committed_all=False)) == ([0, 0], 0, 0)


def test_committing_first_skips_after_a_crash() -> None:
    run = consuming("commit-before-processing").do("crash_while_processing", leader=1, count=2, done=1)
    assert consumed(restart(run, committed_all=False)) == ([1, 0], 2, 2)


def test_auto_commit_runs_ahead_of_workers() -> None:
    run = consuming("auto-commit-handed-off").do("hand_off", leader=1).do("crash_consumer")
    assert consumed(restart(run, committed_all=True)) == ([0, 0], 1, 1)


def test_a_commit_by_hand_covers_records_that_workers_finished() -> None:
    """The lowest contiguous offset: record 2 done and record 1 not, nothing can be committed (12.1)."""
    run = consuming("manual-commit-plain-sink", processing=Processing.HANDED_OFF, commit=Commit.AFTER)
    run.do("hand_off", leader=1).do("hand_off", leader=1).do("crash_consumer")
    assert not run.can("restart_consumer", committed_all=1, finished=0b10)
    assert run.can("restart_consumer", committed_all=0, finished=0b10)
    assert consumed(restart(run, committed_all=True, finished=0b11)) == ([1, 1], 2, 2)


def test_a_transactional_sink_commits_with_the_effect() -> None:
    run = consuming("manual-commit-plain-sink", sink=Sink.TRANSACTIONAL)
    run.do("crash_while_processing", leader=1, count=2, done=1)
    assert consumed(restart(run, committed_all=False)) == ([1, 0], 1, 1)


def test_a_position_beyond_a_truncation_goes_back() -> None:
    """With a reset policy the consumer silently seeks to where the logs part (KIP-320, 8)."""
    run = scenario("acks-all-min-isr-1", replicas=2, offset_reset=OffsetReset.EARLIEST).produce(0, 1)
    run.do("become_slow", broker=2).do("shrink_isr", leader=1, follower=2).do("poll", leader=1, count=1)
    run.do("lose_power", broker=1, kept=0).do("fence", broker=1).do("restart", broker=1)
    assert run.leader == 1
    if run.can("apply_metadata", broker=1):
        run.do("apply_metadata", broker=1)
    assert not run.can("poll", leader=1, count=1)
    run.do("seek_to_divergence", leader=1)
    assert consumed(run)[1] == 0
