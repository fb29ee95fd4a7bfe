"""The dialect of a file: the first that fits, with specific dialects before general ones."""

from __future__ import annotations

from collections.abc import Sequence

from proofka.model.deployment.dialects import (
    agents_fluentd,
    agents_in_blocks,
    agents_in_lines,
    agents_in_trees,
    broker,
    compose,
    connect,
    dotnet_settings,
    gitops,
    go_source,
    helm,
    java_client,
    java_source,
    js_source,
    kubernetes,
    librdkafka_maps,
    mirror_maker,
    not_modelled,
    python_source,
    quarkus,
    sarama_maps,
    shell_script,
    spring,
    streams,
    terraform,
    tool_output,
    topic_file,
)
from proofka.model.deployment.dialects.dialect import Dialect
from proofka.model.deployment.dialects.document import Document

DIALECTS: Sequence[Dialect] = (
    go_source.DIALECT,
    python_source.DIALECT,
    js_source.DIALECT,
    java_source.DIALECT,
    kubernetes.STRIMZI,
    kubernetes.KUBERNETES,
    helm.VALUES,
    compose.COMPOSE,
    compose.VARIABLES,
    helm.TEMPLATE,
    spring.DIALECT,
    quarkus.DIALECT,
    mirror_maker.DIALECT,
    streams.DIALECT,
    connect.DIALECT,
    gitops.DIALECT,
    terraform.DIALECT,
    not_modelled.COLLECTOR,
    shell_script.DIALECT,
    tool_output.DIALECT,
    agents_in_trees.DIALECT,
    agents_in_lines.DIALECT,
    agents_fluentd.DIALECT,
    agents_in_blocks.DIALECT,
    topic_file.DIALECT,
    broker.DIALECT,
    java_client.DIALECT,
    sarama_maps.DIALECT,
    dotnet_settings.DIALECT,
    librdkafka_maps.DIALECT,
)
"""All known dialects, in the order in which they are tried."""


def dialect_of(document: Document) -> Dialect | None:
    """Return the dialect of a file, or None if none fits."""
    return next((dialect for dialect in DIALECTS if dialect.fits(document)), None)
