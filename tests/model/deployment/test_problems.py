"""Several mistakes in one file are told in one reading, in the order of its lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from proofka.checker.cli import app
from proofka.model.deployment import DeploymentError, read_deployment, read_properties

WRONG = """\
kafka: "3.7"
prodcer: {}
topic:
  replicas: 3
  settings:
    min.insync.replicas: nine
    min.insync.replica: 1
producer:
  on-send-error: drop
  ackss: all
  delivery.timeout.ms: -5
  linger.ms: ${LINGER}
consumer:
  commit: later
assume:
  faults: {kil: 1, kill: 99}
  network: 5sec
  snik: x
bounds: {records: 9}
require: [no-losss]
"""
LINES = [2, 6, 7, 9, 10, 11, 12, 14, 16, 16, 17, 18, 19, 20]


def wrong(path: Path) -> list[DeploymentError]:
    with pytest.raises(DeploymentError) as raised:
        read_deployment(path)
    others = [one for one in raised.value.others if isinstance(one, DeploymentError)]
    return [raised.value, *others]


def test_all_that_is_wrong_is_told_by_line(tmp_path: Path) -> None:
    file = tmp_path / "d.yaml"
    file.write_text(WRONG, encoding="utf-8")
    found = wrong(file)
    assert [one.line for one in found] == LINES
    assert all("\n" not in str(one) for one in found)


@pytest.mark.parametrize("left_out", LINES)
def test_each_is_told_whatever_else_is_wrong(left_out: int, tmp_path: Path) -> None:
    """Without any one of the wrong lines the others are told, and nothing that follows from that."""
    lines = WRONG.splitlines()
    lines[left_out - 1] = "#"
    file = tmp_path / "d.yaml"
    file.write_text("\n".join(lines), encoding="utf-8")
    assert [one.line for one in wrong(file)] == [line for line in LINES if line != left_out]


@pytest.mark.parametrize(
    "text",
    [
        'kafka: "4.0"\nassume: {snik: plain}\nproducer: {max.in.flight.requests.per.connection: 10}\n',
        'kafka: "4.0"\nproducer: {clint: librdkafka, queue.buffering.max.ms: 5}\n',
    ],
)
def test_consequences_of_a_mistake_are_not_listed(text: str, tmp_path: Path) -> None:
    """Refusals by rules, and settings of an unknown client, are left out."""
    file = tmp_path / "d.yaml"
    file.write_text(text, encoding="utf-8")
    assert len(wrong(file)) == 1


def test_values_are_told_together_where_every_key_is_known(tmp_path: Path) -> None:
    file = tmp_path / "d.yaml"
    text = 'kafka: "4.0"\nproducer: {acks: two}\nconsumer: {commit: later}\nbounds: {records: 9}\n'
    file.write_text(text, encoding="utf-8")
    assert [one.line for one in wrong(file)] == [2, 3, 4]


def test_rules_of_every_component_are_told_together(tmp_path: Path) -> None:
    file = tmp_path / "d.yaml"
    text = (
        'kafka: "4.0"\n'
        "broker: {replica.fetch.wait.max.ms: 60000}\n"
        "producer:\n"
        "  enable.idempotence: true\n"
        "  max.in.flight.requests.per.connection: 9\n"
        "  retries: 0\n"
        'consumer: {group.id: ""}\n'
    )
    file.write_text(text, encoding="utf-8")
    assert [str(one).rsplit("rule ")[1] for one in wrong(file)] == ["B15)", "P07)", "P03)", "C04)"]


def test_each_conflict_with_idempotence_is_told_before_the_fix_of_its_default(tmp_path: Path) -> None:
    file = tmp_path / "d.yaml"
    text = 'kafka: "2.8"\nproducer:\n  enable.idempotence: true\n  acks: 1\n  retries: 0\n'
    file.write_text(text, encoding="utf-8")
    assert [one.line for one in wrong(file)] == [4, 5]


def test_files_of_several_components_are_read_to_the_end(tmp_path: Path) -> None:
    for role, text in (("producer", "ackss=1\nlinger.ms=x"), ("consumer", "enable.auto.commit=no")):
        (tmp_path / f"{role}.properties").write_text(text, encoding="utf-8")
    files = {role: tmp_path / f"{role}.properties" for role in ("producer", "consumer")}
    with pytest.raises(DeploymentError) as raised:
        read_properties(kafka="4.0", **files)
    assert len(raised.value.others) == 2


def test_each_is_a_line_on_standard_error(tmp_path: Path) -> None:
    file = tmp_path / "d.yaml"
    file.write_text(WRONG, encoding="utf-8")
    ran = CliRunner().invoke(app, ["check", str(file)])
    assert ran.exit_code == 2
    assert ran.stdout == ""
    assert [line.split(":")[1] for line in ran.stderr.splitlines()] == [str(line) for line in LINES]


def test_a_repeated_key_hides_no_other_error(tmp_path: Path) -> None:
    file = tmp_path / "d.yaml"
    text = 'kafka: "4.0"\nproducer:\n  acks: all\n  acks: 1\n  linger.ms: five\n  retrys: 3\n  acks: 0\n'
    file.write_text(text, encoding="utf-8")
    assert [one.line for one in wrong(file)] == [4, 5, 6, 7]
    properties = tmp_path / "producer.properties"
    properties.write_text("acks=all\nacks=1\nlinger.ms=five\nretrys=3\n", encoding="utf-8")
    with pytest.raises(DeploymentError) as raised:
        read_properties(kafka="4.0", producer=properties)
    assert [one.line for one in (raised.value, *raised.value.others) if isinstance(one, DeploymentError)] == [2, 3, 4]


def test_each_error_of_found_files_is_told_once(tmp_path: Path) -> None:
    """The values of a pair of files are checked again without those that were rejected before."""
    texts = {
        "producer": "bootstrap.servers=a:1\nacks=alll\nlinger.ms=five\ncompression.type=snapy\n",
        "consumer": "group.id=g\nenable.auto.commit=maybe\nauto.offset.reset=newest\nisolation.level=read_comitted\n",
    }
    for role, text in texts.items():
        (tmp_path / f"{role}.properties").write_text(text, encoding="utf-8")
    ran = CliRunner().invoke(app, ["check", str(tmp_path)])
    told = [line.partition(".properties:")[2].partition(":")[0] for line in ran.stderr.splitlines()]
    assert ran.exit_code == 2
    assert told == ["2", "3", "4", "2", "3", "4", ""]
    assert len(set(ran.stderr.splitlines())) == len(told)
