"""Folders and files as they lie, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proofka.model.deployment import read_properties, to_document
from proofka.model.deployment.dialects import finding
from proofka.model.deployment.dialects.accounting import accounts_of
from proofka.model.deployment.dialects.finding import find
from proofka.model.deployment.dialects.judging import judge
from proofka.model.deployment.dialects.pairing import pair
from tests.checker.test_cli import fails_in_one_line, proofka
from tests.model.deployment.dialects.accounting import REAL, needs_real_files

SERVICE = """\
spring:
  kafka:
    bootstrap-servers: ${BROKERS}
    producer: {acks: "${ACKS:0}"}
    consumer: {group-id: orders}
---
spring:
  config: {activate: {on-profile: test}}
  kafka: {consumer: {max-poll-records: 5}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "service").mkdir()
    (tmp_path / "service" / "application.yml").write_text(SERVICE, encoding="utf-8")
    (tmp_path / "README.md").write_text("nothing", encoding="utf-8")
    return tmp_path


QUICK = ("--faults", "0", "--no-sensitivity", "--require", "no-acked-loss")


def test_every_error_of_a_deployment_in_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text('kafka: "4.0"\ntopic: {replica: 3}\nproducer: {ack: all}\n')
    (tmp_path / "good.yaml").write_text('kafka: "4.0"\ntopic: {replicas: 3}\n')
    told = proofka("check", tmp_path, "--quiet", *QUICK).stderr
    assert "bad.yaml:2: replica: unknown topic key" in told
    assert "bad.yaml:3: ack: unknown producer setting" in told


def test_a_folder_is_checked_pipeline_by_pipeline(folder: Path) -> None:
    run = proofka("check", folder, *QUICK)
    assert run.exit_code in (0, 4), run.stderr
    assert "service/application.yml: Spring Boot application" in run.stdout
    assert "2 of 2 pipelines" in run.stdout
    assert "which differs in nothing that matters" not in run.stdout
    assert f"proofka check {folder} --pipeline 1 --faults 0" in " ".join(run.stdout.split())
    lines = run.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines if line[:3] in ("1  ", "2  ")] == [
        "1  spring.kafka.producer -> spring.kafka.consumer",
        "2  spring.kafka.producer (test) -> spring.kafka.consumer (test)",
    ]
    assert "not checked" not in run.stdout
    whole = proofka("check", folder, "--details", *QUICK).stdout
    assert f"proofka check {folder} --pipeline 2 --faults 0" in " ".join(whole.split())
    assert whole.rpartition(" of 2 pipelines")[2].count("spring.kafka.producer") == 2


def test_the_answer_says_that_a_pipeline_was_left_out(folder: Path) -> None:
    """One that is refused, beside one that is checked, and beside several."""
    broken = "kafka: '4.0'\nproducer: {acks: 7}\n"
    (folder / "broken.yaml").write_text(broken, encoding="utf-8")
    for options in ((), ("--details",)):
        run = proofka("check", folder, *options, *QUICK)
        assert run.exit_code == 2
        assert "broken.yaml" in run.stderr
        assert "Some pipelines could not be checked" in run.stdout or "1 pipeline is not checked" in run.stdout
    (folder / "service" / "application.yml").unlink()
    (folder / "whole.yaml").write_text("kafka: '4.0'\n", encoding="utf-8")
    for options in ((), ("--details",)):
        run = proofka("check", folder, *options, *QUICK)
        assert run.exit_code == 2
        assert "1 pipeline is not checked" in run.stdout


def test_one_pipeline_of_several(folder: Path) -> None:
    run = proofka("check", folder, "--pipeline", "2", "--json", folder / "result.json", *QUICK)
    assert run.exit_code in (0, 4), run.stderr
    assert (folder / "result.json").exists()
    assert proofka("check", folder, "--json", folder / "other.json", *QUICK).exit_code == 2
    assert proofka("check", folder, "--pipeline", "3", *QUICK).exit_code == 2


def test_a_pipeline_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "application.properties"
    file.write_text("spring.kafka.producer.acks=all\n", encoding="utf-8")
    assert proofka("check", file, "--pipeline", "2").stderr == "--pipeline 2: there is 1 pipeline\n"


def test_deployments_in_a_folder_are_named_and_not_numbered(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / f"{name}.yaml").write_text("kafka: '4.0'\n", encoding="utf-8")
    said = "has 2 pipelines (first, second); this command needs one: name its file\n"
    assert proofka("trace", tmp_path).stderr == f"{tmp_path}: {said}"
    said = "there are no pipelines besides the deployments, which have no number: name the file of one\n"
    assert proofka("check", tmp_path, "--pipeline", "1").stderr == f"--pipeline 1: {said}"


