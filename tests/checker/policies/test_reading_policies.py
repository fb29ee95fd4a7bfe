"""Policy files: what the reader takes, and its errors, which lose no other rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.checker.cli.error_codes import meaning_of_code
from proofka.checker.policies.errors import (
    AmbiguousSettingError,
    InvalidValueError,
    OutsideSubsetError,
    PolicyError,
    PolicyFileError,
    UnknownSettingError,
)
from proofka.checker.policies.expression import Read
from proofka.checker.policies.names import find, read_of
from proofka.checker.policies.paths import places
from proofka.checker.policies.reading import read_policy
from proofka.checker.policies.seen import View
from proofka.model.deployment.errors import DeploymentError

WHOLE = """\
policy: team
property: no-acked-loss
matrix: topics.yaml
given: acks == all
sees: written
rules:
  - replicas >= 3
  - name: election
    says: only clean ones
    deny: unclean.leader.election.enable == true
  - name: in sync
    cel: topic["min.insync.replicas"] >= 2
  - name: module
    property: no-skip
    rego: |
      package a
      allow if input.spec.replicas == 3
"""


def written(folder: Path, text: str, name: str = "policy.yaml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_whole_policy_is_read(tmp_path: Path) -> None:
    policy = read_policy(written(tmp_path, WHOLE))
    assert (policy.name, policy.property, policy.view) == ("team", "no-acked-loss", View.WRITTEN)
    assert policy.matrix == tmp_path / "topics.yaml"
    assert policy.given is not None and policy.given.text == "acks == all"
    assert [rule.name for rule in policy.rules] == ["replicas >= 3", "election", "in sync", "module"]
    assert [rule.property for rule in policy.rules] == [None, None, None, "no-skip"]
    assert policy.rules[1].text == "not (unclean.leader.election.enable == true)"
    together = policy.together()
    assert together is not None and together.text == "replicas >= 3; election; in sync"
    assert not policy.problems


def test_error_in_a_rule_loses_no_other_rule(tmp_path: Path) -> None:
    rules = ("replicas >= 3", "cel: size(x) > 1", "name: n\n    allow: aks == 1", "{nam: x}", "{cel: a, deny: b}")
    policy = read_policy(written(tmp_path, "rules:\n" + "".join(f"  - {rule}\n" for rule in rules)))
    assert [rule.name for rule in policy.rules] == ["replicas >= 3"]
    assert [(type(one), one.line) for one in policy.problems] == [
        (OutsideSubsetError, 3),
        (UnknownSettingError, 5),
        (PolicyFileError, 6),
        (PolicyFileError, 7),
    ]


def test_line_of_an_error_in_a_block_is_the_line_of_the_file(tmp_path: Path) -> None:
    text = "rules:\n  - rego: |\n      package a\n      allow if count(input.spec) == 1\n"
    (problem,) = read_policy(written(tmp_path, text)).problems
    assert (problem.line, problem.column) == (4, 16)


@pytest.mark.parametrize(
    ("rules", "place"),
    [
        ("  - allow: aks == 1\n", (2, 12)),
        ("  -   aks == 1\n", (2, 7)),
        ("  - allow: 'acks == ''all'' and aks == 1'\n", (2, 33)),
        ('  - allow: "acks == \\"all\\" and aks == 1"\n', (2, 33)),
        ("  - allow: acks == all and\n      aks == 1\n", (3, 7)),
        ("  - allow: >-\n      acks == all and\n\n      aks == 1\n", (5, 7)),
        ("  - allow: |\n      acks == all and\n        aks == 1\n", (4, 9)),
        ('  - cel: topic["min.insync.replicas"] >= \n', (2, 41)),
    ],
)
def test_the_place_of_an_error_counts_from_the_beginning_of_the_line_of_the_file(
    tmp_path: Path, rules: str, place: tuple[int, int]
) -> None:
    (problem,) = read_policy(written(tmp_path, f"rules:\n{rules}")).problems
    assert (problem.line, problem.column) == place


@pytest.mark.parametrize("end", ["\r", "\r\n", "\x85", "\u2028"])
def test_other_ends_of_lines_have_errors_with_a_place(tmp_path: Path, end: str) -> None:
    file = tmp_path / "policy.yaml"
    file.write_bytes(f"rules:{end}  - acks == all{end}  - allow: aks == 1{end}".encode())
    (problem,) = read_policy(file).problems
    assert problem.line == (3 if "\r" in end else 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("acks == al", "producer.acks is never al; did you mean all?"),
        ("acks in [1, al]", "producer.acks is never al; did you mean all?"),
        ("not (replicas > 2 and isolation.level != read_comitted)", "did you mean read_committed?"),
        ("min.insync.replicas == two", "topic.min.insync.replicas is never two; must be an integer"),
        ("unclean.leader.election.enable == flase", "did you mean false?"),
        ("commit == afte", "application.commit is never afte; did you mean after?"),
    ],
)
def test_a_value_that_no_release_accepts_is_an_error_of_the_rule(tmp_path: Path, text: str, said: str) -> None:
    (problem,) = read_policy(written(tmp_path, f"rules:\n  - {text}\n")).problems
    assert isinstance(problem, InvalidValueError)
    assert said in str(problem)
    assert problem.line == 2


@pytest.mark.parametrize(
    "text",
    [
        "acks == 1 or acks == all or acks == -1",
        "cleanup.policy == 'compact,delete'",
        "has(acks) and acks != ''",
        "producer.client == 'librdkafka 2.4'",
        "kafka == '3.9'",
        "linger.ms == 5",
        "auto.offset.reset in [earliest, none]",
    ],
)
def test_a_value_that_some_release_accepts_is_no_error(tmp_path: Path, text: str) -> None:
    assert not read_policy(written(tmp_path, f"rules:\n  - {text}\n")).problems


def test_a_wrong_property_hides_no_error_of_a_rule(tmp_path: Path) -> None:
    text = "property: no-aked-loss\nsees: all\nrules:\n  - {property: no-skp, allow: acks == al}\n  - aks == 1\n"
    with pytest.raises(PolicyFileError) as error:
        read_policy(written(tmp_path, text))
    found = [error.value, *error.value.further]
    assert sorted(one.line or 0 for one in found) == [1, 2, 4, 4, 5]


def test_an_unknown_word_is_quoted(tmp_path: Path) -> None:
    (problem,) = read_policy(written(tmp_path, "rules:\n  - alow: acks == all\n")).problems
    assert "unknown key of a rule 'alow'; did you mean allow?" in str(problem)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("- replicas >= 3\n", 1),
        ("property: no-acked-loss\n", 1),
        ("rules: replicas >= 3\n", 1),
        ("rules: []\n", 1),
        ("rules: [replicas >= 3]\nrule: 1\n", 2),
        ("rules: [replicas >= 3]\nproperty: no-loss-at-all\n", 2),
        ("rules: [replicas >= 3]\nsees: all\n", 2),
        ("rules: [replicas >= 3]\nmatrix: [a]\n", 2),
        ("rules:\n  - {name: a, allow: acks == 1}\n  - {name: a, allow: acks == 0}\n", 3),
    ],
)
def test_wrong_file_is_refused_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(PolicyFileError) as error:
        read_policy(written(tmp_path, text))
    assert error.value.line == line


def test_condition_that_is_wrong_is_an_error_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(UnknownSettingError):
        read_policy(written(tmp_path, "given: aks == 1\nrules: [replicas >= 3]\n"))


def test_files_of_one_rule_are_read_by_their_ending(tmp_path: Path) -> None:
    (cel,) = read_policy(written(tmp_path, 'producer["acks"] == "all"\n', "acks.cel")).rules
    (rego,) = read_policy(written(tmp_path, 'package a\nallow if input.producer.acks == "all"\n', "acks.rego")).rules
    assert cel.name == rego.name == "acks"
    (problem,) = read_policy(written(tmp_path, "size(x)", "size.cel")).problems
    assert str(problem).startswith(str(tmp_path / "size.cel:1:1: "))
    with pytest.raises(DeploymentError):
        read_policy(written(tmp_path, "", "empty.rego"))
    with pytest.raises(PolicyFileError):
        read_policy(written(tmp_path, "a", "policy.txt"))
    with pytest.raises(DeploymentError):
        read_policy(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("acks", ("producer.acks",)),
        ("replicas", ("topic.replication.factor",)),
        ("topic.replicas", ("topic.replication.factor",)),
        ("max.in.flight.requests.per.connection", ("producer.max.in.flight.requests.per.connection",)),
        ("request.timeout.ms", ("producer.request.timeout.ms", "consumer.request.timeout.ms")),
        ("log.retention.hours", ("broker.log.retention.hours",)),
        ("producer.id.expiration.ms", ("broker.producer.id.expiration.ms",)),
        ("consumer.client", ("consumer.client",)),
        ("commit", ("application.commit",)),
        ("kafka", ("broker.release",)),
        ("broker.release", ("broker.release",)),
        ("no.such.setting", ()),
    ],
)
def test_name_means_settings(name: str, meant: tuple[str, ...]) -> None:
    assert tuple(read.name for read in find(name)) == meant
    if len(meant) == 1:
        assert read_of(name) == find(name)[0]
    else:
        with pytest.raises(AmbiguousSettingError if meant else UnknownSettingError):
            read_of(name)


def test_every_place_of_the_table_has_a_setting_or_a_constant() -> None:
    for place in places():
        assert bool(place.constant) != bool(place.key)
        if place.key not in ("", "*"):
            assert find(f"{place.scope}.{place.key}") == (Read(place.scope, place.key),)


@pytest.mark.parametrize("error", PolicyError.__subclasses__())
def test_code_of_an_error_has_a_meaning(error: type[PolicyError]) -> None:
    meaning = meaning_of_code(error.code)
    assert meaning is not None and meaning.startswith(f"{error.code} is the code of an error: ")
    assert len({one.code for one in PolicyError.__subclasses__()}) == len(PolicyError.__subclasses__())


CONDUKTOR = """\
apiVersion: self-serve/v1
kind: ResourcePolicy
metadata: {name: durable}
spec:
  targetKind: Topic
  rules:
    - condition: spec.replicationFactor >= 3
      errorMessage: too few replicas
    - condition: metadata.name.matches("^a")
      errorMessage: wrong name
    - condition: int(string(spec.configs["min.insync.replicas"])) >= 2
      errorMessage: too few replicas
