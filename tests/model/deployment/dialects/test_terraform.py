"""Topics, MSK's configurations and manifests in Terraform: what a file decides, and what it does not."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings

from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.recognising import dialect_of
from proofka.model.deployment.dialects.terraform import DIALECT
from proofka.model.deployment.errors import DeploymentError
from tests.model.deployment.dialects.accounting import REAL, needs_real_files, read_file, read_text, values
from tests.model.deployment.dialects.mutations import nearly, only_complains

TOPICS = """variable "replicas" {
  type    = number
  default = 3
}
locals {
  day      = 24 * 60 * 60 * 1000
  common   = { "min.insync.replicas" = "2", "retention.ms" : local.day * 7 }
  topics   = {
    orders = { partitions = 6 }
    bills  = { partitions = 1, config = { "min.insync.replicas" = 1 } }
  }
}
resource "kafka_topic" "all" {
  for_each           = local.topics
  name               = "shop.${each.key}"
  partitions         = each.value.partitions
  replication_factor = var.replicas
  config             = merge(local.common, lookup(each.value, "config", {}))
}
resource "kafka_topic" "other" {
  name               = "other"
  partitions         = 1
  replication_factor = var.unknown
  config             = { "cleanup.policy" = terraform.workspace == "prod" ? "compact" : "delete" }
}
resource "kafka_topic" "unclear" {
  name       = "unclear"
  partitions = 1
  config     = module.defaults.config
}
resource "kafka_topic" "nameless" {
  name       = random_pet.name.id
  partitions = 1
}
"""

MSK = """resource "aws_msk_configuration" "brokers" {
  name           = "brokers"
  kafka_versions = ["3.5.1"]
  server_properties = <<-PROPERTIES
    min.insync.replicas = 2

    default.replication.factor=${var.replicas}
  PROPERTIES
}
resource "aws_msk_cluster" "cluster" {
  cluster_name           = "c"
  kafka_version          = "3.5.1"
  number_of_broker_nodes = 3
  broker_node_group_info { instance_type = "kafka.m5.large" }
}
"""


def _topics(text: str, fillings: dict[str, str] | None = None) -> dict[str, dict[str, str]]:
    found = read_text(text, "main.tf", fillings, dialect=DIALECT.name)
    return {one.name: {key: value.value for key, value in one.settings.items()} for one in found.by_role[Role.TOPIC]}


def test_locals_defaults_and_merge_are_evaluated() -> None:
    assert _topics(TOPICS)["shop.orders"] == {
        "partitions": "6",
        "replication.factor": "3",
        "min.insync.replicas": "2",
        "retention.ms": "604800000",
    }
    assert _topics(TOPICS)["shop.bills"]["min.insync.replicas"] == "1"


def test_unknown_values_stay_placeholders() -> None:
    topics = _topics(TOPICS)
    assert topics["other"]["replication.factor"] == "${var.unknown}"
    assert topics["other"]["cleanup.policy"].startswith("${")
    assert topics["unclear"]["min.insync.replicas"] == "${module.defaults.config}"
    assert _topics(TOPICS, {"var.unknown": "2"})["other"]["replication.factor"] == "2"
    rejected = {left.given.origin.line: left.reason for left in read_text(TOPICS, "main.tf").rejected}
    line = TOPICS[: TOPICS.index("random_pet")].count("\n") + 1
    assert "random_pet.name.id" in rejected[line]
    assert "names are unknown" in rejected[line + 1]


def test_texts_of_unknown_expressions_are_not_shown() -> None:
    text = 'resource "kafka_topic" "a" {\n  name = hidden("swordfish")\n}\n'
    (left,) = read_text(text, "a.tf").rejected
    assert "hidden" in left.reason
    assert "swordfish" not in left.reason


def test_a_configuration_of_msks() -> None:
    found = read_text(MSK, "msk.tf", dialect=DIALECT.name)
    (brokers,) = found.by_role[Role.BROKER]
    assert values(found, Role.BROKER) == {
        "zookeeper.connect": "zookeeper:2181",
        "min.insync.replicas": "2",
        "default.replication.factor": "${var.replicas}",
    }
    assert brokers.settings["min.insync.replicas"].origin.line == 5
    assert brokers.settings["default.replication.factor"].origin.line == 7
    assert brokers.kafka is not None
    assert brokers.kafka.value == "3.5.1"
    assert brokers.brokers is not None
    assert brokers.brokers.value == "3"


def test_settings_in_a_block_have_underscores() -> None:
    text = (
        'resource "aiven_kafka_topic" "a" {\n  topic_name = "a"\n  partitions = 3\n  replication = 2\n'
        '  config {\n    min_insync_replicas = 2\n    cleanup_policy = "compact"\n  }\n}\n'
    )
    assert _topics(text)["a"] == {
        "partitions": "3",
        "replication.factor": "2",
        "min.insync.replicas": "2",
        "cleanup.policy": "compact",
    }


def test_defaults_of_a_hosted_service_are_filled_in() -> None:
    text = 'resource "confluent_kafka_topic" "a" {\n  topic_name = "a"\n}\n'
    found = read_text(text, "a.tf")
    assert values(found, Role.TOPIC) == {"replication.factor": "3", "min.insync.replicas": "2"}
    assert found.components[0].settings["replication.factor"].origin.kind == "rule"


def test_manifests_and_instances_by_number() -> None:
    text = """resource "kubernetes_manifest" "t" {
  count = 2
  manifest = {
    apiVersion = "kafka.strimzi.io/v1beta2"
    kind       = "KafkaTopic"
    metadata   = { name = "t-${count.index}" }
    spec       = { partitions = 1, replicas = 3 }
  }
}
"""
    assert list(_topics(text)) == ["t-0", "t-1"]


def test_expressions_that_grow_or_turn_in_circles_are_bounded() -> None:
    names = "\n".join(f"a{n} = [local.a{n + 1}, local.a{n + 1}, local.a{n + 1}]" for n in range(40))
    topic = 'resource "kafka_topic" "a" {\n name = local.b\n config = %s\n}\n'
    text = f"locals {{\n{names}\na40 = 1\nb = local.b\n}}\n{topic}"
    started = time.monotonic()
    with pytest.raises(DeploymentError):
        read_text(text % "local.a0", "a.tf")
    assert time.monotonic() - started < 20
    assert read_text(text % "{}", "a.tf").rejected


def test_other_terraform_files_are_ignored_and_broken_files_are_refused() -> None:
    assert dialect_of(Document("main.tf", 'resource "aws_instance" "kafka" {}\n')) is None
    assert dialect_of(Document("main.txt", TOPICS)) is None
    with pytest.raises(DeploymentError) as caught:
        read_text('resource "kafka_topic" "a" {\n name = \n}\n', "a.tf")
    assert caught.value.line in (2, 3)


@needs_real_files
@pytest.mark.parametrize("path", sorted(REAL.glob("terraform/*")), ids=lambda path: path.name)
def test_every_line_with_a_value_of_real_files_goes_somewhere(path: Path) -> None:
    from tests.model.deployment.dialects.accounting import lines_of

    lines = lines_of(read_file(path, dialect=DIALECT.name))
    text = path.read_text(encoding="utf-8").split("\n")
    said = [at for at, line in enumerate(text, 1) if "=" in line and not line.rstrip().endswith(("{", "[", "("))]
    assert not [at for at in said if at not in lines]


@settings(max_examples=60, deadline=None)
@given(nearly(TOPICS + MSK))
def test_any_text_is_read_or_refused(text: str) -> None:
    only_complains(DIALECT, "main.tf", text)


def test_arguments_of_a_module_are_rejected_if_a_property_depends_on_them() -> None:
    text = """\
