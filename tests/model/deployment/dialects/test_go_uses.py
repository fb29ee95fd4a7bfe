"""Go programs: what may change a client's settings and is not followed is rejected, with its line."""

from __future__ import annotations

import pytest

from proofka.model.deployment.dialects.component import Found, Role
from proofka.model.deployment.errors import DeploymentError
from tests.model.deployment.dialects.accounting import read_text, values

NAME = "Go source"
SARAMA, CONFLUENT = '"github.com/IBM/sarama"', '"github.com/confluentinc/confluent-kafka-go/v2/kafka"'
FRANZ, SEGMENTIO = '"github.com/twmb/franz-go/pkg/kgo"', '"github.com/segmentio/kafka-go"'
SAFE = "c := sarama.NewConfig()\nc.Producer.RequiredAcks = sarama.WaitForAll\n"
MAP = 'c := kafka.ConfigMap{"acks": "all", "enable.auto.commit": false}\n'


def go(package: str, body: str, after: str = "") -> Found:
    """Return the content of a file with these lines in a function, from line 4 on."""
    return read_text(f"package p\nimport {package}\nfunc f() {{\n{body}\n}}\n{after}", "f.go", dialect=NAME)


def lines(found: Found) -> list[int | None]:
    """Return the lines of the rejected values."""
    return sorted({one.given.origin.line for one in found.rejected if one.given.origin.line is not None})


@pytest.mark.parametrize(
    "change",
    [
        "p := &c.Producer\np.RequiredAcks = sarama.NoResponse",
        "d := c\nd.Producer.RequiredAcks = sarama.NoResponse",
        "d := *c",
        "*c = *other()",
        "for _, o := range opts { o(c) }",
        "pkg.Tune(c)",
        "s.tune(c)",
        "func() { c.Producer.RequiredAcks = sarama.NoResponse }()",
        "c.Producer = other.Producer",
        "c.Producer.Retry = other.Producer.Retry",
        "c.Producer.Retry.Max++",
        "c.Producer.Retry.Max *= 2",
        "keep(S{config: c})\nkept.config.Producer.RequiredAcks = sarama.NoResponse",
        "all = append(all, c)",
        "c, err := load()",
        "if a { c = sarama.NewConfig() }",
        "ch <- c",
    ],
)
def test_unknown_uses_of_a_sarama_configuration_are_rejected(change: str) -> None:
    found = go(SARAMA, f"{SAFE}{change}\nsarama.NewSyncProducer(nil, c)")
    assert 6 in lines(found)


@pytest.mark.parametrize(
    "use",
    [
        'fmt.Printf("%v", c)',
        "if err := c.Validate(); err != nil { return }",
        "if c.Producer.Idempotent { g() }",
        "if c == nil { return }",
        "g(c.Version)",
        'log.Println("made", c)',
        "_ = c",
        "d := sarama.NewConfig()\nd.Producer.RequiredAcks = sarama.NoResponse",
        "if a { c := other{}\n c.x() }",
    ],
)
def test_harmless_uses_of_a_sarama_configuration_are_accepted(use: str) -> None:
    found = go(SARAMA, f"{SAFE}{use}\nsarama.NewSyncProducer(nil, c)")
    assert not found.rejected and values(found, Role.PRODUCER) == {"Producer.RequiredAcks": "WaitForAll"}


def test_a_second_configuration_of_the_same_name() -> None:
    again = "c = sarama.NewConfig()\nc.Producer.RequiredAcks = sarama.NoResponse\nsarama.NewSyncProducer(nil, c)"
    found = go(SARAMA, f"{SAFE}sarama.NewSyncProducer(nil, c)\n{again}")
    assert [values(found, Role.PRODUCER, at) for at in (0, 1)] == [
        {"Producer.RequiredAcks": "WaitForAll"},
        {"Producer.RequiredAcks": "NoResponse"},
    ]
    assert not found.rejected


def test_values_assigned_after_a_use_are_rejected() -> None:
    later = "c.Producer.RequiredAcks = sarama.NoResponse"
    assert lines(go(SARAMA, f"{SAFE}sarama.NewSyncProducer(nil, c)\n{later}")) == [7]
    assert lines(go(SARAMA, f"{SAFE}if a {{ return c }}\n{later}\nsarama.NewSyncProducer(nil, c)")) == [7]


