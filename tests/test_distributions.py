"""The distributions: whole, the same bytes from each build, and a program that runs without the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip(
    "hatchling", reason="hatchling, which builds the distributions, is not installed: pip install hatchling"
)

ROOT = Path(__file__).parent.parent
FOLDERS = ("checker", "model", "properties", "reports")
"""The folders of the repository that the wheel has inside its only package."""
LINKS = {f"proofka/{folder}" for folder in FOLDERS}
"""The links through which the repository's own package has these folders."""
BESIDE = {"share/man/man1/proofka.1", "share/proofka/certcheck.py"}
"""The files that the wheel installs beside the packages."""


def tracked() -> list[str]:
    """Return the files of the repository, or skip the test where there is none."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("*** the files of the distributions are those that git knows, and there is no git repository ***")
    found = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in found.stdout.splitlines() if (ROOT / name).is_file() or name in LINKS]


def copied(folder: Path, seconds: int) -> Path:
    """Return a copy of the repository's files, all of which were changed at a time in seconds."""
    for name in tracked():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name, follow_symlinks=False)
        os.utime(folder / name, (seconds, seconds), follow_symlinks=False)
    return folder


def built(source: Path, out: Path) -> Iterator[tuple[str, bytes]]:
    """Build both distributions, and yield the name and the content of each."""
    program = [sys.executable, "-m", "hatchling", "build", "-d", str(out)]
    subprocess.run(program, cwd=source, check=True, capture_output=True)
    for path in sorted(out.iterdir()):
        yield path.name, path.read_bytes()


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a wheel and a source distribution."""
    folder = tmp_path_factory.mktemp("distributions")
    assert len(list(built(copied(folder / "source", 10**9), folder / "dist"))) == 2
    return folder / "dist"


@pytest.mark.slow
def test_builds_of_the_same_files_have_the_same_bytes(distributions: Path, tmp_path: Path) -> None:
    again = dict(built(copied(tmp_path / "source", 1_600_000_000), tmp_path / "dist"))
    assert again == {path.name: path.read_bytes() for path in distributions.iterdir()}


@pytest.mark.slow
def test_the_wheel_has_every_file_of_the_packages_and_no_other(distributions: Path) -> None:
    wheel = next(distributions.glob("*.whl"))
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    data = {name.partition(".data/data/")[2] for name in names if ".data/" in name}
    code = {name for name in tracked() if name.partition("/")[0] in ("proofka", *FOLDERS)} - LINKS
    expected = {name if name.startswith("proofka/") else f"proofka/{name}" for name in code}
    assert {name for name in names if ".data/" not in name} == expected
    assert data == BESIDE
    assert "proofka/py.typed" in names, "types are shipped (PEP 561)"


@pytest.mark.slow
def test_the_source_distribution_has_every_file(distributions: Path) -> None:
    with tarfile.open(next(distributions.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= set(tracked()) - LINKS


@pytest.mark.slow
def test_an_installed_wheel_checks_a_deployment_beside_packages_of_the_same_names(
    distributions: Path, tmp_path: Path
) -> None:
    """A project that installs Proofka may have a package ``model`` of its own, and loads that package first."""
    for folder in FOLDERS:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text("raise RuntimeError('of the user')\n", encoding="utf-8")
    wheel = next(distributions.glob("*.whl"))
    target = tmp_path / "installed"
    install = ["install", "--quiet", "--no-deps", "--no-index", "--target", str(target), str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", *install], check=True, capture_output=True)
    deployment = shutil.copy(ROOT / "examples" / "exactly-once.yaml", tmp_path)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(target)))}
    program = "import proofka, sys; print(proofka.__file__); from proofka.__main__ import main; main()"
    run = subprocess.run(
        [sys.executable, "-c", program, "check", str(deployment), "--faults", "1"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.startswith(str(target)), run.stdout + run.stderr
    assert run.returncode == 0, run.stdout + run.stderr
