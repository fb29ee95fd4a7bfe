"""The commands about certificates: check writes a certificate, a bundle holds it, verify and reports name its check."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from proofka.checker import cli
from proofka.checker.archive import read_archive, write_archive
from proofka.checker.bundle import CERTIFICATE, RESULT, json_bytes, read_bundle
from proofka.checker.certificates import checkers, claims
from proofka.checker.certificates.reading import read_certificate
from proofka.checker.embedded import EmbeddedExploration
from proofka.properties.sealing import SEAL, seal
from tests.checker.certificates.accepting import changed
from tests.checker.test_verify import DEPLOYMENT

pytestmark = pytest.mark.usefixtures("no_fast_checker")

DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
CHECKED_BY = re.compile(rf"[Cc]hecked by certcheck\.py [0-9.]+ in [0-9.,]+ s on {DAY}")


def proofka(*words: object) -> Result:
    return CliRunner().invoke(cli.app, [str(word) for word in words])


@dataclass(frozen=True)
class Files:
    """The files of one check, and the lines that the check printed about its certificate."""

    deployment: Path
    certificate: Path
    bundle: Path
    json: Path
    html: Path
    told: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.certificate.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Check a deployment, and write every file from the same exploration."""
    folder = tmp_path_factory.mktemp("cited")
    deployment = folder / "orders.yaml"
    deployment.write_text(DEPLOYMENT, encoding="utf-8")
    names = [folder / name for name in ("orders.cert", "orders.zip", "orders.json", "orders.html")]
    options = ["--certificate", names[0], "--bundle", names[1], "--json", names[2], "--report", names[3]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(claims, "explored_whole", None)  # nothing here rests on times, so nothing is explored again
        begun: list[object] = []
        post_init = EmbeddedExploration.__post_init__
        patch.setattr(EmbeddedExploration, "__post_init__", lambda one: (begun.append(one), post_init(one))[-1])
        found = proofka("check", deployment, *options, "--more", "0", "--quiet")
        with_certificate = len(begun)
        begun.clear()
        proofka("check", deployment, "--json", folder / "again.json", "--more", "0", "--quiet")
    # The stuck states of a recoverability trace would be explored; this deployment has no such trace.
    assert with_certificate == len(begun)
    assert found.exit_code == 1, found.output
    return Files(deployment, *names, found.output)


def test_a_check_prints_size_and_hash_of_its_certificate(files: Files) -> None:
    size = files.certificate.stat().st_size
    assert f"{size:,} bytes" in files.told
    assert files.sha256 in files.told
    assert f"check it with: certcheck {files.certificate}" in files.told


def test_a_check_says_for_which_faults_each_claim_is_proved(files: Files) -> None:
    told = re.findall(
        r"proved: (\S+) (holds with|is violated by \S+.*; of other sets with) up to ([0-9]+) faults?", files.told
    )
    assert {(name, int(up_to)) for name, _, up_to in told} == {
        (claim.property, claim.up_to) for claim in read_certificate(files.certificate).claims
    }


def test_the_claims_have_the_ids_of_the_verdicts(files: Files) -> None:
    document = json.loads(files.json.read_text(encoding="utf-8"))
    ids = {verdict["property"]: verdict["id"] for verdict in document["verdicts"]}
    read = read_certificate(files.certificate)
    assert {claim.property: claim.id for claim in read.claims}.items() <= ids.items()
    named = document["certificate"]
    assert named["sha256"] == files.sha256
    assert named["claims"] == {claim.property: claim.id for claim in read.claims}
    assert read_bundle(files.bundle.read_bytes()).members[CERTIFICATE] == files.certificate.read_bytes()


def test_certify_writes_the_same_certificate_of_each_source(files: Files, tmp_path: Path) -> None:
    for source in (files.deployment, files.json, files.bundle):
        output = tmp_path / "again.cert"
        found = proofka("certify", source, "-o", output)
        assert output.read_bytes() == files.certificate.read_bytes(), found.output
        assert ("the claims are those of the verdicts" in found.output) == (source != files.deployment)
    refused = proofka("certify", files.json, "-o", tmp_path / "b.cert", "--faults", "1")
    assert refused.exit_code == 2
    assert "options of a check" in refused.output


def test_the_report_of_a_check_names_the_certificate_and_no_check(files: Files) -> None:
    page = files.html.read_text(encoding="utf-8")
    assert files.sha256 in page
    assert "did not check the certificate" in page
    assert not CHECKED_BY.search(page)


@pytest.mark.parametrize("of_bundle", [True, False])
def test_verify_checks_the_certificate_and_its_report_says_so(files: Files, tmp_path: Path, of_bundle: bool) -> None:
    page, entry = tmp_path / "review.html", tmp_path / "review.bib"
    source = [files.bundle] if of_bundle else [files.json, "--certificate", files.certificate]
    found = proofka("verify", *source, "--report", page, "--report", entry)
    assert found.exit_code == 0, found.output
    assert "checker: certcheck.py" in found.output
    assert CHECKED_BY.search(found.output)
    assert "claims are those of the verdicts" in found.output
    text = page.read_text(encoding="utf-8")
    assert CHECKED_BY.search(text)
    assert files.sha256 in text
    assert "orders.cert" in text
    assert "checked by certcheck.py" in entry.read_text(encoding="utf-8")
    assert not re.search(DAY, entry.read_text(encoding="utf-8"))


def test_verify_of_a_result_alone_does_not_claim_a_check(files: Files, tmp_path: Path) -> None:
    page = tmp_path / "review.html"
    found = proofka("verify", files.json, "--report", page)
    assert found.exit_code == 0
    assert "certificate: not verified; name the file with --certificate FILE" in found.output
    assert not CHECKED_BY.search(page.read_text(encoding="utf-8"))


def test_another_certificate_is_refused_and_no_report_is_written(files: Files, tmp_path: Path) -> None:
    other = changed(files.certificate, {"README.txt": lambda content: content + b"more"})
    page = tmp_path / "review.html"
    for source in (files.json, files.bundle):
        found = proofka("verify", source, "--certificate", other, "--report", page)
        assert found.exit_code == 1
        assert "this is another one" in found.output
    assert not page.exists()


def test_a_certificate_of_another_deployment_is_refused(files: Files, tmp_path: Path) -> None:
    deployment, other, result = tmp_path / "other.yaml", tmp_path / "other.cert", tmp_path / "result.json"
    deployment.write_text(DEPLOYMENT.replace("log: 2", "log: 3"), encoding="utf-8")
    proofka("certify", deployment, "-o", other)
    proofka("check", files.deployment, "--json", result, "--more", "0", "--quiet")
    found = proofka("verify", result, "--certificate", other, "--report", tmp_path / "review.html")
    assert found.exit_code == 1
    assert "the claim of the certificate has another id than the verdict" in found.output
    assert "written with other faults (--faults)" in found.output
    assert not (tmp_path / "review.html").exists()


def test_a_refused_certificate_gives_no_report(files: Files, tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    proofka("check", files.deployment, "--json", result, "--more", "0", "--quiet")
    other = changed(
        files.certificate, {"certificate.txt": lambda text: re.sub(rb"\(witness [0-9 ]+\)", b"(witness 0)", text)}
    )
    found = proofka("verify", result, "--certificate", other, "--report", tmp_path / "review.html")
    assert found.exit_code == 1
    assert "refused: witness" in found.output
    assert not CHECKED_BY.search(found.output)
    assert not (tmp_path / "review.html").exists()


def rewritten(files: Files, file: Path, certificate: bytes | None, *, named: bool = True) -> Path:
    """Write the bundle with another certificate, or with a result that names none, and all hashes made anew."""
    archive = read_archive(files.bundle.read_bytes())
    members = {**archive.members, **({} if certificate is None else {CERTIFICATE: certificate})}
    if not named:
        document = json.loads(members[RESULT])
        del document["certificate"]
        members[RESULT] = json_bytes({**document, SEAL: seal(document)})
    about = {key: value for key, value in archive.manifest.items() if key not in ("format", "members")}
    file.write_bytes(write_archive(members, about))
    return file


def test_a_bundle_with_another_certificate_than_its_result_names_is_refused(files: Files, tmp_path: Path) -> None:
    for certificate, named in ((b"PK", True), (None, False)):
        found = proofka("verify", rewritten(files, tmp_path / "forged.zip", certificate, named=named))
        assert found.exit_code == 1
        assert "certificate.cert: is not the certificate that result.json names" in found.output


def test_verify_refuses_options_of_results_for_a_certificate(files: Files, tmp_path: Path) -> None:
    for options in (["--recount"], ["--report", tmp_path / "a.html"], ["--certificate", files.certificate]):
        assert proofka("verify", files.certificate, *options).exit_code == 2


def test_memory_that_does_not_suffice_is_refused(files: Files) -> None:
    found = proofka("verify", files.certificate, "--memory", "1M")
    assert found.exit_code == 1
    assert "refused: memory" in found.output


def test_a_missing_checker_is_no_verification(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkers, "PLAIN", ())
    found = proofka("verify", files.certificate)
    assert found.exit_code == 3
    assert "not verified: no checker was found: cargo install" in found.output


@pytest.mark.parametrize("status", [-9, 101, 3])
def test_an_end_without_an_answer_is_no_verification(
    files: Files, monkeypatch: pytest.MonkeyPatch, status: int, tmp_path: Path
) -> None:
    ended = tmp_path / "certcheck.py"
    end = "os.kill(os.getpid(), 9)" if status == -9 else f"sys.exit({status})"
    version = "certcheck.py 1.0.0 (certificates of version 4)"
    ended.write_text(
        f"import os, sys\nprint({version!r})\nif '--version' not in sys.argv:\n    {end}\n", encoding="utf-8"
    )
    monkeypatch.setattr(checkers, "PLAIN", (ended,))
    found = proofka("verify", files.certificate)
    assert found.exit_code == 3
    assert f"ended with {status}, which is no answer" in found.output


def test_a_certificate_needs_its_ending_and_one_pipeline(files: Files, tmp_path: Path) -> None:
    found = proofka("check", files.deployment, "--certificate", tmp_path / "orders.txt")
    assert found.exit_code == 2
    assert "ends in .cert" in found.output


def test_a_vacuous_pass_is_named_as_not_covered(files: Files, tmp_path: Path) -> None:
    output = tmp_path / "vacuous.cert"
    deployment = tmp_path / "orders.yaml"
    deployment.write_text(DEPLOYMENT.replace("faults: {total: 1, kill: 1}", "faults: {total: 0}"), encoding="utf-8")
    written = proofka("certify", deployment, "-o", output)
    without = read_certificate(output).without_witness
    assert without, "a deployment without faults passes some property vacuously"
    verified = proofka("verify", output)
    assert verified.exit_code == 0, verified.output
    for name in without:
        line = f"not proved: {name} is not vacuous: the certificate has no run to its witness"
        assert line in written.output
        assert line in verified.output


def test_a_pass_whose_witness_is_left_out_is_not_proved(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "b.cert"
    whole = proofka("certify", files.deployment, "-o", output)
    monkeypatch.setattr(claims, "_witness", lambda *_: None)
    found = proofka("certify", files.deployment, "-o", output)
    assert (whole.exit_code, found.exit_code) == (0, 3)
    line = re.compile(r"not proved: (\S+) is not vacuous: the certificate has no run to its witness(.*)")
    assert {rest for _, rest in line.findall(whole.output)} == {"; the verdict is vacuous, too"}
    verdicts = json.loads(files.json.read_text(encoding="utf-8"))["verdicts"]
    holds = {verdict["property"] for verdict in verdicts if verdict["status"] == "holds"}
    assert {name for name, rest in line.findall(found.output) if not rest} == holds


def test_a_certificate_that_proves_nothing_is_not_written(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "_uncertified", lambda *_: "a reason")
    output, result = tmp_path / "b.cert", tmp_path / "b.json"
    found = proofka("certify", files.deployment, "-o", output)
    assert found.exit_code == 3
    assert "no property is proved: a reason" in found.output
    options = ["--certificate", output, "--json", result, "--more", "0", "--quiet"]
    found = proofka("check", files.deployment, *options)
    assert found.exit_code == 2
    assert f"not written: {output}: no property is proved: a reason" in found.output
    assert "certificate" not in json.loads(result.read_text(encoding="utf-8"))
    assert not output.exists()


def test_a_device_is_no_certificate(files: Files) -> None:
    found = proofka("verify", files.json, "--certificate", "/dev/zero")
    assert found.exit_code == 2
    assert "no regular file" in found.output