def test_a_configuration_that_is_made_under_a_condition() -> None:
    body = "var c *sarama.Config\nif a {\nc = sarama.NewConfig()\nc.Producer.Idempotent = true\n}\n"
    assert lines(go(SARAMA, f"{body}sarama.NewSyncProducer(nil, c)")) == [6]
    assert not go(SARAMA, body.replace("\n}\n", "\nsarama.NewSyncProducer(nil, c)\n}\n")).rejected


def test_configuration_returned_by_a_function_of_the_file_is_read() -> None:
    made = (
        "func made() (*sarama.Config, error) {\nc := sarama.NewConfig()\nc.Producer.Retry.Max = 7\nreturn c, nil\n}\n"
    )
    found = go(
        SARAMA, "c, err := made()\nc.Producer.RequiredAcks = sarama.WaitForAll\nsarama.NewSyncProducer(nil, c)", made
    )
    assert values(found, Role.PRODUCER) == {"Producer.Retry.Max": "7", "Producer.RequiredAcks": "WaitForAll"}
    assert len(found.components) == 1 and not found.rejected
    two = made.replace("return", "if a { return other(), nil }\nreturn")
    assert go(SARAMA, "c, err := made()\nsarama.NewSyncProducer(nil, c)", two).rejected
    assert go(SARAMA, "c, err := pkg.made()\nsarama.NewSyncProducer(nil, c)", made).rejected


def test_configuration_passed_to_a_function_is_followed_or_rejected() -> None:
    helper = "func tune(c *sarama.Config) {\nc.Producer.Retry.Max = 7\nother(c)\n}\n"
    assert lines(go(SARAMA, f"{SAFE}tune(c)\nsarama.NewSyncProducer(nil, c)", helper)) == [11]
    assert "outside of this file" in go(SARAMA, "", helper).rejected[0].reason
    same = helper.replace("other(c)", "")
    assert not go(SARAMA, f"{SAFE}tune(c)\nsarama.NewSyncProducer(nil, c)", same).rejected
    twice = f"{same}func (x T) tune(c *sarama.Config) {{}}\n"
    assert go(SARAMA, f"{SAFE}tune(c)\nsarama.NewSyncProducer(nil, c)", twice).rejected
    methods = "func (x A) set(c *sarama.Config) { c.Producer.Retry.Max = 1 }\nfunc (x B) set(c *sarama.Config) {}\n"
    assert 6 in lines(go(SARAMA, f"{SAFE}b.set(c)\nsarama.NewSyncProducer(nil, c)", methods))
    assert "not in this file" in go(SARAMA, "sarama.NewSyncProducer(nil, settings.Kafka)").rejected[0].reason


def test_a_variable_of_the_package() -> None:
    start = "var c = sarama.NewConfig()\nfunc init() { c.Producer.RequiredAcks = sarama.WaitForAll }\n"
    found = go(SARAMA, "sarama.NewSyncProducer(nil, c)", start)
    assert values(found, Role.PRODUCER) == {"Producer.RequiredAcks": "WaitForAll"} and not found.rejected
    changed = f"{start}func later() {{ c.Producer.RequiredAcks = sarama.NoResponse }}\n"
    assert lines(go(SARAMA, "sarama.NewSyncProducer(nil, c)", changed)) == [8]


@pytest.mark.parametrize(
    "change",
    [
        'delete(c, "acks")',
        "maps.Copy(c, other)",
        "tune(c)",
        "d := c",
        "for k, v := range more { c[k] = v }",
        'c.Set("acks=0")',
        'func() { c["acks"] = "0" }()',
        "c = load()",
    ],
)
def test_unknown_uses_of_a_map_are_rejected(change: str) -> None:
    assert 5 in lines(go(CONFLUENT, f"{MAP}{change}\nkafka.NewProducer(&c)"))


def test_maps_that_are_followed() -> None:
    helper = 'func tune(m kafka.ConfigMap) { m["acks"] = "0" }\n'
    found = go(CONFLUENT, f'{MAP}tune(c)\nv, _ := c.Get("acks", nil)\nkafka.NewProducer(&c)', helper)
    assert values(found, Role.PRODUCER)["acks"] == "0" and not found.rejected
    made = 'func made() *kafka.ConfigMap {\nc := &kafka.ConfigMap{"acks": "1"}\nreturn c\n}\n'
    assert values(go(CONFLUENT, "kafka.NewProducer(made())", made), Role.PRODUCER) == {"acks": "1"}
    at_once = 'func made() *kafka.ConfigMap { return &kafka.ConfigMap{"acks": "1"} }\n'
    found = go(CONFLUENT, "kafka.NewProducer(made())", at_once)
    assert values(found, Role.PRODUCER) == {"acks": "1"} and not found.rejected
    for unknown in ("kafka.NewProducer(settings)", "kafka.NewProducer(load())"):
        assert "not in this file" in go(CONFLUENT, unknown).rejected[0].reason


