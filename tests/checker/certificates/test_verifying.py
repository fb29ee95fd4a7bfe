"""``proofka verify`` for certificates: systems and ids are made again, and differences are named."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path

import pytest

from proofka.checker.certificates import checkers
from proofka.checker.certificates.checkers import NoChecker
from proofka.checker.certificates.reading import NoCertificate, expressions, is_certificate, read_certificate
from proofka.checker.certificates.verifying import verify_certificate
from proofka.checker.certificates.writing import write_certificate
from proofka.checker.tampered import TamperedDocument
from proofka.model.faults import Fault
from tests.checker.asking import example, run
from tests.checker.certificates.accepting import changed as with_changes

pytestmark = pytest.mark.usefixtures("no_fast_checker")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a certificate with a claim that rests on times, and one that does not."""
    deployment = example("acks-all-min-isr-2", (Fault.DELAYED_REQUEST,))
    file = tmp_path_factory.mktemp("certificates") / "a.cert"
    written = write_certificate(run(deployment, ["no-acked-loss", "no-log-duplicate"]), file, tool="a test")
    assert set(written.certified) == {"no-acked-loss", "no-log-duplicate"}
    return file


def test_a_certificate_is_verified(certificate: Path) -> None:
    found = verify_certificate(certificate)
    assert found.is_accepted
    assert found.is_of_this_model
    assert found.lines[1] == "systems: 2 built again from the deployment, and equal"
    assert found.lines[2] == "ids: 2 ids computed again, and equal"


@pytest.mark.parametrize("system", ["system.smt2", "system.1.smt2"])
def test_another_system_is_named(certificate: Path, system: str) -> None:
    def weaker(content: bytes) -> bytes:
        return content.replace(b"(>= ", b"(> ", 1)

    with pytest.raises(TamperedDocument, match=system):
        verify_certificate(with_changes(certificate, {system: weaker}))


def test_an_id_of_another_question_is_named(certificate: Path) -> None:
    (first, *_) = read_certificate(certificate).claims
    other = with_changes(
        certificate, {"certificate.txt": lambda text: text.replace(first.id.encode(), b"0123456789abcdef")}
    )
    with pytest.raises(TamperedDocument, match="id"):
        verify_certificate(other)


@pytest.mark.parametrize(
    ("more", "said"),
    [(b'(about deployment "prod")', "names the deployment 'prod'"), (b'(about model "0")', "names two models")],
)
def test_words_about_the_file_that_its_members_contradict_are_named(certificate: Path, more: bytes, said: str) -> None:
    named = re.compile(rb'\(about deployment "[^"]*"\)')
    for other in (
        with_changes(certificate, {"certificate.txt": lambda text: more + text}),
        with_changes(certificate, {"certificate.txt": lambda text: named.sub(more, text)}),
    ):
        with pytest.raises(TamperedDocument, match=said):
            verify_certificate(other)


def test_a_claim_about_fewer_faults_than_its_question_is_named(certificate: Path) -> None:
    def fewer(content: bytes) -> bytes:
        text, changes = re.subn(rb'(\(claim "no-acked-loss" "[0-9a-f]+") [0-9]+\)', rb"\1 0)", content)
        assert changes == 1
        return text

    found = verify_certificate(with_changes(certificate, {"certificate.txt": fewer}))
    said = [line for line in found.lines if line.startswith("no-acked-loss: proved for up to 0 faults, and")]
    assert found.is_accepted
    assert len(said) == 1
    assert not [line for line in found.lines if line.startswith("no-log-duplicate: proved for up to")]


def test_limits_that_the_deployment_does_not_have_are_named(certificate: Path) -> None:
    other = with_changes(
        certificate,
        {"certificate.txt": lambda text: text.replace(b"delayed-request 9)", b"delayed-request 0)")},
    )
    with pytest.raises(TamperedDocument, match="limits"):
        verify_certificate(other)


def test_differences_of_clocks_that_were_changed_are_named(certificate: Path) -> None:
    def tighter(content: bytes) -> bytes:
        times = json.loads(content)
        for system in times.values():
            system["differences"] = [[one, other, most - 100_000] for one, other, most in system["differences"]]
        return json.dumps(times).encode()

    with pytest.raises(TamperedDocument, match=r"system\.1\.smt2"):
        verify_certificate(with_changes(certificate, {"times.json": tighter}))


def test_bounds_that_the_model_does_not_have_are_named(certificate: Path) -> None:
    def invented(content: bytes) -> bytes:
        times = json.loads(content)
        for system in times.values():
            system["bounds"].append(["busy", None, True, False, 1])
        return json.dumps(times).encode()

    with pytest.raises(TamperedDocument, match=r"times\.json"):
        verify_certificate(with_changes(certificate, {"times.json": invented}))


def test_a_refusal_of_the_checker_is_no_acceptance(certificate: Path) -> None:
    other = with_changes(certificate, {"0/0.0": lambda content: bytes([content[0] ^ 1]) + content[1:]})
    found = verify_certificate(other)
    assert not found.is_accepted
    assert any("refused" in line for line in found.lines)


def test_a_certificate_of_another_model_is_checked_without_its_systems(certificate: Path) -> None:
    other = with_changes(
        certificate, {"certificate.txt": lambda text: re.sub(rb'about model "\d+"', b'about model "0"', text)}
    )
    found = verify_certificate(other)
    assert not found.is_of_this_model
    assert found.is_accepted
    assert "not compared" in found.lines[1]


def test_a_missing_checker_is_named_with_the_command_that_installs_it(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkers, "PLAIN", ())
    with pytest.raises(NoChecker, match="cargo install"):
        verify_certificate(certificate)


def test_other_files_are_no_certificates(tmp_path: Path, certificate: Path) -> None:
    assert is_certificate(certificate)
    text = tmp_path / "a.txt"
    text.write_text("proofka-certificate 1\n", encoding="utf-8")
    assert not is_certificate(text)
    assert not is_certificate(tmp_path / "missing.cert")
    assert is_certificate(text.rename(tmp_path / "a.cert"))
    with pytest.raises(NoCertificate, match="is no certificate"):
        read_certificate(tmp_path / "a.cert")
    assert is_certificate(Path(shutil.copy(certificate, tmp_path / "c.bin")))
    bundle = tmp_path / "b.zip"
    with zipfile.ZipFile(bundle, "w") as archive:
        archive.writestr("result.json", "{}")
    assert not is_certificate(bundle)


@pytest.mark.parametrize("text", [b"", b"(", b")", b"(a", b"(part)", b"\xff"])
def test_a_text_that_cannot_be_read_is_refused(certificate: Path, text: bytes) -> None:
    with pytest.raises(NoCertificate):
        read_certificate(with_changes(certificate, {"certificate.txt": lambda _: text}))


def test_expressions_have_strings_with_quotes_and_comments() -> None:
    assert expressions('(a "b ""c"" (" ; ) comment\n (- 1)) b') == [["a", 'b "c" (', ["-", "1"]], "b"]
