"""Put recordings of ``proofka conform --keep`` into the archives of docs/conformance/recordings/, one for a deployment.

    python scripts/keep_recordings.py FOLDER...

Recordings that an archive has already stay in it; one with the same name is replaced. The deployments are files of
docs/conformance/deployments/ and examples/. ``proofka conform --recorded docs/conformance/recordings`` checks them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from proofka.checker.conformance.archives import SUFFIX, recordings_in, write_archive
from proofka.checker.conformance.events import Recording
from scripts.conformance_runs import EXAMPLES, FOLDER, KEPT


def file_of(name: str) -> Path:
    """Return the file of a deployment. Raise ValueError for a name that neither folder has."""
    for folder in (FOLDER / "deployments", EXAMPLES):
        if (folder / f"{name}.yaml").exists():
            return folder / f"{name}.yaml"
    raise ValueError(f"no file of the deployment {name}: put it into docs/conformance/deployments/")


def keep(paths: Iterable[Path], kept: Path = KEPT) -> None:
    """Add recordings to the archives of their deployments in the folder ``kept``."""
    new: dict[str, dict[str, Recording]] = {}
    for path in paths:
        for name, recording in recordings_in(path):
            new.setdefault(recording.deployment.name, {})[name] = recording
    kept.mkdir(exist_ok=True)
    for deployment, recordings in new.items():
        archive = kept / f"{deployment}{SUFFIX}"
        old = dict(recordings_in(archive)) if archive.exists() else {}
        write_archive(archive, file_of(deployment), old | recordings)
        print(f"{archive.name}: {len(old | recordings)} recordings, {archive.stat().st_size} bytes")


if __name__ == "__main__":
    keep(map(Path, sys.argv[1:]))
