"""A pipeline that was found becomes a deployment, or says all that is wrong with it at once."""

from __future__ import annotations

import pytest

from proofka.model.deployment.dialects.accounting import Fate, accounts_of
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.finding import Findings
from proofka.model.deployment.dialects.judging import Judged, judge
from proofka.model.deployment.dialects.pairing import pair
from proofka.model.deployment.dialects.recognising import dialect_of
from proofka.model.deployment.given import Given
from proofka.model.deployment.setting import Ignored, Origin
from proofka.model.deployment.values import has_placeholder
from tests.model.deployment.dialects.accounting import read_text

CONFLUENT = Given("client", "librdkafka", Origin("rule", "confluent-kafka"))


def producer(client: Given | None = None, **settings: str) -> Findings:
    """Return the text of a producer's file with a setting in each line; double underscores are dots."""
    keys = [name.replace("__", ".") for name in settings]
    given = {
        key: Given(key, value, Origin("file", key, "p.properties", line))
        for line, (key, value) in enumerate(zip(keys, settings.values(), strict=True), start=1)
    }
    component = Component(Role.PRODUCER, "p", given, client=client)
    return Findings("", (Found("p.properties", "test", (component,)),), (), 0)


def judged(findings: Findings, **options: str) -> Judged:
    (pipeline,) = pair(findings).pipelines
    return judge(pipeline, **options)


def test_java_ignores_unknown_settings() -> None:
    found = producer(acks="1", retires="10")
    one = judged(found)
    assert one.deployment is not None
    assert [ignored.key for ignored in one.deployment.ignored] == ["retires"]
    assert "warns and goes on; did you mean retries?" in one.deployment.ignored[0].reason


def test_librdkafka_refuses_unknown_settings() -> None:
    one = judged(producer(CONFLUENT, acks="1", retires="10"))
    assert one.deployment is None
    assert [problem.line for problem in one.problems] == [2]
    assert "refused by the librdkafka producer" in str(one.problems[0])


def test_all_that_is_wrong_is_said_at_once() -> None:
    one = judged(producer(acks="some", retries="-5", linger__ms="soon"))
    assert [problem.line for problem in one.problems] == [1, 2, 3]
    assert one.deployment is None
    assert one.rest is not None


def test_a_placeholder_where_it_matters_keeps_the_verdict_back() -> None:
    assert judged(producer(acks="${ACKS}")).deployment is None
    assert judged(producer(bootstrap__servers="${BROKERS}")).deployment is not None


def test_the_release_is_the_users_else_the_files_else_the_newest() -> None:
    assert judged(producer(acks="1"), kafka="2.8").deployment.cluster.kafka[:2] == (2, 8)  # type: ignore[union-attr]
    newest = judged(producer(acks="1")).deployment
    assert newest is not None
    assert next(one for one in newest.settings if one.key == "release").origin.kind == "assumption"


def test_three_replicas_where_no_file_has_a_number() -> None:
    deployment = judged(producer(acks="1")).deployment
    assert deployment is not None
    assert deployment.cluster.replicas == 3
    assert judged(producer(acks="1"), assume={"replicas": "1"}).deployment.cluster.replicas == 1  # type: ignore[arg-type, union-attr]


def test_the_account_has_the_outcome_of_each_value() -> None:
    text = "spring.kafka.producer.acks=1\nspring.kafka.producer.retries=x\nspring.kafka.bootstrap-servers=a:9092\nx=1\n"
    findings = Findings("", (read_text(text, "application.properties"),), (), 0)
    (pipeline,) = pair(findings).pipelines[:1]
    (account,) = accounts_of(findings, [judge(pipeline)])
    assert [(entry.line, entry.fate) for entry in account.entries] == [
        (1, Fate.USED),
        (2, Fate.REJECTED),
        (3, Fate.IGNORED),
        (4, Fate.IGNORED),
    ]


def test_a_secret_is_in_no_account() -> None:
    secret = "org.x required password='s3cret';"
    text = f"spring.kafka.properties.sasl.jaas.config={secret}\nspring.datasource.password=s3cret\n"
    findings = Findings("", (read_text(text, "application.properties"),), (), 0)
    (account,) = accounts_of(findings, [judge(one) for one in pair(findings).pipelines])
    assert len(account.entries) == 2
    assert "s3cret" not in repr(account.entries)


@pytest.mark.parametrize("name", ["a.conf", "A.java", "a.tf", "a.yml", "a.txt"])
def test_blank_lines_cost_nothing(name: str) -> None:
    assert dialect_of(Document(name, "\n" * 100_000 + "# kafka\n")) is None


def test_openings_without_an_end_are_no_placeholder() -> None:
    assert not has_placeholder("${" * 500_000 + "$(" * 500_000)
    assert not has_placeholder("} ${ ) $(")
    assert has_placeholder("a${b}") and has_placeholder("$(b)c") and has_placeholder("${}")


def test_values_in_one_line_have_accounts_of_their_own() -> None:
    text = '{"bootstrap.servers": "a:1", "group.id": "g", "acks": "0", "linger.ms": 7, "client.id": "c"}'
    found = read_text(text, "producer.json")
    findings = Findings("", (found,), (), 0)
    (account,) = accounts_of(findings, [judge(one) for one in pair(findings).pipelines])
    said = {entry.name: (entry.fate, entry.what) for entry in account.entries}
    assert said["acks"][0] is said["linger.ms"][0] is Fate.USED
    assert said["bootstrap.servers"] == (Fate.IGNORED, next(one.reason for one in _ignored(findings)))


def _ignored(findings: Findings) -> list[Ignored]:
    (judged,) = [judge(one) for one in pair(findings).pipelines]
    assert judged.rest is not None
    return [one for one in judged.rest.ignored if one.key == "bootstrap.servers"]