def test_a_placeholder_that_matters_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "application.properties"
    file.write_text("spring.kafka.producer.acks=${ACKS}\n", encoding="utf-8")
    run = proofka("check", file, *QUICK)
    assert run.exit_code == 2
    assert "application.properties:1: acks: has a placeholder" in run.stderr
    assert proofka("check", file, "--set", "ACKS=1", *QUICK).exit_code in (0, 4)


def test_the_environment_is_looked_up_only_if_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "application.properties"
    file.write_text("spring.kafka.producer.acks=${PROOFKA_TEST_ACKS}\n", encoding="utf-8")
    monkeypatch.setenv("PROOFKA_TEST_ACKS", "1")
    assert proofka("show", file).exit_code == 2
    assert "acks=1" in proofka("show", file, "--env").stdout


def test_show_has_the_outcome_of_each_value(folder: Path) -> None:
    run = proofka("show", folder / "service" / "application.yml")
    assert run.exit_code == 0, run.stderr
    lines = [line.split() for line in run.stdout.splitlines()]
    assert any(words[:1] == ["4"] and "used" in words for words in lines)
    assert any(words[:1] == ["8"] and "ignored" in words for words in lines)


def test_unreadable_file_prevents_every_verdict(folder: Path) -> None:
    """The unreadable file can be the important one: brokers with a broken file are not brokers with defaults."""
    (folder / "kafka.yaml").write_text("spec:\n  kafka:\n   config: {\n", encoding="utf-8")
    run = proofka("check", folder, *QUICK)
    assert run.exit_code == 2
    assert "no-acked-loss" not in run.stdout
    assert "kafka.yaml:4: cannot be read" in run.stderr
    assert "--partial" in run.stderr
    assert proofka("show", folder).exit_code == 2
    assert "no-acked-loss" in proofka("check", folder, "--partial", *QUICK).stdout


def test_a_client_that_may_be_for_any_topic_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / "producer.properties").write_text("bootstrap.servers=b:9092\nacks=0\n", encoding="utf-8")
    topic = "apiVersion: kafka.strimzi.io/v1\nkind: KafkaTopic\nmetadata: {name: %s}\nspec: {replicas: 3}\n"
    (tmp_path / "topics.yaml").write_text("---\n".join(topic % name for name in ("a", "b")), encoding="utf-8")
    run = proofka("check", tmp_path, *QUICK)
    assert run.exit_code == 2
    assert "use --topic with one of a, b" in " ".join(run.stderr.split())
    assert "no-acked-loss" not in run.stdout
    assert proofka("check", tmp_path, "--topic", "a", *QUICK).exit_code in (0, 1, 4)


def test_the_release_of_clients_is_assumed_or_said(tmp_path: Path) -> None:
    file = tmp_path / "producer.properties"
    file.write_text("bootstrap.servers=b:9092\n", encoding="utf-8")
    assert "the release of the brokers; change it with --client V" in " ".join(proofka("show", file).stdout.split())
    older = proofka("show", file, "--client", "2.8")
    assert "client java 2.8" in older.stdout
    assert "acks=1" in older.stdout
    assert proofka("show", file, "--client", "no=1").exit_code == 2
    assert proofka("show", file, "--client", "2.8", "--client", "java=2.7").exit_code == 2


def test_misspelt_settings_are_named_on_the_first_screen(tmp_path: Path) -> None:
    file = tmp_path / "producer.properties"
    file.write_text("bootstrap.servers=b:9092\nretires=3\n", encoding="utf-8")
    run = proofka("check", file, *QUICK)
    assert "unknown to Java producer" in " ".join(run.stdout.split())
    assert "did you mean retries?" in " ".join(run.stdout.split())


def test_a_brokers_setting_that_is_misspelt_in_a_clients_is_named(tmp_path: Path) -> None:
    file = tmp_path / "application.properties"
    file.write_text("spring.kafka.producer.properties.min.insync.replica=2\n", encoding="utf-8")
    said = "did you mean min.insync.replicas? It is a topic setting: no client reads it"
    assert said in " ".join(proofka("check", file, *QUICK).stdout.split())
    quiet = proofka("check", file, "--quiet", *QUICK)
    assert said in quiet.stderr
    assert quiet.stderr.count("\n") == quiet.stdout.count("\n") == 1


def test_quiet_counts_left_out_values(tmp_path: Path) -> None:
    """Notes that the verdict may turn on, and what --partial passes over; nothing where there is neither."""
    file = tmp_path / "application.properties"
    names = ("retires", "ackss", "enable.idempotenc")
    file.write_text("".join(f"spring.kafka.producer.properties.{name}=1\n" for name in names), encoding="utf-8")
    assert "; 2 more notes without --quiet" in proofka("check", file, "--quiet", *QUICK).stderr
    file.write_text("spring.kafka.consumer.auto-commit-interval=soon\nspring.kafka.consumer.group-id=a\n")
    partly = proofka("check", file, "--partial", "--quiet", *QUICK).stderr
    assert "1 value rejected: ignored; proofka show names them" in partly
    file.write_text("spring.kafka.consumer.group-id=a\n")
    assert proofka("check", file, "--partial", "--quiet", *QUICK).stderr == ""


