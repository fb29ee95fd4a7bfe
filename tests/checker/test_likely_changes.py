"""Likely changes are tried first, and those for required properties before others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from proofka.checker.likely_changes import likeliest_first
from proofka.model.deployment import read_deployment
from proofka.model.deployment.changing import changes_of
from tests.reports import samples

EXAMPLES = Path(__file__).parents[2] / "examples"


def tried(example: str, *properties: tuple[str, bool]) -> list[str]:
    """Return the changes in the order of trial, after violations of these properties (required or not) by a kill."""
    kill = ((("kill", 1),),)
    verdicts = [
        replace(samples.VIOLATED, property=name, required=required, cut_sets=kill) for name, required in properties
    ]
    changes = changes_of(read_deployment(EXAMPLES / example))
    return [str(changes[number]) for number in likeliest_first(changes, verdicts)]


def test_the_rows_of_the_table_decide_the_order() -> None:
    unclean = ["topic.unclean.leader.election.enable=false", "topic.min.insync.replicas=2"]
    assert tried("acks-all-min-isr-1-unclean.yaml", ("no-acked-loss", True))[:2] == unclean
    assert tried("acks-1.yaml", ("no-acked-loss", True))[0] == "producer.acks=all"
    assert tried("retries-in-flight-5.yaml", ("no-log-duplicate", True))[0] == "producer.enable.idempotence=true"


def test_required_properties_come_first() -> None:
    both = (("no-log-duplicate", False), ("no-acked-loss", True))
    assert tried("acks-all-min-isr-1-unclean.yaml", *both)[0] == "topic.unclean.leader.election.enable=false"
    other = ((name, not required) for name, required in both)
    assert tried("acks-all-min-isr-1-unclean.yaml", *other)[0] == "producer.on_send_error=halt"


def test_every_change_is_tried_once_in_the_order_of_cost_where_nothing_is_likely() -> None:
    changes = changes_of(read_deployment(EXAMPLES / "acks-1.yaml"))
    assert sorted(tried("acks-1.yaml", ("no-acked-loss", True))) == sorted(map(str, changes))
    assert likeliest_first(changes, [samples.HOLDS]) == list(range(len(changes)))
