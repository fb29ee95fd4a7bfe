"""Files that a framework reads as one application: what lies over what, and where each value is accounted for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from proofka.model.deployment.dialects.accounting import Fate, accounts_of
from proofka.model.deployment.dialects.component import Component
from proofka.model.deployment.dialects.finding import Findings, find
from proofka.model.deployment.dialects.judging import judge, with_left_out
from proofka.model.deployment.dialects.pairing import pair

BASE = "spring:\n  kafka:\n    producer: {acks: '0', retries: 3}\n"
PROD = "spring:\n  kafka:\n    producer: {retries: 10}\n"


def put(place: Path, files: Mapping[str, str]) -> Path:
    """Write files into a folder."""
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    return place


def said(findings: Findings, *keys: str) -> dict[str, tuple[str, ...]]:
    """Return these settings of each component by its profile."""
    every = [component for found in findings.found for component in found.components]
    assert len({one.profile for one in every}) == len(every)
    return {one.profile: tuple(_value(one, key) for key in keys) for one in every}


def _value(component: Component, key: str) -> str:
    return component.settings[key].value if key in component.settings else ""


def test_a_profile_is_laid_over_the_application(tmp_path: Path) -> None:
    findings = find(put(tmp_path, {"application.yml": BASE, "application-prod.yml": PROD}), {})
    assert said(findings, "acks", "retries") == {"prod": ("0", "10"), "": ("0", "3")}
    accounts = accounts_of(findings, ())
    fates = {Path(one.found.file).name: [(entry.line, entry.fate) for entry in one.entries] for one in accounts}
    assert fates == {"application-prod.yml": [(3, Fate.USED)], "application.yml": [(3, Fate.USED), (3, Fate.USED)]}


def test_a_file_that_is_named_alone_has_the_others_beside_it(tmp_path: Path) -> None:
    put(tmp_path, {"application.yml": BASE, "application-prod.yml": PROD})
    findings = find(tmp_path / "application-prod.yml", {})
    assert said(findings, "acks", "retries") == {"prod": ("0", "10")}
    assert any("application.yml" in note for note in findings.found[0].notes)
    (account,) = accounts_of(findings, ())
    assert [entry.line for entry in account.entries] == [3]


def test_profile_file_alone_is_read_as_the_whole_application(tmp_path: Path) -> None:
    findings = find(put(tmp_path, {"application-prod.yml": PROD}), {})
    assert any("there is none here" in note for note in findings.found[0].notes)


@pytest.mark.parametrize(
    ("files", "acks"),
    [
        ({"application.yaml": "1", "application.yml": "0", "application.properties": "all"}, "all"),
        ({"application.yaml": "1", "application.yml": "0"}, "0"),
        ({"config/application.yml": "0", "application.properties": "all"}, "0"),
        ({"application.yml": "all", "application-default.yml": "0"}, "0"),
    ],
)
def test_order_of_precedence_of_files_in_one_application(tmp_path: Path, files: Mapping[str, str], acks: str) -> None:
    texts = {
        name: f"spring.kafka.producer.acks{'=' if name.endswith('properties') else ': '}{value}\n"
        for name, value in files.items()
    }
    findings = find(put(tmp_path, texts), {})
    assert said(findings, "acks") == {"": (acks,)}
    fates = [entry.fate for one in accounts_of(findings, ()) for entry in one.entries]
    assert sorted(fates) == sorted([Fate.USED, *[Fate.IGNORED] * (len(files) - 1)])


def test_a_profile_outranks_documents_for_it_and_both_are_in_it(tmp_path: Path) -> None:
    documents = (
        f"{BASE}---\nspring.config.activate.on-profile: prod\nspring.kafka.producer: {{acks: all, retries: 7}}\n"
    )
    findings = find(put(tmp_path, {"application.yml": documents, "application-prod.yml": PROD}), {})
    assert said(findings, "acks", "retries") == {"prod": ("all", "10"), "": ("0", "3")}


def test_the_tests_of_an_application_are_laid_over_it(tmp_path: Path) -> None:
    put(tmp_path, {"src/main/resources/application.yml": BASE, "src/test/resources/application-test.yml": PROD})
    assert said(find(tmp_path, {}), "acks", "retries") == {"": ("0", "3")}
    # Files of tests are passed over in a folder, unless that of the tests is named.
    for place in ("src/test", "src/test/resources/application-test.yml"):
        assert said(find(tmp_path / place, {}), "acks", "retries") == {"test": ("0", "10")}


def test_rejected_value_in_one_file_prevents_the_verdict_on_the_other_files(tmp_path: Path) -> None:
    broken = BASE + "    listener: {ack-mode: SOMETIMES}\n"
    findings = find(put(tmp_path, {"application.yml": broken, "application-prod.yml": PROD}), {})
    judged = [with_left_out(judge(one), findings) for one in pair(findings).pipelines]
    assert judged
    assert all(one.deployment is None for one in judged)
    places = {(Path(str(error.file)).name, error.line) for one in judged for error in one.rejected}
    assert places == {("application.yml", 4)}


def test_unreadable_file_of_the_application_prevents_the_verdict(tmp_path: Path) -> None:
    put(tmp_path, {"application.yml": "a: [\n", "application-prod.yml": PROD})
    (found,) = find(tmp_path, {}).found
    assert [Path(str(one.given.origin.file)).name for one in found.rejected] == ["application.yml"]
    (tmp_path / "application.yml").write_bytes(b"\xff\xfea\x00")
    (found,) = find(tmp_path, {}).found
    assert [Path(str(one.given.origin.file)).name for one in found.rejected] == ["application.yml"]


def test_bootstrap_is_of_another_context(tmp_path: Path) -> None:
    put(tmp_path, {"application.yml": PROD, "bootstrap.yml": BASE})
    reasons = [one.reason for one in find(tmp_path / "application.yml", {}).found[0].rejected]
    assert reasons
    assert all("bootstrap context" in reason for reason in reasons)


def test_applications_in_two_folders_say_the_same_and_stay_two(tmp_path: Path) -> None:
    files = {f"{folder}/{name}.yml": PROD for folder in "ab" for name in ("application", "application-x")}
    findings = find(put(tmp_path, files), {})
    assert len([component for found in findings.found for component in found.components]) == 4
