"""The reader of a deployment in YAML. The format is documented in ``docs/deployment-format.md``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from proofka.model.deployment import yaml_tree
from proofka.model.deployment.accepting import note_settings
from proofka.model.deployment.assumptions import ASSUMPTIONS, CONSUMER_KEYS, PRODUCER_KEYS
from proofka.model.deployment.bounds import RANGES
from proofka.model.deployment.budget import FAULT_KEYS
from proofka.model.deployment.builder import build
from proofka.model.deployment.consumer_rules import GROUPS, NULL_GROUP
from proofka.model.deployment.defaults import is_known
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.durations import ENVIRONMENT
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.explored import most_of
from proofka.model.deployment.given import Given, GivenClient, GivenDeployment, complaint, place
from proofka.model.deployment.hiding import shown_key
from proofka.model.deployment.known_keys import unknown, with_choices
from proofka.model.deployment.libraries import LIBRARIES
from proofka.model.deployment.mode import with_mode_of_vendor
from proofka.model.deployment.options import outrank, read_options
from proofka.model.deployment.problems import Problems
from proofka.model.deployment.setting import Origin
from proofka.model.deployment.source import decode_utf8, is_standard_input, read_bytes
from proofka.model.faults import Fault

SECTIONS = ("name", "kafka", "topic", "broker", "producer", "consumer", "assume", "bounds", "profile", "require")
"""The sections of a deployment."""


def read_deployment(path: Path, overrides: Mapping[str, str] | None = None) -> Deployment:
    """Read and check one deployment in YAML; ``overrides`` are options as in ``--assume``. Raises DeploymentError."""
    name = "standard input" if is_standard_input(path) else path.stem
    root, repeated = yaml_tree.parse_with_repeated(decode_utf8(read_bytes(path), path), str(path))
    return deployment_by(root, str(path), name, overrides, repeated)


def read_tree(path: Path) -> yaml_tree.Node:
    """Read a YAML file as a tree. Raises DeploymentError."""
    return yaml_tree.parse_yaml(decode_utf8(read_bytes(path), path), str(path))


def deployment_by(
    root: yaml_tree.Node,
    file: str,
    name: str,
    overrides: Mapping[str, str] | None = None,
    repeated: Sequence[DeploymentError] = (),
) -> Deployment:
    """Return the deployment of a tree; ``name`` names it if the tree does not. ``repeated``: as in ``given_by``.

    Raises DeploymentError.
    """
    return build(outrank(given_by(root, file, name, repeated), read_options(overrides or {})))


def given_by(root: yaml_tree.Node, file: str, name: str, repeated: Sequence[DeploymentError] = ()) -> GivenDeployment:
    """Return the given deployment of a tree, before defaults and rules.

    ``repeated``: errors about repeated keys of the file. Raises DeploymentError, also for these.
    """
    reader = _Reader(file)
    reader.problems.found += repeated
    given = None
    with reader.problems.noted():
        given = reader.deployment(root, name)
    if given is not None and not reader.problems.found:
        return given
    if given is not None:
        note_settings(given, reader.problems, reader.doubtful)
    raise reader.problems.first()


def _is_setting(section: str, key: str) -> bool:
    """Tell whether a key is a setting: it has a dot, as Kafka's settings have, or belongs to a library with other
    names."""
    return "." in key or any(is_known(f"{library} {section}", key) for library in LIBRARIES)


@dataclass
class _Section:
    """A section, separated into its own words and settings of Kafka."""

    words: dict[str, Given] = field(default_factory=dict)
    settings: dict[str, Given] = field(default_factory=dict)


class _Reader:
    """A reader that collects errors and continues."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.problems = Problems()
        self.doubtful: set[str] = set()
        """The sections whose client library is unknown because of an error."""

    def deployment(self, root: yaml_tree.Node, stem: str) -> GivenDeployment:
        entries = self._sections(root)
        kafka = entries.get("kafka")
        if kafka is None:
            raise DeploymentError('has no release; add the release of the brokers, as in kafka: "4.0"', file=self._file)
        topic = self._component(entries, "topic", ("replicas",))
        broker = self._component(entries, "broker", ("elr",))
        producer = self._component(entries, "producer", ("client", "version", *PRODUCER_KEYS))
        consumer = self._component(entries, "consumer", ("client", "version", *CONSUMER_KEYS))
        assumed, faults = self._assume(entries.get("assume"))
        for words in (topic.words, assumed):
            if "replicas" in words:
                self._put(topic.settings, replace(words["replicas"], key="replication.factor"))
        application: dict[str, Given] = {}
        for words in (producer.words, consumer.words, assumed):
            for key in words:
                if key in ASSUMPTIONS:
                    self._put(application, words[key])
        release = self._scalar(kafka, "kafka")
        return GivenDeployment(
            name=self._scalar(entries["name"], "name").value if "name" in entries else stem,
            kafka=release,
            topic=topic.settings,
            broker=with_mode_of_vendor(release, broker.settings),
            producer=self._client(producer, "producer" in entries),
            consumer=self._client(consumer, "consumer" in entries),
            elr=broker.words.get("elr") or assumed.get("elr"),
            application=application,
            environment={key: given for key, given in assumed.items() if key in ENVIRONMENT},
            faults=faults,
            bounds=self._bounds(entries.get("bounds")),
            require=self._require(entries.get("require")),
            profile=self._scalar(entries["profile"], "profile") if "profile" in entries else None,
        )

    def _sections(self, root: yaml_tree.Node) -> dict[str, yaml_tree.Entry]:
        if isinstance(root, yaml_tree.Scalar) and root.null:
            raise DeploymentError("is empty", file=self._file)
        if not isinstance(root, yaml_tree.Mapping):
            message = f"is no deployment; a deployment has the sections {', '.join(SECTIONS)}"
            raise DeploymentError(message, file=self._file, line=root.line)
        if {"base", "values"} <= {entry.key for entry in root.entries}:
            raise DeploymentError(
                "is a matrix of many deployments; check it with proofka audit, as the only argument", file=self._file
            )
        for entry in root.entries:
            with self.problems.noted():
                if entry.key not in SECTIONS:
                    belongs = entry.key in (*ASSUMPTIONS, *ENVIRONMENT)
                    what = "unknown section; move it under assume" if belongs else "unknown section"
                    raise unknown(self._given(entry, "", entry.key), what, () if belongs else SECTIONS)
        return {entry.key: entry for entry in root.entries}

    def _component(self, entries: Mapping[str, yaml_tree.Entry], name: str, words: tuple[str, ...]) -> _Section:
        section = _Section()
        for entry in self._mapping(entries.get(name), name):
            with self.problems.noted():
                self._entry(section, entry, name, words)
        return section

    def _entry(self, section: _Section, entry: yaml_tree.Entry, name: str, words: tuple[str, ...]) -> None:
        if entry.key == "settings":
            for setting in self._mapping(entry, "settings"):
                with self.problems.noted():
                    self._put(section.settings, self._setting(setting, name))
        elif entry.key in words:
            section.words[entry.key] = self._scalar(entry, entry.key)
        elif not _is_setting(name, entry.key) and self._is_word_misspelt(entry, words):
            if self._is_word_misspelt(entry, ("client", "version")):
                self.doubtful.add(name)
            raise unknown(self._given(entry, "", entry.key), f"unknown {name} key", (*words, "settings"))
        else:
            self._put(section.settings, self._setting(entry, name))

    @staticmethod
    def _is_word_misspelt(entry: yaml_tree.Entry, words: tuple[str, ...]) -> bool:
        return bool(get_close_matches(entry.key.replace("-", "_"), (*words, "settings"), n=1, cutoff=0.75))

    def _client(self, section: _Section, present: bool) -> GivenClient:
        return GivenClient(section.settings, section.words.get("client"), section.words.get("version"), present)

    def _setting(self, entry: yaml_tree.Entry, section: str) -> Given:
        node = entry.node
        if section == "consumer" and entry.key in GROUPS and isinstance(node, yaml_tree.Scalar) and node.null:
            return self._given(entry, NULL_GROUP, entry.key)
        return self._scalar(entry, entry.key)

    def _assume(self, entry: yaml_tree.Entry | None) -> tuple[dict[str, Given], dict[str, Given]]:
        assumed: dict[str, Given] = {}
        faults: dict[str, Given] = {}
        choices = (*ASSUMPTIONS, *ENVIRONMENT, "replicas", "elr", "faults")
        for item in self._mapping(entry, "assume"):
            with self.problems.noted():
                if item.key == "faults":
                    faults = self._faults(item)
                elif item.key in choices:
                    assumed[item.key] = self._scalar(item, item.key)
                else:
                    raise self._unknown(item, "unknown assumption", choices)
        return assumed, faults

    def _faults(self, entry: yaml_tree.Entry) -> dict[str, Given]:
        node = entry.node
        if isinstance(node, yaml_tree.Scalar):
            return {"total": self._scalar(entry, "faults")}
        faults: dict[str, Given] = {}
        if isinstance(node, yaml_tree.Sequence):
            for item in self._items(entry, lambda text: text in FAULT_KEYS[1:], "unknown fault", FAULT_KEYS[1:]):
                self._put(faults, Given(item.value, str(most_of(Fault(item.value))), item.origin))
            return faults
        for item_entry in node.entries:
            with self.problems.noted():
                if item_entry.key not in FAULT_KEYS:
                    raise self._unknown(item_entry, "unknown fault", FAULT_KEYS)
                faults[item_entry.key] = self._scalar(item_entry, f"faults.{item_entry.key}")
        return faults

    def _bounds(self, entry: yaml_tree.Entry | None) -> dict[str, Given]:
        bounds: dict[str, Given] = {}
        for item in self._mapping(entry, "bounds"):
            with self.problems.noted():
                if item.key not in RANGES:
                    raise self._unknown(item, "unknown bound", RANGES)
                bounds[item.key] = self._scalar(item, f"bounds.{item.key}")
        return bounds

    def _require(self, entry: yaml_tree.Entry | None) -> tuple[Given, ...] | None:
        if entry is None:
            return None
        if isinstance(entry.node, yaml_tree.Scalar):
            return (self._scalar(entry, "require"),)
        required = tuple(self._items(entry, lambda text: True, "unknown property", ()))
        if not required:
            raise self._error(entry, "names no property; remove it to use the profile")
        return required

    def _items(
        self, entry: yaml_tree.Entry, accepts: Callable[[str], bool], what: str, choices: Iterable[str]
    ) -> Iterable[Given]:
        if not isinstance(entry.node, yaml_tree.Sequence):
            raise self._error(entry, "must be a list of names")
        for item in entry.node.items:
            if not isinstance(item, yaml_tree.Scalar) or item.null:
                raise DeploymentError("must be a list of names", file=self._file, line=item.line, key=entry.key)
            origin = Origin("file", "", self._file, item.line)
            if not accepts(item.text):
                raise self._with_choices(unknown(Given(item.text, "", origin), what, choices), choices)
            yield Given(entry.key if not choices else item.text, item.text, origin)

    def _mapping(self, entry: yaml_tree.Entry | None, name: str) -> tuple[yaml_tree.Entry, ...]:
        if entry is None or (isinstance(entry.node, yaml_tree.Scalar) and entry.node.null):
            return ()
        if not isinstance(entry.node, yaml_tree.Mapping):
            raise self._error(entry, "must contain keys with values, as in " + f"{name}: {{key: value}}")
        return entry.node.entries

    def _scalar(self, entry: yaml_tree.Entry, key: str) -> Given:
        if not isinstance(entry.node, yaml_tree.Scalar):
            instead = ", as in 20s or 0..300ms" if entry.key in ENVIRONMENT else ""
            raise self._error(entry, f"must be a single value{instead}")
        if entry.node.null:
            raise self._error(entry, "has no value; give one, or remove the key for the default")
        return self._given(entry, entry.node.text, key)

    def _given(self, entry: yaml_tree.Entry, value: str, key: str) -> Given:
        return Given(key, value, Origin("file", "", self._file, entry.line))

    def _put(self, target: dict[str, Given], given: Given) -> None:
        if given.key in target:
            first = target[given.key]
            same_file = first.origin.file == given.origin.file
            also = f"in line {first.origin.line}" if same_file else f"at {place(first)}"
            message = f"is given twice, also {also}; keep one"
            raise complaint(Given(shown_key(given.key), "", given.origin), message)
        target[given.key] = given

    def _unknown(self, entry: yaml_tree.Entry, what: str, choices: Iterable[str]) -> DeploymentError:
        return self._with_choices(unknown(self._given(entry, "", entry.key), what, choices), choices)

    @staticmethod
    def _with_choices(error: DeploymentError, choices: Iterable[str]) -> DeploymentError:
        error.message = with_choices(error.message, choices)
        return error

    def _error(self, entry: yaml_tree.Entry, message: str) -> DeploymentError:
        return DeploymentError(message, file=self._file, line=entry.line, key=shown_key(entry.key))
