"""Rules of the Java producer: what it refuses and what it silently changes (P01 to P22)."""

from __future__ import annotations

import pytest

from proofka.model.deployment.choices import Acks
from proofka.model.deployment.setting import Setting

IN_FLIGHT = "max.in.flight.requests.per.connection"


def producer(text: str, version: str = "4.0") -> str:
    settings = "".join(f"    {line}\n" for line in text.split("; "))
    return f'kafka: "4.0"\nproducer:\n  version: "{version}"\n  settings:\n{settings}'


def setting(deployment, key: str) -> Setting:
    return next(s for s in deployment.settings if (s.scope, s.key) == ("producer", key))


@pytest.mark.parametrize(
    ("settings", "version", "rule", "line"),
    [
        ("enable.idempotence: true; acks: 1", "4.0", "P02", 6),
        ("enable.idempotence: true; acks: 0", "2.8", "P02", 6),
        ("enable.idempotence: true; retries: 0", "3.9", "P03", 6),
        (f"enable.idempotence: true; {IN_FLIGHT}: 6", "2.8", "P05", 6),
        (f"enable.idempotence: true; {IN_FLIGHT}: 6", "3.0.0", "P05", 6),
        (f"enable.idempotence: true; {IN_FLIGHT}: 6", "3.9", "P06", 6),
        (f"{IN_FLIGHT}: 6", "4.0", "P07", 5),
        (f"{IN_FLIGHT}: 6; acks: 1", "4.0", "P07", 5),
        ("transactional.id: t; enable.idempotence: false", "4.0", "P16", 5),
        ("transactional.id: t; enable.idempotence: false", "2.8", "P16", 5),
        ("transactional.id: t; acks: 1", "2.8", "P17", 6),
        ("transactional.id: t; acks: 1", "4.0", "P18", 5),
        ("delivery.timeout.ms: 30000", "4.0", "P20", 5),
    ],
)
def test_refused(refusal, settings: str, version: str, rule: str, line: int) -> None:
    message = refusal(producer(settings, version))
    assert message.startswith(f"deployment.yaml:{line}: ")
    assert f"refused by the Java producer {version} with ConfigException" in message
    assert message.endswith(f"(rule {rule})")


@pytest.mark.parametrize(
    ("settings", "version", "told"),
    [
        (
            "transactional.id: t; acks: 1",
            "4.0",
            "transactional.id needs idempotence, which acks=1 at deployment.yaml:6 would disable; given: "
            "transactional.id=t (rule P18)",
        ),
        (
            "transactional.id: t; enable.idempotence: false",
            "4.0",
            "transactional.id needs idempotence, and enable.idempotence=false at deployment.yaml:6 disables it; given: "
            "transactional.id=t (rule P16)",
        ),
        (
            "transactional.id: t; acks: 1",
            "2.8",
            "acks must be all with transactional.id=t at deployment.yaml:5; given: acks=1 (rule P17)",
        ),
        (
            "enable.idempotence: true; retries: 0",
            "3.9",
            "retries must be greater than 0 with enable.idempotence=true at deployment.yaml:5; given: retries=0 "
            "(rule P03)",
        ),
    ],
)
def test_a_refusal_names_both_values_and_the_place_of_the_other(
    refusal, settings: str, version: str, told: str
) -> None:
    assert refusal(producer(settings, version)).endswith(f"ConfigException: {told}")


def test_two_phase_commit_with_a_timeout_is_refused(refusal) -> None:
    text = producer("transaction.two.phase.commit.enable: true; transaction.timeout.ms: 1", "4.1")
    assert refusal(text).endswith("(rule P22)")


@pytest.mark.parametrize("value", ["2", "ALL", "yes", "'1,2'"])
def test_acks_outside_the_choice(refusal, value: str) -> None:
    assert "ConfigException: Invalid value" in refusal(producer(f"acks: {value}"))


@pytest.mark.parametrize(
    ("settings", "version", "rule"),
    [
        ("acks: 1", "4.0", "P12"),
        ("acks: 0", "3.3", "P12"),
        ("retries: 0", "4.0", "P13"),
        (f"{IN_FLIGHT}: 6", "3.9", "P14"),
        ("linger.ms: 5", "3.1.0", "P11"),
    ],
)
def test_idempotence_is_silently_off(read_yaml, settings: str, version: str, rule: str) -> None:
    deployment = read_yaml(producer(settings, version))
    assert not deployment.producer.idempotence
    effective = setting(deployment, "enable.idempotence")
    assert (effective.value, effective.origin.kind) == ("false", "rule")
    assert effective.origin.detail.startswith(rule)
    assert any(f"(rule {rule})" in note for note in deployment.notes)


@pytest.mark.parametrize("version", ["3.0.1", "3.1.2", "3.2", "3.9", "4.0", "4.3"])
def test_idempotence_is_on_by_default(read_yaml, version: str) -> None:
    deployment = read_yaml(producer("linger.ms: 5", version))
    assert deployment.producer.idempotence
    assert setting(deployment, "enable.idempotence").origin.kind == "default"


def test_a_line_whose_first_release_differs_needs_a_patch_level(refusal, read_yaml) -> None:
    assert "deployment.yaml:3: enable.idempotence" in refusal(producer("linger.ms: 5", "3.0"))
    assert read_yaml(producer("enable.idempotence: true", "3.0")).producer.idempotence


def test_an_explicit_false_allows_settings_that_idempotence_forbids(read_yaml) -> None:
    deployment = read_yaml(producer(f"enable.idempotence: false; {IN_FLIGHT}: 9; acks: 1; retries: 0"))
    assert (deployment.producer.idempotence, deployment.producer.max_in_flight, deployment.producer.retries) == (
        False,
        9,
        0,
    )
    assert not any("idempotence" in note for note in deployment.notes)


def test_idempotence_fills_in_acks_before_3_0(read_yaml) -> None:
    deployment = read_yaml(producer("enable.idempotence: true", "2.8"))
    assert deployment.producer.acks is Acks.ALL
    assert setting(deployment, "acks").origin.detail.startswith("P08")
    assert any("(rule P08)" in note for note in deployment.notes)


def test_delivery_timeout_is_raised_when_it_was_not_set(read_yaml) -> None:
    deployment = read_yaml(producer("request.timeout.ms: 300000; linger.ms: 10"))
    assert setting(deployment, "delivery.timeout.ms").value == "300010"
    assert any("(rule P21)" in note for note in deployment.notes)


def test_minus_one_is_all(read_yaml) -> None:
    deployment = read_yaml(producer("acks: -1"))
    assert deployment.producer.acks is Acks.ALL
    assert setting(deployment, "acks").value == "all"


def test_values_are_trimmed_and_booleans_take_any_case(read_files) -> None:
    deployment = read_files(producer="acks = all \nenable.idempotence=TRUE\t\n")
    assert deployment.producer.idempotence
    assert setting(deployment, "enable.idempotence").value == "true"