module "msk" {
  source = "terraform-aws-modules/msk-kafka-cluster/aws"
  configuration_server_properties = {
    "min.insync.replicas"            = 1
    "socket.request.max.bytes"       = 104857600
  }
}
"""
    found = read_text(text, "main.tf", dialect=DIALECT.name)
    assert not found.components
    assert [one.given.origin.line for one in found.rejected] == [4]
    assert not DIALECT.fits(Document("main.tf", 'module "vpc" {\n  name = "a.b"\n}\n'))


def test_arguments_of_a_module_are_rejected_at_any_depth_and_with_underscores() -> None:
    text = """\
module "kafka_topics" {
  source = "../topics"
  topics = {
    orders = {
      partitions         = 6
      replication_factor = 1
      config             = { "cleanup.policy" = "compact" }
    }
  }
  min_insync_replicas = 1
}
"""
    found = read_text(text, "main.tf", dialect=DIALECT.name)
    assert sorted({one.given.origin.line for one in found.rejected}) == [6, 7, 10]
    cache = 'module "cache" {\n  replication_factor = 1\n}\n'
    assert not DIALECT.fits(Document("main.tf", cache))
    beside = read_text(text + cache, "main.tf", dialect=DIALECT.name)
    assert beside.rejected == found.rejected


def test_settings_of_resources_that_are_not_read_are_rejected() -> None:
    text = """\
