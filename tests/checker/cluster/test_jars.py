"""The jars of Kafka's releases."""

from __future__ import annotations

import csv
import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from proofka.checker.cluster import jars
from proofka.checker.cluster.errors import JarsUnavailable
from proofka.checker.cluster.jars import (
    COLUMNS,
    JARS,
    VARIABLE,
    Release,
    default_folder,
    jars_of,
    jars_of_home,
    known_releases,
    newest_patch,
    release_of_home,
)

CONTENT = {"org/x/a/1/a-1.jar": b"jar a", "org/x/b/2/b-2.jar": b"jar b"}


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Use a table in which Kafka 9.0.1 needs two jars, and 9.1.0 one of these."""
    file = tmp_path / "jars.csv"
    sums = [hashlib.sha256(content).hexdigest() for content in CONTENT.values()]
    file.write_text(f"{','.join(COLUMNS)}\norg.x,a,1,{sums[0]},9.0.1 9.1.0\norg.x,b,2,{sums[1]},9.0.1\n")
    monkeypatch.setattr(jars, "JARS", file)
    jars._needed.cache_clear()
    yield file
    jars._needed.cache_clear()


class Repository(ThreadingHTTPServer):
    """A Maven repository on this machine. ``asked``: the paths that were read."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.content = dict(CONTENT)
        self.asked: list[str] = []