def test_each_branch_that_makes_a_map_is_kept_and_none_counts() -> None:
    body = 'var c *kafka.ConfigMap\nif a {\nc = &kafka.ConfigMap{"acks": "0"}\n'
    body += '} else {\nc = &kafka.ConfigMap{"acks": "all"}\n}'
    found = go(CONFLUENT, f"{body}\nkafka.NewProducer(c)")
    assert [one.settings["acks"].value for one in found.components] == ["0", "all"] and lines(found) == [6, 8]


def test_options_of_franz_go_from_elsewhere() -> None:
    common = "func common() []kgo.Opt { return []kgo.Opt{kgo.RecordRetries(3)} }\n"
    found = go(FRANZ, "kgo.NewClient(append(common(), kgo.DefaultProduceTopic(t))...)", common)
    assert values(found, Role.PRODUCER) == {"RecordRetries": "3"} and not found.rejected
    for unknown in ("kgo.NewClient(append(common(), kgo.DefaultProduceTopic(t))...)", "kgo.NewClient(opts...)"):
        assert lines(go(FRANZ, unknown)) == [4]
    parameter = "func g(o []kgo.Opt) {\no = append(o, kgo.DefaultProduceTopic(t))\nkgo.NewClient(o...)\n}\n"
    assert go(FRANZ, "", parameter).rejected
    assert 5 in lines(go(FRANZ, "o := []kgo.Opt{kgo.RecordRetries(3)}\no[0] = other()\nkgo.NewClient(o...)"))
    assert 6 in lines(go(FRANZ, "o := []kgo.Opt{}\nkgo.NewClient(o...)\no = append(o, kgo.RecordRetries(3))"))


def test_two_clients_of_franz_go_have_options_in_common() -> None:
    body = "o := []kgo.Opt{kgo.RecordRetries(3)}\nkgo.NewClient(append(o, kgo.DefaultProduceTopic(t))...)\n"
    found = go(FRANZ, f"{body}kgo.NewClient(append(o, kgo.DefaultProduceTopic(u))...)")
    assert [one.settings["RecordRetries"].value for one in found.components] == ["3", "3"] and not found.rejected


def test_structs_of_kafka_go() -> None:
    reader = (
        'c := kafka.ReaderConfig{GroupID: "g"}\nc.CommitInterval = 0\n{}\nr := kafka.NewReader(c)\nr.ReadMessage(x)'
    )
    assert values(go(SEGMENTIO, reader.replace("{}", "log.Print(c)")), Role.CONSUMER)["CommitInterval"] == "0"
    for change in ("tune(&c)", "d := &c", "c = load()", "if a { c = kafka.ReaderConfig{} }"):
        assert 6 in lines(go(SEGMENTIO, reader.replace("{}", change)))
    assert lines(go(SEGMENTIO, "kafka.NewReader(cfg)")) == [4]
    writer = "w := &kafka.Writer{RequiredAcks: kafka.RequireAll}\nsend(w)\nw.WriteMessages(x)\n"
    assert not go(SEGMENTIO, f"{writer}return S{{writer: w}}").rejected
    assert go(SEGMENTIO, f"{writer}v := w\nv.RequiredAcks = kafka.RequireNone").rejected
    assert go(SEGMENTIO, "w := kafka.NewWriter(kafka.WriterConfig{})\nw.Async = true").rejected


def test_a_name_of_a_loop_hides_a_constant() -> None:
    client = "c := sarama.NewConfig()\nc.Producer.Retry.Max = tries\nsarama.NewSyncProducer(nil, c)\n"
    found = go(SARAMA, f"for _, tries := range all {{\n{client}}}", "const tries = 7\n")
    assert lines(found) == [6]
    assert values(go(SARAMA, client, "const tries = 7\n"), Role.PRODUCER) == {"Producer.Retry.Max": "7"}


def test_a_function_that_is_called_often_is_not_copied_without_end() -> None:
    helper = "func tune(c *sarama.Config) {\n" + "c.Producer.Retry.Max = 1\n" * 100 + "}\n"
    with pytest.raises(DeploymentError, match="more than 5000 settings"):
        go(SARAMA, SAFE + "tune(c)\n" * 100 + "sarama.NewSyncProducer(nil, c)", helper)
