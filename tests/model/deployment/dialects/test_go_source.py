"""Go programs: what is assigned to a sarama.Config, options of franz-go, maps of confluent-kafka-go."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.model.deployment.dialects import go_source
from proofka.model.deployment.dialects.component import Found, Role
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.formats.go import program_of
from proofka.model.deployment.dialects.formats.syntax import all_of, named
from proofka.model.deployment.errors import DeploymentError
from tests.model.deployment.dialects.accounting import read_text, values

NAME = "Go source"
SARAMA = """package shop

import (
	"os"
	"time"

	"github.com/IBM/sarama"
)

const tries = 7

func orders(brokers []string, fast bool) (sarama.SyncProducer, error) {
	config := sarama.NewConfig()
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Retry.Max = tries
	config.Producer.Retry.Backoff = 250 * time.Millisecond
	config.Producer.Return.Successes = true
	config.Version = sarama.V2_8_0_0
	if fast {
		config.Producer.RequiredAcks = sarama.NoResponse
	}
	config.Net.MaxOpenRequests = open()
	config.ClientID = os.Getenv("ID")
	config.Net.SASL.Password = "secret"
	return sarama.NewSyncProducer(brokers, config)
}

func group() {
	cfg := sarama.NewConfig()
	cfg.Consumer.Offsets.Initial, cfg.Consumer.Offsets.AutoCommit.Enable = sarama.OffsetOldest, false
	client, _ := sarama.NewClient(nil, cfg)
	sarama.NewConsumerGroupFromClient("g", client)
	sarama.NewAsyncProducer(nil, made())
}

func made() *sarama.Config {
	c := sarama.NewConfig()
	c.Producer.Return.Errors = false
	c.Producer.RequiredAcks = sarama.RequiredAcks(1)
	return c
}
"""


def reasons(found: Found) -> dict[tuple[str, int | None], str]:
    """Return the reason for which each value is in no component."""
    return {(one.given.key, one.given.origin.line): one.reason for one in (*found.ignored, *found.rejected)}


def go(body: str, *imports: str) -> Found:
    """Return the content of a file with these lines in a function."""
    lines = "".join(f"import {one}\n" for one in imports or ('"github.com/IBM/sarama"', '"time"', '"os"'))
    return read_text(f"package p\n{lines}func f(a bool) {{\n{body}\n}}\n", "f.go", dialect=NAME)


def test_each_configuration_is_a_component_of_the_client_that_gets_it() -> None:
    found = read_text(SARAMA, "kafka.go", dialect=NAME)
    assert values(found, Role.PRODUCER) == {
        "Producer.RequiredAcks": "WaitForAll",
        "Producer.Retry.Max": "7",
        "Producer.Retry.Backoff": "250ms",
        "Producer.Return.Successes": "true",
        "Version": "V2_8_0_0",
    }
    assert values(found, Role.PRODUCER, 1) == {"Producer.Return.Errors": "false", "Producer.RequiredAcks": "1"}
    assert values(found, Role.CONSUMER) == {
        "Consumer.Offsets.Initial": "OffsetOldest",
        "Consumer.Offsets.AutoCommit.Enable": "false",
    }
    sync, unheard = found.by_role[Role.PRODUCER]
    assert sync.application["sends"].value == "sync" and "on_send_error" not in sync.application
    assert unheard.application["on_send_error"].value == "ignore" and "sends" not in unheard.application
    assert {one.client.value for one in found.components if one.client} == {"sarama"}
    assert all(one.kafka is None and one.version is None for one in found.components)


def test_unknown_conditions_and_values_are_rejected() -> None:
    found = read_text(SARAMA, "kafka.go")
    assert {(one.given.key, one.reason) for one in found.rejected} == {
        ("Producer.RequiredAcks", "is set only if fast"),
        ("Net.MaxOpenRequests", "its value is not in this file: open()"),
    }
    assert {one.given.key for one in found.ignored} == {"ClientID", "Net.SASL.Password"}
    assert "secret" not in str(found)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("500 * time.Millisecond", "500ms"),
        ("time.Second * 5", "5000ms"),
        ("5000000", "5000000ns"),
        ("time.Duration(3) * time.Second", "3000ms"),
        ("1500 * time.Microsecond", "1500us"),
        ("time.Minute / 2", "30000ms"),
        ("2*time.Second + time.Millisecond", "2001ms"),
    ],
)
def test_durations(expression: str, value: str) -> None:
    found = go(f"c := sarama.NewConfig()\nc.Producer.Timeout = {expression}\nsarama.NewSyncProducer(nil, c)")
    assert values(found, Role.PRODUCER) == {"Producer.Timeout": value}


@pytest.mark.parametrize(
    ("before", "expression"),
    [("n := 3\n\tn = 4", "n"), ("var n int\n\tflag(&n)", "n"), ("", "a.b"), ("n := 3\n\tn++", "n"), ("", "1 << 70")],
)
def test_names_that_change_are_unknown(before: str, expression: str) -> None:
    found = go(
        f"{before}\nc := sarama.NewConfig()\nc.Producer.Retry.Max = {expression}\nsarama.NewSyncProducer(nil, c)"
    )
    assert not values(found, Role.PRODUCER) and [one.given.key for one in found.rejected] == ["Producer.Retry.Max"]


def test_the_last_assignment_wins() -> None:
    found = go(
        "c := sarama.NewConfig()\nc.Producer.Retry.Max = 1\nc.Producer.Retry.Max = 2\nsarama.NewAsyncProducer(nil, c)"
    )
    assert values(found, Role.PRODUCER) == {"Producer.Retry.Max": "2"}
    assert list(reasons(found).values()) == ["is set again in line 8, whose value counts"]


def test_the_condition_that_a_configuration_is_made_under_is_none() -> None:
    found = go("if a {\nc := sarama.NewConfig()\nc.Producer.Retry.Max = 1\nsarama.NewAsyncProducer(nil, c)\n}")
    assert values(found, Role.PRODUCER) == {"Producer.Retry.Max": "1"}


def test_cases_and_else() -> None:
    body = """c := sarama.NewConfig()