class Answer(BaseHTTPRequestHandler):
    server: Repository

    def do_GET(self) -> None:
        path = self.path.removeprefix("/maven2/")
        self.server.asked.append(path)
        content = self.server.content.get(path)
        self.send_response(404 if content is None else 200)
        self.end_headers()
        self.wfile.write(content or b"not here")

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing into the output of the tests."""


@pytest.fixture
def repository(table: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    with Repository() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv(VARIABLE, f"http://127.0.0.1:{server.server_port}/maven2/")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        yield server
        server.shutdown()
        thread.join()


def test_jars_are_read_once_and_kept(repository: Repository, tmp_path: Path) -> None:
    first = jars_of("9.0.1", folder=tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in first] == list(CONTENT)
    assert [path.read_bytes() for path in first] == list(CONTENT.values())
    assert jars_of("9.1.0", folder=tmp_path) == first[:1]
    assert jars_of("9.0.1", folder=tmp_path) == first
    assert sorted(repository.asked) == sorted(CONTENT)
    assert {path for path in (tmp_path / "org").rglob("*") if path.is_file()} == set(first)


def test_a_damaged_jar_is_read_again(repository: Repository, tmp_path: Path) -> None:
    path = jars_of("9.1.0", folder=tmp_path)[0]
    path.write_bytes(b"jar")
    assert jars_of("9.1.0", folder=tmp_path)[0].read_bytes() == b"jar a"
    assert len(repository.asked) == 2


def test_other_content_is_refused_and_not_kept(repository: Repository, tmp_path: Path) -> None:
    repository.content["org/x/a/1/a-1.jar"] = b"jar A"
    with pytest.raises(JarsUnavailable, match=r"a-1\.jar has other content.*T02"):
        jars_of("9.1.0", folder=tmp_path)
    assert not list(tmp_path.rglob("org"))


def test_a_missing_jar_is_named_with_its_address(repository: Repository, tmp_path: Path) -> None:
    del repository.content["org/x/b/2/b-2.jar"]
    with pytest.raises(JarsUnavailable, match=r"http://127.0.0.1:\d+/maven2/org/x/b/2/b-2.jar cannot be read .*404"):
        jars_of("9.0.1", folder=tmp_path)


def test_two_runs_at_once_get_whole_jars(repository: Repository, tmp_path: Path) -> None:
    found: list[tuple[Path, ...]] = []
    runs = [threading.Thread(target=lambda: found.append(jars_of("9.0.1", folder=tmp_path))) for _ in range(8)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert len(found) == 8 and len(set(found)) == 1
    assert {path for path in (tmp_path / "org").rglob("*") if path.is_file()} == set(found[0])


def test_a_write_that_fails_leaves_no_file(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(self: Path, target: Path) -> Path:
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        jars_of("9.1.0", folder=tmp_path)
    assert not [path for path in (tmp_path / "org").rglob("*") if path.is_file()]


@pytest.mark.usefixtures("table")
def test_an_address_of_another_kind_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, "ftp://127.0.0.1/maven2")
    with pytest.raises(JarsUnavailable, match="PROOFKA_MAVEN is no address"):
        jars_of("9.1.0", folder=tmp_path)


def test_an_unknown_release_is_refused_with_the_known_releases() -> None:
    with pytest.raises(
        JarsUnavailable, match=r"Kafka 3\.3\.0 are not known: choose one of 2\.4\.1, .*3\.3\.1, .*4\.\d\.\d"
    ):
        jars_of("3.3.0")


def test_the_cache_is_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert default_folder() == Path("/x/proofka/jars")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/y")
    assert default_folder() == Path("/y/.cache/proofka/jars")


def test_an_installation_has_its_release_and_jars(tmp_path: Path) -> None:
    libs = tmp_path / "libs"
    libs.mkdir()
    for name in ("kafka_2.13-3.9.2.jar", "kafka_2.13-3.9.2-sources.jar", "zstd-jni.jar", "notes.txt"):
        (libs / name).touch()
    assert release_of_home(tmp_path) == "3.9.2"
    assert [path.name for path in jars_of_home(tmp_path)] == sorted(
        ["kafka_2.13-3.9.2-sources.jar", "kafka_2.13-3.9.2.jar", "zstd-jni.jar"]
    )
    with pytest.raises(JarsUnavailable, match="name the folder above libs"):
        jars_of_home(libs)


def test_releases_are_ordered_by_number() -> None:
    assert sorted([Release("3.10.0"), Release("3.9.1")], key=lambda one: one.numbers) == ["3.9.1", "3.10.0"]
    assert Release("3.10.1").line == "3.10"


def test_the_table_has_every_release_of_each_line() -> None:
    assert known_releases()[0] == "3.3.1"
    assert [newest_patch(line) for line in ("3.3", "3.6", "3.9", "4.0")] == ["3.3.2", "3.6.2", "3.9.2", "4.0.2"]
    for line in {release.line for release in known_releases()} - {"3.3"}:
        patches = [release.numbers[2] for release in known_releases() if release.line == line]
        assert patches == list(range(len(patches)))
    lines = ("2.4", "2.5", "2.6", "2.7", "2.8", "3.0", "3.1", "3.2")
    before = [release for release in jars._needed() if release.numbers < known_releases()[0].numbers]
    assert before == [newest_patch(line) for line in lines]
    assert newest_patch("3.9.1") == "3.9.1"
    with pytest.raises(JarsUnavailable, match=r"Kafka 3\.9\.77 cannot be started"):
        newest_patch("3.9.77")
    with pytest.raises(JarsUnavailable, match=r"Kafka 5\.0 cannot be started: choose one of 2\.4, .*, 4\.\d"):
        newest_patch("5.0")


def test_the_jars_of_each_release_are_its_own_with_one_writer_of_logs() -> None:
    for release, needed in jars._needed().items():
        names = [jar.artifact for jar in needed]
        assert len({(jar.group, jar.artifact) for jar in needed}) == len(needed), release
        of_kafka = {jar.version for jar in needed if jar.group == "org.apache.kafka"}
        assert of_kafka == {release}
        is_older = release.numbers < (4,)
        assert ("slf4j-reload4j" in names, "log4j-slf4j-impl" in names) == (is_older, not is_older)
        assert ("zookeeper" in names) == is_older


def test_no_jar_stands_in_the_table_twice() -> None:
    with JARS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    places = [tuple(row[:3]) for row in rows[1:]]
    assert rows[0] == list(COLUMNS)
    assert len(places) == len(set(places)) > 500
    assert all(len(row[3]) == 64 and row[4] for row in rows[1:])
