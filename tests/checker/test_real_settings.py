"""Settings of a deployment as real clients get them: the group, by whatever name a library has for it."""

from __future__ import annotations

from pathlib import Path

import pytest

import proofka
from proofka.checker.cluster.launching import libraries
from proofka.checker.real_settings import group_of

WITHOUT_IDEMPOTENCE = {"kafka-python": ", enable_idempotence: false"}
"""Settings without which a producer is not modelled, by library."""
IN_CODE = {"sarama"}
"""Libraries that take the group in a call, so no setting names the group."""


def group(tmp_path: Path, consumer: str, *, library: str = "java") -> str | None:
    """Return the group of a deployment with a consumer of these keys."""
    producer = f"client: {library}{WITHOUT_IDEMPOTENCE.get(library, '')}"
    file = tmp_path / "deployment.yaml"
    file.write_text(
        f'kafka: "4.0"\nproducer: {{{producer}}}\nconsumer: {{client: {library}, {consumer}}}\n', encoding="utf-8"
    )
    return group_of(proofka.read(file))


@pytest.mark.parametrize("library", sorted(set(libraries()) - IN_CODE))
def test_the_group_is_found_by_the_name_that_the_library_has_for_it(library: str, tmp_path: Path) -> None:
    assert group(tmp_path, f"{libraries()[library].group_id}: orders", library=library) == "orders"


@pytest.mark.parametrize("library", ["java", "librdkafka", "sarama"])
def test_a_group_that_stands_in_code_has_a_name(library: str, tmp_path: Path) -> None:
    assert group(tmp_path, "commit: after" if library == "sarama" else "", library=library)


def test_a_consumer_that_never_commits_has_no_group_unless_it_names_one(tmp_path: Path) -> None:
    assert group(tmp_path, "commit: never, enable.auto.commit: false") is None
    assert group(tmp_path, "commit: never, enable.auto.commit: false, group.id: orders") == "orders"


@pytest.mark.parametrize("value", ["null", '""'])
def test_no_group_is_no_group(value: str, tmp_path: Path) -> None:
    assert group(tmp_path, f"commit: never, enable_auto_commit: false, group_id: {value}", library="aiokafka") is None