"""


def test_policy_of_conduktor_is_read(tmp_path: Path) -> None:
    policy = read_policy(written(tmp_path, CONDUKTOR))
    assert policy.name == "durable"
    assert [rule.name for rule in policy.rules] == ["too few replicas", "too few replicas (2)"]
    (problem,) = policy.problems
    assert isinstance(problem, OutsideSubsetError) and problem.line == 9
    with pytest.raises(OutsideSubsetError, match="is about Connector"):
        read_policy(written(tmp_path, CONDUKTOR.replace("targetKind: Topic", "targetKind: Connector")))


ADMISSION = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: topics}
spec:
  failurePolicy: Fail
  validations:
    - expression: object.spec.replicas >= 3
    - expression: >-
        !('min.insync.replicas' in object.spec.config) ||
        object.spec.config['min.insync.replicas'] >= 2
      message: too few in sync
"""


def test_admission_policy_of_kubernetes_is_read(tmp_path: Path) -> None:
    policy = read_policy(written(tmp_path, ADMISSION))
    assert [rule.name for rule in policy.rules] == ["object.spec.replicas >= 3", "too few in sync"]
    narrowed = ADMISSION + "  matchConditions:\n    - {name: a, expression: object.kind == 'a'}\n"
    with pytest.raises(OutsideSubsetError, match="matchConditions"):
        read_policy(written(tmp_path, narrowed))
    with pytest.raises(PolicyFileError):
        read_policy(written(tmp_path, "kind: ResourcePolicy\nspec: {}\n"))
