"""Consumers that are given aborted records although they read committed ones only (semantics 11.2).

librdkafka before 1.5.3 compares a batch with the aborted transactions only where the batch is not compressed.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.deployment import librdkafka
from proofka.model.deployment.effective import Read
from proofka.model.deployment.section import Section
from proofka.model.deployment.setting import Setting

HANDS_OVER = ((1, 2, 0), (1, 5, 3))
"""The first release of librdkafka that reads committed records only, and the first that filters compressed batches."""

COMPRESSION = "compression.type"

OF_PRODUCER, UNCOMPRESSED = "producer", ("none", "uncompressed")
"""Values of ``compression.type``: the topic's that leaves batches as the producer sends them, and those that compress
nothing."""


def compression_counts(consumer: Section) -> bool:
    """Tell whether the reads of this consumer's client depend on the compression of batches."""
    return consumer.library == librdkafka.LIBRARY.name and HANDS_OVER[0] <= consumer.release.full < HANDS_OVER[1]


def compression_of(read: Read) -> Iterator[Setting]:
    """Yield the topic's compression, unless nobody set it and it is the producer's, and then the one that decides."""
    topic, broker, producer = read.topic.section, read.broker.section, read.producer.section
    setting = topic.setting(COMPRESSION) if topic.has(COMPRESSION) else broker.setting(COMPRESSION)
    follows = setting.value.lower() == OF_PRODUCER
    if not follows or setting.origin.kind != "default":
        yield setting
    if follows:
        yield producer.setting(COMPRESSION)


def hands_over_aborted(read: Read) -> bool:
    """Tell whether a consumer that reads committed records only is given those of aborted transactions."""
    if not compression_counts(read.consumer.section):
        return False
    *_, last = compression_of(read)
    return last.value.lower() not in UNCOMPRESSED