resource "some_kafka_cluster" "main" {
  plan = "business"
  kafka_config {
    min_insync_replicas = 1
    schema_registry     = true
  }
}
resource "kafka_topic" "t" {
  name               = "orders"
  replication_factor = 3
}
"""
    found = read_text(text, "main.tf", dialect=DIALECT.name)
    assert [one.name for one in found.components] == ["orders"]
    assert [(one.given.origin.line, "which is not read" in one.reason) for one in found.rejected] == [(4, True)]


ASSIGNED = """variable "rf" { default = 3 }
variable "isr" {}
variable "flush" { default = 1 }
resource "kafka_topic" "a" {
  name               = "a"
  partitions         = 1
  replication_factor = var.rf
  config = {
    "min.insync.replicas" = var.isr
    "flush.messages"      = var.flush
  }
}
"""


@pytest.mark.parametrize(
    ("files", "replicas", "isr"),
    [
        ({}, "3", "${var.isr}"),
        ({"terraform.tfvars": "rf = 1\nisr = 2\n"}, "1", "2"),
        ({"terraform.tfvars": "rf = 1\n", "b.auto.tfvars": "rf = 2", "a.auto.tfvars": "rf = 4"}, "2", "${var.isr}"),
        ({"terraform.tfvars": "rf = 1\n", "terraform.tfvars.json": '{"rf": 2}'}, "2", "${var.isr}"),
        ({"prod.tfvars": "rf = 1\n"}, "${var.rf}", "${var.isr}"),
    ],
)
def test_variable_files_beside_the_file_assign_values(
    tmp_path: Path, files: dict[str, str], replicas: str, isr: str
) -> None:
    (tmp_path / "main.tf").write_text(ASSIGNED)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = read_file(tmp_path / "main.tf", dialect=DIALECT.name)
    topic = found.by_role[Role.TOPIC][0].settings
    assert topic["replication.factor"].value == replicas
    assert topic["min.insync.replicas"].value == isr
    assert topic["replication.factor"].origin.line in ((1, 7) if replicas == "3" else (7,))
    assert any("defaults" in note and "flush" in note for note in found.notes)


def test_a_file_that_terraform_would_load_and_cannot_is_told(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(ASSIGNED)
    (tmp_path / "terraform.tfvars").write_text("rf = \n")
    found = read_file(tmp_path / "main.tf")
    assert [left.given.key for left in found.rejected] == ["terraform.tfvars"]


def test_given_values_outrank_values_of_variable_files(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(ASSIGNED)
    (tmp_path / "terraform.tfvars").write_text("rf = 1\n")
    found = read_file(tmp_path / "main.tf", {"var.rf": "5"})
    assert found.by_role[Role.TOPIC][0].settings["replication.factor"].value == "5"


def test_settings_of_a_dynamic_block_are_not_followed() -> None:
    text = (
        'resource "google_managed_kafka_topic" "a" {\n  topic_id = "a"\n  dynamic "configs" {\n'
        "    for_each = [1]\n    content { unclean_leader_election_enable = true }\n  }\n}\n"
    )
    found = read_text(text, "main.tf", dialect=DIALECT.name)
    assert [left.given.origin.line for left in found.rejected] == [4, 5]


@pytest.mark.parametrize(
    ("version", "release", "has_zookeeper"),
    [
        ("3.5.1", "3.5.1", True),
        ("2.8.2.tiered", "2.8.2", True),
        ("3.7.x", "3.7", True),
        ("3.7.x.kraft", "3.7", False),
        ("4.0.x.kraft", "4.0", False),
        ("4.1.x", "4.1", False),
    ],
)
def test_msk_runs_zookeeper_unless_it_says_kraft(version: str, release: str, has_zookeeper: bool) -> None:
    found = read_text(MSK.replace("3.5.1", version), "main.tf", dialect=DIALECT.name)
    (brokers,) = found.by_role[Role.BROKER]
    assert brokers.kafka is not None
    assert brokers.kafka.value == release
    assert ("zookeeper.connect" in brokers.settings) == has_zookeeper
