"""Requirements where no properties are named: from a profile, or from the producer's settings."""

from __future__ import annotations

import pytest

from proofka.checker.source import narrowed
from proofka.checker.spark.normalising import meaning
from proofka.model.deployment.document import to_document
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.profiles import NAMED, PROFILES, in_profile
from proofka.model.deployment.question import question
from proofka.model.deployment.required_properties import (
    ASKED_BY_DEFAULT,
    KNOWN_PROPERTIES,
    OF_TRANSACTIONS,
    required_unless_said,
)

AT_LEAST_ONCE = {"no-acked-loss", "no-skip"}


@pytest.mark.parametrize(
    ("producer", "more"),
    [
        ("{}", set()),
        ("{enable.idempotence: true}", {"no-log-duplicate"}),
        ("{enable.idempotence: false}", set()),
        ("{max.in.flight.requests.per.connection: 1}", {"log-order"}),
        ("{max.in.flight.requests.per.connection: 2}", set()),
        ("{client: librdkafka, enable.idempotence: true}", {"no-log-duplicate"}),
        ("{client: librdkafka, max.in.flight: 1}", {"log-order"}),
        ("{client: franz-go}", set()),
        ("{transactional.id: t}", {"no-log-duplicate", *OF_TRANSACTIONS}),
    ],
)
def test_given_setting_requires_the_properties_that_it_promises(read_yaml, producer: str, more: set[str]) -> None:
    """A default of the release requires nothing: idempotence is on by default in 4.0."""
    found = read_yaml(f'kafka: "4.0"\nproducer: {producer}')
    assert set(found.require) == AT_LEAST_ONCE | more
    assert required_unless_said(found) == found.require


def test_idempotence_that_is_not_in_force_promises_nothing(read_yaml) -> None:
    """Java 2.8 turns no idempotence on with acks=1, whatever the file hopes for; the pipeline is refused elsewhere."""
    found = read_yaml('kafka: "4.0"\nproducer: {acks: 1}')
    assert set(found.require) == AT_LEAST_ONCE


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_names_the_required_properties(read_yaml, profile: str) -> None:
    """A profile requires properties of transactions only in a deployment with transactions."""
    plain = read_yaml(f'kafka: "4.0"\nprofile: {profile}')
    assert set(plain.require) == in_profile(profile) - set(OF_TRANSACTIONS)
    with_transactions = read_yaml(f'kafka: "4.0"\nprofile: {profile}\nproducer: {{transactional.id: t}}')
    assert set(with_transactions.require) == in_profile(profile)
    assert narrowed(plain, None, None, profile).require == plain.require


def test_the_profile_all_has_the_properties_asked_of_every_pipeline() -> None:
    assert in_profile("all") == {*ASKED_BY_DEFAULT, *OF_TRANSACTIONS}
    assert all(in_profile(profile) <= set(KNOWN_PROPERTIES) for profile in PROFILES)


def test_names_outrank_a_profile(read_yaml) -> None:
    named = read_yaml('kafka: "4.0"\nprofile: all\nrequire: [no-loss]')
    assert named.require == ("no-loss",)
    assert narrowed(named, None, ["log-order"], "all").require == ("log-order",)


def test_an_option_outranks_the_file(read_yaml) -> None:
    named = read_yaml('kafka: "4.0"\nrequire: [no-loss]')
    assert set(narrowed(named, None, None, "at-least-once").require) == AT_LEAST_ONCE


@pytest.mark.parametrize(
    ("said", "option", "names", "profile"),
    [
        ("", None, None, "at-least-once"),
        ("producer: {enable.idempotence: true}", None, None, "at-least-once"),
        ("profile: ordered", None, None, "ordered"),
        ("profile: ordered", "exactly-once", None, "exactly-once"),
        ("profile: all\nrequire: [no-loss]", None, None, NAMED),
        ("require: [no-loss]", "all", None, "all"),
        ("profile: all", "ordered", ["no-loss"], NAMED),
    ],
)
def test_a_deployment_names_the_source_of_its_requirement(
    read_yaml, said: str, option: str | None, names: list[str] | None, profile: str
) -> None:
    read = read_yaml(f'kafka: "4.0"\n{said}')
    assert narrowed(read, None, names, option).profile == profile


def test_the_profile_is_no_part_of_the_question(read_yaml) -> None:
    """Ids of verdicts and of an audit's systems stay what they were."""
    plain, named = read_yaml('kafka: "4.0"'), read_yaml('kafka: "4.0"\nprofile: all')
    assert question(plain) == question(named)
    assert to_document(meaning(plain)) == to_document(meaning(named))
    assert "profile" not in to_document(meaning(named))


def test_unknown_profile_is_refused(read_yaml) -> None:
    with pytest.raises(DeploymentError, match="unknown profile; did you mean at-least-once"):
        read_yaml('kafka: "4.0"\nprofile: at-leastonce')
    with pytest.raises(DeploymentError, match="unknown profile"):
        narrowed(read_yaml('kafka: "4.0"'), None, None, "most")
