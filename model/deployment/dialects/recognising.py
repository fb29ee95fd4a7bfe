"""Which dialect a file is in: the first that fits, the more particular ones before the general ones."""

from __future__ import annotations

from collections.abc import Sequence

from model.deployment.dialects import (
    agents_fluentd,
    agents_in_blocks,
    agents_in_lines,
    agents_in_trees,
    go_source,
    java_source,
    js_source,
    librdkafka_maps,
    python_source,
    spring,
)
from model.deployment.dialects.dialect import Dialect
from model.deployment.dialects.document import Document

DIALECTS: Sequence[Dialect] = (
    go_source.DIALECT,
    python_source.DIALECT,
    js_source.DIALECT,
    java_source.DIALECT,
    spring.DIALECT,
    agents_in_trees.DIALECT,
    agents_in_lines.DIALECT,
    agents_fluentd.DIALECT,
    agents_in_blocks.DIALECT,
    librdkafka_maps.DIALECT,
)
"""All that are known, in the order in which they are tried."""


def dialect_of(document: Document) -> Dialect | None:
    """The dialect of a file, or None where it is of none."""
    return next((dialect for dialect in DIALECTS if dialect.fits(document)), None)
