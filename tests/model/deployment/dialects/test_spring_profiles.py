"""Spring's documents: which of them apply to which profiles, and what of that cannot be followed."""

from __future__ import annotations

import pytest

from proofka.model.deployment.dialects.component import Found
from proofka.model.deployment.dialects.spring_profiles import condition_of, expanded
from proofka.model.deployment.errors import DeploymentError
from tests.model.deployment.dialects.accounting import read_text

SPRING = "Spring Boot application"


def read(*documents: str) -> Found:
    """Return an application of these documents, each with a value for acks."""
    return read_text("\n---\n".join(documents), "application.yml", dialect=SPRING)


def document(acks: str, condition: str = "") -> str:
    """Return a document; ``condition`` is its condition as YAML."""
    return f"spring.kafka.producer.acks: '{acks}'\n{condition}".strip()


def acks(found: Found) -> dict[str, str]:
    """Return the values of acks for each choice of profiles."""
    return {one.profile: one.settings["acks"].value for one in found.components}


ON = "spring.config.activate.on-profile: "


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (f"{ON}[prod, eu]", {"": "0", "prod": "all", "eu": "all"}),
        (f"{ON}prod, eu", {"": "0", "prod": "all", "eu": "all"}),
        ("spring.profiles: [prod, eu]", {"": "0", "prod": "all", "eu": "all"}),
        ("spring.config.activate.on-profile[0]: prod", {"": "0", "prod": "all"}),
        (f"{ON}'prod | eu'", {"": "0", "prod": "all", "eu": "all"}),
        (f"{ON}'!prod'", {"": "all", "prod": "0"}),
        (f"{ON}'prod & eu'", {"": "0", "eu,prod": "all"}),
        (f"{ON}'prod & !eu'", {"": "0", "prod": "all"}),
        (f"{ON}default", {"": "all"}),
    ],
)
def test_expressions(condition: str, expected: dict[str, str]) -> None:
    found = read(document("0"), document("all", condition))
    assert acks(found) == expected
    assert not found.rejected


def test_documents_count_in_their_order() -> None:
    first = read(document("1"), document("0", f"{ON}'prod | eu'"), document("all", f"{ON}prod"))
    assert acks(first) == {"": "1", "eu": "0", "prod": "all"}
    second = read(document("1"), document("all", f"{ON}prod"), document("0", f"{ON}'prod | eu'"))
    assert acks(second) == {"": "1", "prod": "0", "eu": "0"}
    third = read(document("1"), document("0", f"{ON}prod"), document("all"))
    assert acks(third) == {"": "all", "prod": "all"}


@pytest.mark.parametrize(
    "condition",
    [
        "spring.config.activate.on-cloud-platform: kubernetes",
        "spring.config.activate.on-something-new: x",
        f"{ON}'prod & eu | us'",
        f"{ON}'${{PROFILE}}'",
        f"{ON}'@profile@'",
        f"{ON}'prod & !prod'",
    ],
)
def test_documents_with_conditions_that_are_not_followed_are_rejected(condition: str) -> None:
    found = read(document("0"), document("all", condition))
    assert acks(found) == {"": "0"}
    assert [one.given.origin.line for one in found.rejected] == [3]


def test_document_that_outranks_only_in_some_releases_is_rejected() -> None:
    found = read(document("0"), document("1", "spring.profiles: prod"), document("all"))
    assert [one.given.origin.line for one in found.rejected] == [6]


def test_profiles_that_the_application_switches_on() -> None:
    conditional = (document("1", f"{ON}dev"), document("all", f"{ON}kafka"))
    found = read(document("0", "spring.profiles.include: kafka"), *conditional)
    assert acks(found) == {"": "all", "dev": "all"}
    assert not found.rejected
    found = read(document("0", "spring.profiles.group.prod: [dev, kafka]"), document("2", f"{ON}prod"), *conditional)
    assert acks(found) == {"": "0", "prod": "all", "dev": "1", "kafka": "all"}
    found = read(document("0", "spring.profiles.active: dev,kafka"), *conditional)
    assert acks(found) == {"": "0", "dev": "1", "kafka": "all", "dev,kafka": "all"}
    found = read(document("0", "spring.profiles.include: '${X}'"))
    assert [one.given.origin.line for one in found.rejected] == [2]


def test_imported_configuration_is_rejected() -> None:
    found = read(document("all", "spring.config.import: 'optional:configserver:'"))
    assert [one.given.origin.line for one in found.rejected] == [2]


def test_groups_are_expanded_in_their_order() -> None:
    groups = {"a": ("b", "c"), "b": ("d", "a")}
    assert expanded(("a", "e"), groups) == ("a", "b", "d", "c", "e")


def test_a_condition_without_an_end_is_refused() -> None:
    for text in ("(" * 5_000, "!" * 5_000, "a" * 5_000, "()", "a(", "&"):
        assert condition_of([text]).unknown


def test_unlikely_number_of_profiles_is_refused() -> None:
    many = [document("1", f"{ON}p{number}") for number in range(1_000)]
    with pytest.raises(DeploymentError, match="choices of profiles"):
        read(*many)


def test_separators_of_properties() -> None:
    def parts(between: str) -> dict[str, str]:
        text = "spring.kafka.producer.acks=1\n{}\nspring.config.activate.on-profile=p\nspring.kafka.producer.acks=all\n"
        return acks(read_text(text.format(between), "application.properties"))

    for one in ("#---", "!---", "#---  ", "! x\n#---", "# x\n\n#---", "#---\n\n", "#---\n#---"):
        assert parts(one) == {"": "1", "p": "all"}, one
    for one in (" #---", "#----", "#--", "# x\n#---", "#---\n# x", "#---\n\n! x", "#---\n#---\n# x"):
        assert parts(one) == {"p": "all"}, one


def test_a_key_that_is_in_yaml_twice_is_refused() -> None:
    found = read_text("spring.kafka.producer:\n  acks: 0\nspring.kafka.producer:\n  acks: 1\n", "application.yml")
    assert [(one.given.origin.line, "DuplicateKeyException" in one.reason) for one in found.rejected] == [(2, True)]
    merged = "a: &a {acks: 0}\nb: &b {acks: 1}\nspring.kafka.producer:\n  <<: [*a, *b]\n"
    found = read_text(merged, "application.yml")
    assert acks(found) == {"": "0"}
    assert not found.rejected


@pytest.mark.parametrize(("text", "value"), [("on", "true"), ("'yes'", "true"), ("No", "false"), ("1", "true")])
def test_truths(text: str, value: str) -> None:
    (one,) = read_text(f"spring.kafka.consumer.enable-auto-commit: {text}\n", "application.yml").components
    assert one.settings["enable.auto.commit"].value == value
    (one,) = read_text(f"spring.kafka.consumer.properties: {{check.crcs: {text}}}\n", "application.yml").components
    assert one.settings["check.crcs"].value == ("1" if text == "1" else value if "'" not in text else "yes")


def test_value_that_is_no_boolean_is_rejected() -> None:
    found = read_text("spring.kafka.consumer.enable-auto-commit=maybe\n", "application.properties")
    assert [one.given.origin.line for one in found.rejected] == [1]
