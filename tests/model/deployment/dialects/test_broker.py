"""Brokers' properties: what is theirs, what is a template, which release a file tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from proofka.model.deployment.dialects import broker
from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.document import Document, read_document
from proofka.model.deployment.errors import DeploymentError
from tests.model.deployment.dialects.accounting import REAL, needs_real_files, read_file, read_text, unaccounted, values
from tests.model.deployment.dialects.mutations import near

KRAFT = """\
process.roles=broker,controller
node.id={{ id }}
controller.quorum.voters={% for n in nodes %}
{{ n }}@host:9093
{% endfor %}
log.dirs=/data
min.insync.replicas=2
min.insync.replicas=1
default.replication.factor={replicas}
group.id=x
acks=all
retention.ms=5
ssl.keystore.password=hunter2
{% if unclean %}
unclean.leader.election.enable=true
{% endif %}
{sasl_config}
my.own=1
inter.broker.protocol.version=3.6
"""


def test_settings_of_brokers_are_used_and_others_are_ignored() -> None:
    found = read_text(KRAFT, "server.properties.j2", dialect=broker.NAME)
    assert values(found, Role.BROKER) == {
        "process.roles": "broker,controller",
        "log.dirs": "/data",
        "min.insync.replicas": "1",
        "inter.broker.protocol.version": "3.6",
    }
    assert {one.given.origin.line for one in found.rejected} == {7, 9, 15, 17}
    ignored = {one.given.origin.line: one.reason for one in found.ignored}
    assert sorted(ignored) == [2, 3, 4, 5, 10, 11, 12, 13, 14, 16, 18]
    assert ignored[10].startswith("a consumer's")
    assert ignored[11].startswith("a producer's")
    assert ignored[12].startswith("a topic's")
    assert "hunter2" not in repr(found)
    assert "3.6" in found.notes[0]


def test_misspelt_setting_is_kept_for_the_check() -> None:
    """A plugin's setting resembles none of Kafka's, and is ignored."""
    text = "broker.id=1\nlog.dirs=/d\nunclean.leader.election.enabled=true\nmy.plugin.class=x\n"
    found = read_text(text, "server.properties", dialect=broker.NAME)
    assert "unclean.leader.election.enabled" in values(found, Role.BROKER)
    assert "my.plugin.class" not in values(found, Role.BROKER)


def test_placeholder_with_a_given_value_is_read() -> None:
    found = read_text(KRAFT, "server.properties", {"replicas": "3"})
    assert values(found, Role.BROKER)["default.replication.factor"] == "3"


def test_a_controller_by_itself() -> None:
    found = read_text(
        "process.roles=controller\nnode.id=1\nlog.dirs=/d\n", "controller.properties", dialect=broker.NAME
    )
    assert any("only a controller" in note for note in found.notes)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("producer.properties", "acks=all\nmin.insync.replicas=2\nunclean.leader.election.enable=false\n"),
        ("consumer.properties", "zookeeper.connect=z:2181\ngroup.id=g\n"),
        ("zoo.cfg", "dataDir=/x\nclientPort=2181\n"),
        ("server.yaml", "broker.id: 1\nlog.dirs: /x\n"),
    ],
)
def test_files_of_other_programs_are_not_read_as_a_broker(name: str, text: str) -> None:
    assert not broker.fits(Document(name, text))


@needs_real_files
@pytest.mark.parametrize("path", sorted(REAL.glob("java-broker-properties/*")), ids=lambda path: path.name)
def test_every_value_of_real_files_goes_somewhere(path: Path) -> None:
    document = read_document(path)
    assert not unaccounted(document.properties, read_file(path, dialect=broker.NAME))


@settings(max_examples=60, deadline=None)
@given(near(KRAFT))
def test_any_text_is_read_or_refused(text: str) -> None:
    document = Document("server.properties", text)
    broker.fits(document)
    try:
        found = broker.read(document, {})
    except DeploymentError:
        return
    assert not unaccounted(document.properties, found)