@pytest.mark.parametrize(("kafka", "rule"), [("4.0", "B03"), ("3.6", "B04")])
def test_more_in_sync_than_there_are_replicas_is_in_the_answer(tmp_path: Path, kafka: str, rule: str) -> None:
    """The brokers' own reading of the value decides the worth of acks=all."""
    file = tmp_path / "one.yaml"
    file.write_text(f"kafka: '{kafka}'\ntopic: {{replicas: 1, min.insync.replicas: 2}}\n", encoding="utf-8")
    assert f"(rule {rule})" in " ".join(proofka("check", file, *QUICK).stdout.split())
    assert f"(rule {rule})" in proofka("check", file, "--quiet", *QUICK).stderr


def test_unclean_election_counts_if_no_file_gives_the_mode(tmp_path: Path) -> None:
    """From 3.3 to 3.8 it does with ZooKeeper and not with KRaft: what loses more is taken."""
    file = tmp_path / "server.properties"
    said = "broker.id=1\nlog.dirs=/d\nunclean.leader.election.enable=true\n"
    file.write_text(said, encoding="utf-8")
    shown = " ".join(proofka("show", file, "--kafka", "3.5").stdout.split())
    assert "unclean election on" in shown
    file.write_text(said + "process.roles=broker\n", encoding="utf-8")
    assert "unclean election on" not in " ".join(proofka("show", file, "--kafka", "3.5").stdout.split())


def test_a_folder_without_configurations_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing", encoding="utf-8")
    run = proofka("check", tmp_path)
    assert run.exit_code == 2
    assert run.stderr.count("\n") == 1
    assert "has no known configuration of Kafka (1 file); " in run.stderr
    (tmp_path / "notes.txt").unlink()
    assert "configuration of Kafka (it has no files); " in proofka("check", tmp_path).stderr


def test_rejected_value_withholds_the_verdict_unless_partial(tmp_path: Path) -> None:
    file = tmp_path / "application.properties"
    file.write_text("spring.kafka.consumer.auto-commit-interval=soon\n", encoding="utf-8")
    assert "application.properties:1:" in proofka("check", file, *QUICK).stderr
    text = "spring.kafka.consumer.auto-commit-interval=soon\nspring.kafka.consumer.group-id=a\n"
    file.write_text(text, encoding="utf-8")
    run = proofka("check", file, *QUICK)
    assert run.exit_code == 2
    assert "application.properties:1:" in run.stderr
    partly = proofka("check", file, "--partial", *QUICK)
    assert partly.exit_code in (0, 4), partly.stderr
    assert "--partial" in partly.stdout


@needs_real_files
def test_every_real_file_is_read_with_every_value_accounted_for() -> None:
    """Without a traceback, and what cannot be read is said with its line."""
    findings = find(REAL, {})
    paired = pair(findings)
    accounts = accounts_of(findings, [judge(one) for one in paired.pipelines])
    read = {Path(one.found.file).relative_to(REAL).as_posix() for one in accounts}
    unread = {Path(one.file).relative_to(REAL).as_posix() for one in findings.unread}
    files = {path.relative_to(REAL).as_posix() for path in REAL.glob("*/*")}
    assert read | unread == files
    assert all(one.line is not None for one in findings.unread)
    assert all(account.entries for account in accounts)


def test_value_of_a_placeholder_is_printed_only_if_it_is_no_secret(tmp_path: Path) -> None:
    jaas = 'spring.kafka.properties.sasl.jaas.config=a required password="${DOOR}";\n'
    settings = "spring.kafka.producer.acks=${ACKS}\nspring.kafka.producer.properties.linger.ms=${LINGER}\n"
    file = tmp_path / "application.properties"
    file.write_text(jaas + settings, encoding="utf-8")
    said = ("--set", "DOOR=open-sesame", "--set", "ACKS=all", "--set", "LINGER=5")
    result, report = tmp_path / "result.json", tmp_path / "report"
    run = proofka("check", file, *said, "--json", result, "--report", report, *QUICK)
    assert run.exit_code in (0, 4), run.stderr
    told = [run.stdout, run.stderr, result.read_text("utf-8"), *(one.read_text("utf-8") for one in report.iterdir())]
    assert not any("open-sesame" in one for one in told)
    assert "DOOR=(hidden)' --set ACKS=all --set LINGER=5" in result.read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("application.yml", "kafka:\n  properties:\n    acks: all\n"),
        ("application.yml", "server.port: 1\nevents: {topic: a}\n---\nspring.config.activate.on-profile: b\n"),
        ("docker-compose.yml", "name: cdc\nservices:\n  app: {image: app}\n"),
        ("queue.yaml", "queue:\n  kafka:\n    bootstrap.servers: b:9092\n"),
        ("main.kt", "val props = Properties()\nprops[A] = b::c\nx: y: z\n"),
    ],
)
def test_file_in_no_known_form_is_not_reported_as_a_wrong_deployment(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    fails_in_one_line(proofka("show", tmp_path / name), f"{name}: is neither a known configuration of Kafka")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("producer: {}\n", "has no release"),
        ('kafka: "4.0"\nprodcer: {}\n', "unknown section"),
        ("base: {}\nvalues: {}\n", "matrix"),
        ("kafka: [\n", "YAML"),
    ],
)
def test_a_wrong_deployment_is_rejected_with_the_error(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "orders.yaml").write_text(text, encoding="utf-8")
    fails_in_one_line(proofka("show", tmp_path / "orders.yaml"), said)


