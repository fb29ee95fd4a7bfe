"""Matrices: every combination once, each the deployment that a file of its own would be."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from proofka.model.deployment import Deployment, DeploymentError, read_deployment
from proofka.model.deployment.choices import Acks
from proofka.model.deployment.errors import UnknownKeyError
from proofka.model.deployment.matrix import Matrix, read_matrix

MATRIX = """\
base:
  kafka: "4.0"
  topic: {replicas: 3, settings: {min.insync.replicas: 2, retention.ms: 1000}}
  producer: {enable.idempotence: false}
  consumer: {group.id: orders}
values:
  producer.acks: [0, 1, all]
  topic.min.insync.replicas: [1, 2]
  assume.faults.total: [1, ~]
  producer.on_send_error: [drop, resend]
exclude:
  - {producer.acks: [0, 1], topic.min.insync.replicas: 2}
  - {producer.acks: 0, producer.on_send_error: resend}
"""


@pytest.fixture
def matrix(tmp_path: Path) -> Matrix:
    return written(tmp_path, MATRIX)


def written(folder: Path, text: str) -> Matrix:
    path = folder / "review.yaml"
    path.write_text(text)
    return read_matrix(path)


def test_every_combination_once(matrix: Matrix) -> None:
    assert matrix.size == 3 * 2 * 2 * 2
    chosen = [tuple(matrix.chosen(number).values()) for number in range(matrix.size)]
    assert chosen == list(product(("0", "1", "all"), ("1", "2"), ("1", None), ("drop", "resend")))


def test_exclusions(matrix: Matrix) -> None:
    """Rules by hand: acks 0 and 1 only with one in-sync replica; acks 0 never resends."""
    kept = [c for number in range(matrix.size) if not matrix.is_excluded(c := matrix.chosen(number))]
    assert Counter(chosen["producer.acks"] for chosen in kept) == {"0": 2, "1": 4, "all": 8}
    assert all(chosen["topic.min.insync.replicas"] == "1" or chosen["producer.acks"] == "all" for chosen in kept)
    assert all(chosen["producer.on_send_error"] == "drop" for chosen in kept if chosen["producer.acks"] == "0")


def same(one: Deployment, other: Deployment) -> bool:
    """Tell whether both are equal except for names and places."""
    return replace(one, name="", settings=(), ignored=()) == replace(other, name="", settings=(), ignored=())


def test_a_combination_is_the_deployment_of_its_own_file(matrix: Matrix, tmp_path: Path) -> None:
    number = 3 * 8 - 1 - 2  # all, 2, 1, resend
    assert list(matrix.chosen(number).values()) == ["all", "2", "1", "resend"]
    file = tmp_path / "one.yaml"
    file.write_text(
        'kafka: "4.0"\ntopic: {replicas: 3, settings: {retention.ms: 1000}, min.insync.replicas: 2}\n'
        "producer: {enable.idempotence: false, acks: all, on_send_error: resend}\n"
        "consumer: {group.id: orders}\nassume: {faults: {total: 1}}\n"
    )
    found = matrix.read(number)
    assert same(found, read_deployment(file))
    assert (found.producer.acks, found.cluster.min_insync_replicas, found.faults.total) == (Acks.ALL, 2, 1)
    assert found.name == "review-21"


def test_null_leaves_a_key_out(matrix: Matrix) -> None:
    totals = {c["assume.faults.total"]: matrix.read(n).faults.total for n, c in numbered(matrix)}
    assert totals == {"1": 1, None: None}


def numbered(matrix: Matrix) -> list[tuple[int, dict[str, str | None]]]:
    return [(number, matrix.chosen(number)) for number in range(matrix.size)]


def test_values_name_their_lines(matrix: Matrix) -> None:
    lines = {s.key: s.origin.line for s in matrix.read(0).settings if s.origin.kind == "file"}
    assert (lines["acks"], lines["min.insync.replicas"], lines["replication.factor"]) == (7, 8, 3)
    assert lines["on_send_error"] == 10


def test_options_outrank(matrix: Matrix) -> None:
    assert matrix.read(0, {"faults": "2"}).faults.total == 2


def test_null_has_one_meaning_in_the_base_and_in_a_file(tmp_path: Path) -> None:
    text = 'kafka: "4.0"\nconsumer: {group.id: ~, enable.auto.commit: false}\n'
    base = "base:\n" + "".join(f"  {line}\n" for line in text.splitlines())
    (tmp_path / "plain.yaml").write_text(text)
    outcomes = []
    for read in (
        lambda: read_deployment(tmp_path / "plain.yaml"),
        lambda: written(tmp_path, base + "values: {bounds.records: [2]}\n").read(0),
    ):
        try:
            outcomes.append(replace(read(), name="", settings=(), ignored=()))
        except DeploymentError as error:
            outcomes.append(error.message)
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- 1", "is no matrix"),
        ("values: {producer.acks: [1]}", "has no section base"),
        ("base: {kafka: 4.0}", "has no section values"),
        ("base: 1\nvalues: {producer.acks: [1]}", "base: must be a deployment"),
        ("base: {}\nvalues: {}", "lists no values"),
        ("base: {}\nvalues: [1]", "must hold keys"),
        ("base: {}\nvalues: {producer.acks: []}", "lists no value"),
        ("base: {}\nvalues: {producer.acks: [1, 1]}", "lists 1 twice"),
        ("base: {}\nvalues: {producer.acks: [[1]]}", "list of single values"),
        ("base: {}\nvalues: {producer.acks: [1], producer.settings.acks: [0]}", "is the same as producer.acks"),
        ("base: {}\nvalues: {producer.acks: [1]}\nexclude: {producer.acks: 1}", "must be a list of rules"),
        ("base: {}\nvalues: {producer.acks: [1]}\nexclude: [{}]", "is an empty rule"),
        ("base: {}\nvalues: {producer.acks: [1]}\nexclude: [{producer.acks: 2}]", "never takes the value 2"),
        ("base: {}\nvalues: {producer.acks: [1]}\nexclude: [{topic.replicas: 2}]", "is not a key under values"),
        ("base: {}\nvalues: {producer.acks: [1]}\nother: 1", "unknown section"),
        ("base: {}\nvalues: {" + ", ".join(f"producer.k{n}: {list(range(99))}" for n in range(4)) + "}", "96,059,601"),
    ],
)
def test_broken_matrices(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(DeploymentError) as caught:
        written(tmp_path, text)
    assert words in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ("{producer.acks: [2]}", "review.yaml:2: acks: "),
        ("{nowhere.acks: [1]}", "review.yaml:2: nowhere: unknown section"),
        ("{kafka.release: [1]}", "kafka: is a single value in the base"),
    ],
)
def test_error_of_a_combination_names_its_cause(tmp_path: Path, values: str, words: str) -> None:
    with pytest.raises(DeploymentError) as caught:
        written(tmp_path, f'base: {{kafka: "4.0"}}\nvalues: {values}\n').read(0)
    assert words in str(caught.value)


def test_the_base_names_its_combinations(tmp_path: Path) -> None:
    matrix = written(tmp_path, MATRIX.replace("base:\n", "base:\n  name: orders\n"))
    assert matrix.read(7).name == matrix.called(7) == "orders-07"
    named = written(tmp_path, MATRIX.replace("values:\n", "values:\n  name: [one, two]\n"))
    assert {named.read(n).name for n in (0, 24)} == {"one", "two"}


@pytest.mark.parametrize(
    "values",
    [
        "  producer.akcs: [1, all]",
        "  producer.akcs: [~, all]",
        "  producre.acks: [1, all]",
        "  producer.acks: [1, all]\n  topic.settings.min.insync.replica: [1]",
        "  assume.faluts.kill: [1]",
        "  bounds.recrods: [1]",
        '  kafka: ["4.0"]\n  broker.unclean.leader.election.enabled: [true]',
    ],
)
def test_unknown_key_ends_the_matrix_at_once(tmp_path: Path, values: str) -> None:
    """Every combination would be rejected for this key."""
    text = f"base:\n  topic: {{replicas: 3}}\n{'' if 'kafka' in values else '  kafka: 4.0'}\nvalues:\n{values}\n"
    matrix = written(tmp_path, text)
    line = text.splitlines().index(values.splitlines()[-1]) + 1
    with pytest.raises(UnknownKeyError, match=f"review.yaml:{line}: "):
        matrix.check_keys()


def test_check_of_keys_passes_values_that_some_combinations_refuse(tmp_path: Path) -> None:
    written(tmp_path, MATRIX).check_keys()
    written(tmp_path, MATRIX.replace("[drop, resend]", "[never, resend]")).check_keys()
    written(tmp_path, MATRIX.replace('  kafka: "4.0"\n', "")).check_keys()
