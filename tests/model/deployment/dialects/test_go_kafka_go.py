"""kafka-go in Go programs: literals of writers and readers, and what follows from what they leave out."""

from __future__ import annotations

from proofka.model.deployment.dialects.component import Found, Role
from proofka.model.deployment.dialects.finding import Findings
from proofka.model.deployment.dialects.judging import judge
from proofka.model.deployment.dialects.pairing import pair
from tests.model.deployment.dialects.accounting import read_text, values

NAME = "Go source"
SHOP = """package shop

import (
	"context"
	"os"
	"time"

	"github.com/segmentio/kafka-go"
)

const attempts = 5

func write() *kafka.Writer {
	w := &kafka.Writer{
		Addr:         kafka.TCP(os.Getenv("BROKERS")),
		Topic:        "orders",
		Balancer:     &kafka.Hash{},
		RequiredAcks: kafka.RequireAll,
		MaxAttempts:  attempts,
		BatchTimeout: 10 * time.Millisecond,
		Transport:    &kafka.Transport{SASL: plain.Mechanism{Password: "geheim"}},
	}
	w.WriteTimeout = 3 * time.Second
	return w
}

func read(ctx context.Context) {
	r := kafka.NewReader(kafka.ReaderConfig{
		Brokers:        []string{"a:9092"},
		GroupID:        group(),
		Topic:          "orders",
		StartOffset:    kafka.LastOffset,
		MinBytes:       10e3,
		MaxBytes:       10e6,
		Dialer:         &kafka.Dialer{Timeout: 4 * time.Second, DualStack: true},
		CommitInterval: time.Second,
	})
	m, _ := r.ReadMessage(ctx)
}
"""


def go(body: str) -> Found:
    return read_text(
        f'package a\nimport "github.com/segmentio/kafka-go"\nfunc f() {{\n{body}\n}}\n', "a.go", dialect=NAME
    )


def rejected(found: Found) -> dict[str, str]:
    return {one.given.key: one.reason for one in found.rejected}


def test_a_writer_and_a_reader() -> None:
    found = read_text(SHOP, "shop.go", dialect=NAME)
    assert values(found, Role.PRODUCER) == {
        "RequiredAcks": "RequireAll",
        "MaxAttempts": "5",
        "BatchTimeout": "10ms",
        "WriteTimeout": "3000ms",
    }
    assert values(found, Role.CONSUMER) == {
        "StartOffset": "LastOffset",
        "MinBytes": "10000",
        "MaxBytes": "10000000",
        "Dialer.Timeout": "4000ms",
        "CommitInterval": "1000ms",
        "Reads": "ReadMessage",
    }
    assert not found.rejected
    assert [one.topics for one in found.components] == [("orders",), ("orders",)]
    assert {one.client.value for one in found.components if one.client is not None} == {"kafka-go"}
    assert {"Addr", "Balancer", "Transport", "Brokers", "Dialer", "GroupID"} <= {o.given.key for o in found.ignored}
    assert "geheim" not in str(found)


def test_defaults_of_old_writers_are_filled_in() -> None:
    for config in ("kafka.WriterConfig{MaxAttempts: 2}", "kafka.WriterConfig{RequiredAcks: 0, MaxAttempts: 2}"):
        found = go(f"w := kafka.NewWriter({config})")
        assert values(found, Role.PRODUCER) == {"RequiredAcks": "RequireAll", "MaxAttempts": "2"}
    assert values(go("w := kafka.NewWriter(kafka.WriterConfig{RequiredAcks: 1})"), Role.PRODUCER)["RequiredAcks"] == "1"
    of_constant = go("w := kafka.NewWriter(kafka.WriterConfig{RequiredAcks: int(kafka.RequireOne)})")
    assert values(of_constant, Role.PRODUCER)["RequiredAcks"] == "RequireOne"
    assert values(go("w := &kafka.Writer{}"), Role.PRODUCER) == {}, "RequireNone is the default of the library"


def test_errors_of_asynchronous_writers_are_ignored_without_a_callback() -> None:
    (unheard,) = go("w := &kafka.Writer{}\nw.Async = true").components
    assert unheard.application["on_send_error"].value == "ignore"
    (heard,) = go("w := kafka.Writer{Async: true, Completion: func(m []kafka.Message, err error) {}}").components
    assert not heard.application and heard.settings["Completion"].value == "a function"


def test_program_must_show_the_reading_call_of_a_group() -> None:
    config = 'r := kafka.NewReader(kafka.ReaderConfig{GroupID: "g", Topic: "t"})'
    assert values(go(f"{config}\nr.FetchMessage(ctx)"), Role.CONSUMER)["Reads"] == "FetchMessage"
    for calls in ("", "\nr.FetchMessage(ctx)\nr.ReadMessage(ctx)"):
        found = go(config + calls)
        assert "ReadMessage, which commits, or FetchMessage" in rejected(found)["Reads"]


def test_a_reader_without_a_group_is_not_modelled() -> None:
    found = go('r := kafka.NewReader(kafka.ReaderConfig{Topic: "t", Partition: 3})\nr.ReadMessage(ctx)')
    (pipeline,) = pair(Findings("", (found,), (), 0)).pipelines
    assert any("a reader of kafka-go without a group" in one.message for one in judge(pipeline).problems)


def test_conditional_values_are_rejected_if_a_property_depends_on_them() -> None:
    found = go("w := &kafka.Writer{RequiredAcks: level(), BatchSize: n()}\nif slow {\nw.MaxAttempts = 1\n}")
    assert rejected(found) == {
        "RequiredAcks": "its value is not in this file: level()",
        "MaxAttempts": "is set only if slow",
    }


def test_settings_of_kafka_go_become_a_deployment() -> None:
    (pipeline,) = pair(Findings("", (read_text(SHOP, "shop.go"),), (), 0)).pipelines
    judged = judge(pipeline)
    assert judged.deployment is not None, judged.problems
    assert judged.deployment.application.commit == "delivered"


def test_a_list_of_topics_that_a_call_makes_is_unknown() -> None:
    """The separator in the call is no topic."""
    reader = 'kafka.NewReader(kafka.ReaderConfig{{GroupID: "g", GroupTopics: {}}}).ReadMessage(ctx)'
    for expression, topics in (
        ('strings.Split(names, ",")', ()),
        ('[]string{"a", name(), "b"}', ("a", "b")),
        ("names", ("c", "d")),
    ):
        found = go('names := []string{"c", "d"}\n' + reader.format(expression))
        assert [one.topics for one in found.components] == [topics], expression