def test_message_about_a_file_in_no_known_form_does_not_speak_of_yaml_only(tmp_path: Path) -> None:
    file = tmp_path / "log4j.properties"
    file.write_text("log4j.rootLogger=INFO\n\tx: y: z\n", encoding="utf-8")
    assert "is neither a known configuration of Kafka (docs/dialects.md)" in proofka("show", file).stderr
    file.write_bytes(b"a\0")
    assert "binary" in proofka("show", file).stderr


def test_files_are_counted_before_any_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "MOST_FILES", 1)
    monkeypatch.setattr(finding, "read_document", None)
    assert "has more than 1 files" in proofka("show", folder).stderr


def test_the_number_of_faults_is_shown_as_it_was_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "producer.properties"
    file.write_text("bootstrap.servers=b:9092\n", encoding="utf-8")
    proofka("check", file, *QUICK, "--json", tmp_path / "r.json")
    settings = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["deployment"]["settings"]
    (total,) = [one for one in settings if one["key"] == "faults.total"]
    assert (total["value"], total["origin"]["detail"]) == ("0", "--faults 0")


def test_deployment_that_cannot_be_changed_is_not_explored(tmp_path: Path) -> None:
    """A normalised deployment has no settings that could be changed one by one: that is said at once."""
    file = tmp_path / "deployment.json"
    document = to_document(read_properties(kafka="4.0", assume={"replicas": "3"}))
    file.write_text(json.dumps(document), encoding="utf-8")
    run = proofka("check", file, "--explain", "--faults", "any")
    assert run.exit_code == 2
    assert "--explain changes single settings, so it needs the original configuration files" in run.stderr
    assert run.stdout == ""


def test_a_topic_that_no_file_names_is_an_error_where_files_name_others(tmp_path: Path) -> None:
    topic = "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaTopic\nmetadata: {name: orders}\nspec: {replicas: 3}\n"
    (tmp_path / "topic.yaml").write_text(topic, encoding="utf-8")
    (tmp_path / "producer.properties").write_text("bootstrap.servers=b:9092\nacks=all\n", encoding="utf-8")
    wrong = proofka("check", tmp_path, "--topic", "ordrs", *QUICK)
    assert wrong.exit_code == 2
    assert "--topic ordrs: no file names this topic; did you mean orders? Files name orders" in wrong.stderr
    assert proofka("check", tmp_path, "--topic", "orders", *QUICK).exit_code in (0, 1, 4)
    (tmp_path / "topic.yaml").unlink()
    assert proofka("check", tmp_path, "--topic", "any", *QUICK).exit_code in (0, 1, 4)


def test_a_release_of_a_library_that_no_client_uses_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "producer.properties"
    file.write_text("bootstrap.servers=b:9092\nacks=1\n", encoding="utf-8")
    run = proofka("show", file, "--kafka", "3.6", "--client", "librdkafka=2.3")
    assert run.exit_code == 2
    assert "--client librdkafka: no client of these files is of librdkafka" in run.stderr
    file.write_text("bootstrap.servers=b:9092\nmessage.timeout.ms=60000\n", encoding="utf-8")
    assert proofka("show", file, "--kafka", "3.6", "--client", "librdkafka=2.3").exit_code == 0


def test_other_names_of_librdkafkas_settings_count_in_a_flat_file(tmp_path: Path) -> None:
    """Read as unknown, request.required.acks=1 would be acks=all, the default."""
    file = tmp_path / "producer.properties"
    lines = ("message.timeout.ms=60000", "request.required.acks=1", "max.in.flight=1", "message.send.max.retries=0")
    file.write_text("\n".join(lines), encoding="utf-8")
    shown = proofka("show", file, "--kafka", "3.6", "--client", "librdkafka=2.3").stdout
    assert "producer acks=1, idempotence off, 1 in flight, no retries" in shown
    assert "no setting of Kafka" not in shown