switch mode() {
case "x", "y":
  c.Producer.Retry.Max = 1
default:
  c.Producer.Retry.Max = 2
}
if a { } else { c.Producer.Idempotent = true }
sarama.NewAsyncProducer(nil, c)"""
    assert set(reasons(go(body)).values()) == {
        'is set only if mode() is "...", "..."',
        "is set only if mode() is something else",
        "is set only if not a",
    }


def test_a_struct_without_new_config_has_no_defaults() -> None:
    found = go('c := &sarama.Config{ClientID: "x"}\nc.Producer.Retry.Max = 3\nsarama.NewSyncProducer(nil, c)')
    assert values(found, Role.PRODUCER) == {"ClientID": "x", "Producer.Retry.Max": "3"}
    assert "NewConfig" in found.rejected[0].reason


def test_no_configuration_at_all_is_the_defaults() -> None:
    (producer,) = go("sarama.NewAsyncProducer(nil, nil)").components
    assert producer.role is Role.PRODUCER and not producer.settings


def test_a_function_that_is_handed_a_configuration() -> None:
    text = """package p
import "github.com/IBM/sarama"
func main() {
	c := sarama.NewConfig()
	tune(c)
	if x { more(c) }
	sarama.NewAsyncProducer(nil, c)
}
func tune(config *sarama.Config) { config.Producer.Retry.Max = 9 }
func more(config *sarama.Config) { config.Net.MaxOpenRequests = 1 }
"""
    found = read_text(text, "f.go")
    assert values(found, Role.PRODUCER) == {"Producer.Retry.Max": "9"} and len(found.components) == 1
    assert [one.reason for one in found.rejected] == ["is set only if x"]


def test_a_sync_producer_that_sarama_refuses() -> None:
    found = go("c := sarama.NewConfig()\nc.Producer.Return.Errors = false\nsarama.NewSyncProducer(nil, c)")
    assert "refuses" in found.rejected[0].reason


def test_a_version_that_is_unknown_matters_to_idempotence_only() -> None:
    body = "c := sarama.NewConfig()\nc.Version = v\n{}\nsarama.NewSyncProducer(nil, c)"
    assert not go(body.format("")).rejected
    assert [one.given.key for one in go(body.format("c.Producer.Idempotent = true")).rejected] == ["Version"]


def test_environment_variable_with_a_given_value_is_filled_in() -> None:
    text = 'package p\nimport "github.com/IBM/sarama"\nimport "os"\nfunc f() {\nc := sarama.NewConfig()\n'
    text += 'c.Producer.Transaction.ID = os.Getenv("TID")\nsarama.NewAsyncProducer(nil, c)\n}\n'
    assert values(read_text(text, "f.go", {"TID": "t"}), Role.PRODUCER) == {"Producer.Transaction.ID": "t"}
    assert read_text(text, "f.go").rejected


FRANZ = '"github.com/twmb/franz-go/pkg/kgo"'


def test_options_of_franz_go() -> None:
    body = """opts := []kgo.Opt{kgo.RequiredAcks(kgo.AllISRAcks()), kgo.ProducerLinger(5 * time.Millisecond)}
if a { opts = append(opts, kgo.DisableIdempotentWrite()) }
kgo.NewClient(opts...)
kgo.NewClient(kgo.ConsumerGroup("g"), kgo.ConsumeTopics("t", "u"), kgo.DisableAutoCommit(),
  kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.SessionTimeout(wait), kgo.WithLogger(l))"""
    found = go(body, FRANZ, '"time"')
    assert values(found, Role.PRODUCER) == {"RequiredAcks": "AllISRAcks()", "ProducerLinger": "5ms"}
    assert values(found, Role.CONSUMER) == {
        "ConsumerGroup": "g",
        "ConsumeTopics": "t,u",
        "DisableAutoCommit": "true",
        "ConsumeResetOffset": "NewOffset().AtStart()",
    }
    assert found.by_role[Role.CONSUMER][0].topics == ("t", "u")
    assert {one.given.key: one.reason for one in found.rejected} == {
        "DisableIdempotentWrite": "is set only if a",
        "SessionTimeout": "its value is not in this file: wait",
    }


def test_maps_of_confluent_kafka_go() -> None:
    body = """m := &kafka.ConfigMap{"acks": "all", "enable.idempotence": true, "go.batch.producer": true}
m.SetKey("linger.ms", 5)
(*m)["retries"] = n
kafka.NewProducer(m)
kafka.NewConsumer(&kafka.ConfigMap{"group.id": g(),
  "default.topic.config": kafka.ConfigMap{"auto.offset.reset": "earliest"}})"""
    found = go(body, '"github.com/confluentinc/confluent-kafka-go/v2/kafka"')
    assert values(found, Role.PRODUCER) == {"acks": "all", "enable.idempotence": "true", "linger.ms": "5"}
    assert values(found, Role.CONSUMER) == {"auto.offset.reset": "earliest"}
    assert [one.given.key for one in found.rejected] == ["retries"]
    assert {one.given.key for one in found.ignored} == {"go.batch.producer", "group.id"}
    assert len(found.components) == 2


def test_other_go_files_are_not_taken() -> None:
    assert not go_source.fits(Document("a.go", 'package a\n// sarama\nimport "fmt"\n'))
    assert not go_source.fits(Document("a.py", SARAMA))


def test_broken_files_are_one_line() -> None:
    with pytest.raises(DeploymentError, match=r"a\.go:4: is not valid Go"):
        read_text('package a\nimport "github.com/IBM/sarama"\nfunc f() {\n c := := 3\n}\n', "a.go")
    with pytest.raises(DeploymentError, match="nested deeper"):
        read_text('package a\nimport "github.com/IBM/sarama"\nvar x = ' + "(" * 3000 + ")" * 3000, "a.go")


def test_every_assignment_goes_somewhere() -> None:
    found = read_text(SARAMA, "kafka.go")
    lines = {one.given.origin.line for one in (*found.ignored, *found.rejected)}
    lines |= {said.origin.line for one in found.components for said in one.settings.values()}
    program = program_of(SARAMA, "kafka.go")
    for node in all_of(program.root, "assignment_statement"):
        if named(node):
            assert node.start_point[0] + 1 in lines


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_nothing_but_an_error_of_ours(data: st.DataObject) -> None:
    at, to = sorted(data.draw(st.tuples(*[st.integers(60, len(SARAMA))] * 2)))
    words = st.sampled_from(
        ["sarama.", "config", " = ", "(", ")", "{", "}", "\n", "&", "*", '"', "time.Second", "kgo."]
    )
    text = SARAMA[:at] + "".join(data.draw(st.lists(words, max_size=6))) + SARAMA[to:]
    try:
        go_source.read(Document("a.go", text), {})
    except DeploymentError as error:
        assert "\n" not in str(error)


def test_programs_of_unlikely_size_are_refused() -> None:
    many = "func f() { c := sarama.NewConfig(); c.Producer.Retry.Max = 3 }\n"
    with pytest.raises(DeploymentError, match="more than 100 clients"):
        read_text('package a\nimport "github.com/IBM/sarama"\n' + many * 101, "a.go")
    with pytest.raises(DeploymentError, match="too large for a Go program"):
        read_text('package a\nimport "github.com/IBM/sarama"\n' + many * 10_000, "a.go")


def test_repeatedly_doubled_texts_are_rejected_quickly() -> None:
    doubled = "".join(f"const a{n} = a{n - 1} + a{n - 1}\n" for n in range(1, 40))
    text = f'package a\nimport "github.com/IBM/sarama"\nconst a0 = "12345678"\n{doubled}'
    ends = "\tc.Producer.Transaction.ID = a39\n\tc.Producer.RequiredAcks = a39\n}\n"
    found = read_text(f"{text}func f() {{\n\tc := sarama.NewConfig()\n{ends}", "a.go")
    assert {one.given.key for one in found.rejected} == {"Producer.Transaction.ID", "Producer.RequiredAcks"}
    itself = "func f() {\n\tx := x + x\n\tc := sarama.NewConfig()\n\tc.Producer.Retry.Max = x\n}\n"
    found = read_text(f'package a\nimport "github.com/IBM/sarama"\n{itself}', "a.go")
    assert [one.reason for one in found.rejected] == ["its value is not in this file: x"]


@pytest.mark.parametrize(("key", "opted"), [("opt_in_kafka_next_gen_balancer_beta", True), ("trace", False)])
def test_a_context_of_franz_go_can_select_the_new_group_protocol(key: str, *, opted: bool) -> None:
    text = f'''package main
import {FRANZ}
func main() {{
    ctx := context.WithValue(context.Background(), "{key}", true)
    kgo.NewClient(kgo.ConsumerGroup("g"), kgo.WithContext(ctx))
}}
'''
    found = read_text(text, "main.go", dialect="Go source")
    assert (values(found, Role.CONSUMER).get("opt_in_kafka_next_gen_balancer_beta") == "true") is opted
    assert not found.by_role[Role.PRODUCER]
