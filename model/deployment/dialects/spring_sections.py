"""The documents of a Spring application, in all its files: those that count together, and the profiles for which they
count.

A document counts if its ``spring.config.activate`` holds (``ConfigDataProperties.Activate``). Of these, a later
document outranks an earlier one, and a profile's file outranks all documents of files without a profile
(``ConfigDataEnvironment``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.application_files import ALONE, APPLICATION, BOOTSTRAP, UNREAD, name_of, rank
from proofka.model.deployment.dialects.document import YAML, Document
from proofka.model.deployment.dialects.references import References
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.dialects.spring_names import documents_in, given_again, names_in, relaxed
from proofka.model.deployment.dialects.spring_profiles import DEFAULT, Condition, condition_of, expanded
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.values import has_placeholder

ACTIVATE = ("spring", "config", "activate")
ON_PROFILE = (*ACTIVATE, "onprofile")
IMPORT = ("spring", "config", "import")
PROFILES = ("spring", "profiles")

MOST_CHOICES = 200
"""The largest number of profiles of an application."""

MOST_VALUES = 200_000
"""The largest number of values that are examined for all profiles of an application together."""

AGAIN = "is repeated in line {}: Spring Boot does not start with a key twice in YAML (DuplicateKeyException); keep one"
IMPORTS = "imports settings that are not read here and can outrank these"
PLATFORM = "counts only under the condition spring.config.activate.{}, which is unknown here"
ANOTHER_CONTEXT = "counts only with Spring Cloud's bootstrap context, and then below application.*; move it there"
OUT_OF_ORDER = (
    "follows a document with spring.profiles, which it outranks only from Spring Boot 2.4 on; "
    "use spring.config.activate.on-profile there"
)
TOGETHER = "counts for several active profiles with files of their own, whose precedence is unknown"

Ours = Callable[[Said], bool]
"""A function that tells whether a value concerns Kafka's clients."""

Settled = Callable[[Said, Document], bool]
"""A function that tells whether a value is present in any case; if not, it was accounted for."""


@dataclass(frozen=True)
class Section:
    """One document: its values, those of Kafka's clients among them, its condition, and the profile of its file."""

    values: tuple[Said, ...]
    ours: tuple[Said, ...]
    condition: Condition
    profile: str
    main: bool
    """The document is in the file that is read, not in one beside it."""


@dataclass
class Sections:
    """All documents of an application; a later one outranks an earlier one, after the order of profiles."""

    file: str
    profile: str
    all: list[Section] = field(default_factory=list)
    include: tuple[str, ...] = ()
    active: tuple[str, ...] = ()
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    counted: set[int] = field(default_factory=set)
    """The values that count for some choice, by identity."""

    def counting(self, profiles: Sequence[str]) -> list[Section]:
        """Return the documents that count with these profiles, lowest precedence first."""
        active = expanded((*self.include, *profiles), self.groups)
        order = {name: at for at, name in enumerate(("", *(active or (DEFAULT,))))}
        found = [one for one in self.all if one.profile in order and one.condition.holds(active)]
        return sorted(found, key=lambda one: order[one.profile])

    def choices(self, accounts: Accounts) -> Iterator[tuple[tuple[str, ...], list[Section]]]:
        """Yield the choices of profiles that make a difference, each with its documents; the choice without profiles
        comes first.

        Documents that count for none of the choices are rejected.
        """
        own = () if self.profile in ("", DEFAULT, *self.include) else (self.profile,)
        plain = self.counting(own)
        tried = {own}
        self._count(plain)
        yield own, plain
        values = 0
        for number, names in enumerate(self._wanted()):
            if number == MOST_CHOICES:
                raise DeploymentError(f"has more than {MOST_CHOICES} choices of profiles", file=self.file)
            together = tuple(dict.fromkeys((*own, *(name for name in names if name not in self.include))))
            found = self.counting(together)
            same = _values_in(found) == _values_in(plain)
            if same or together in tried or not any(one.main for one in found):
                continue
            tried.add(together)
            self._count(found)
            values += sum(len(one.values) for one in found)
            if values > MOST_VALUES:
                what = f"has more than {MOST_VALUES} values over all profiles"
                raise DeploymentError(what, file=self.file)
            files = {one.profile for one in found if one.ours and one.profile in together}
            if len(files) > 1 and together != self.active:
                _reject((one for one in found if one.profile in files), TOGETHER, accounts)
            yield together, found
        for section in (one for one in self.all if one.main and one.ours):
            if section.condition.unknown:
                _reject((section,), section.condition.unknown, accounts)
            elif not any(id(said) in self.counted for said in section.ours):
                _reject((section,), "counts for profiles in a way that cannot be followed", accounts)

    def account(self, sort: Callable[[Said], None]) -> None:
        """Sort the values that count for none of the choices, so that each value of the file is accounted for."""
        for said in (said for section in self.all if section.main for said in section.values):
            if id(said) not in self.counted:
                sort(said)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about other files whose values count, or about a profile's file without others."""
        others = sorted({said.file for one in self.all for said in one.ours if said.file and id(said) in self.counted})
        if others:
            return (f"read with {', '.join(others)}, as one application",)
        return (ALONE,) if self.profile and not any(not one.main for one in self.all) else ()

    def _count(self, sections: Iterable[Section]) -> None:
        self.counted |= {id(said) for one in sections for said in one.values}

    def _wanted(self) -> Iterator[tuple[str, ...]]:
        """Yield each profile alone, those that a document requires together, and those that the application
        activates."""
        with_ours = [one for one in self.all if one.main and one.ours and one.condition.any_of]
        names = dict.fromkeys(name for one in with_ours for name in one.condition.names)
        yield from ((name,) for name in names)
        for one in with_ours:
            if not any(one.condition.holds((name,)) for name in one.condition.names):
                yield from one.condition.wanted
        if not self.profile and self.active:
            yield self.active


def _values_in(sections: Iterable[Section]) -> tuple[Said, ...]:
    return tuple(said for one in sections for said in one.ours)


def _reject(sections: Iterable[Section], reason: str, accounts: Accounts) -> None:
    for section in sections:
        for said in section.ours:
            accounts.reject(said, reason)


def sections_of(
    document: Document, accounts: Accounts, ours: Ours, settled: Callable[[Said, Document], bool]
) -> Sections:
    """Return the documents of the file and of the files that Spring reads with it. Raises DeploymentError."""
    name = name_of(document.name)
    of_file = "" if name is None else name.profile
    sections = Sections(document.file, of_file)
    references = _references(document, accounts)
    for file, reason in document.unread:
        # An unreadable file has no line, so the error names its first.
        accounts.reject(Said((file,), "", 1, file=file), UNREAD.format(reason))
    for one in sorted((document, *document.others), key=rank):
        main = one is document
        its = name_of(one.name)
        if name is not None and its is not None and its.stem != name.stem:
            if its.stem == BOOTSTRAP and name.stem == APPLICATION:
                _leave_out(one, accounts, ours)
            continue
        try:
            _add(one, main, accounts, ours, settled, sections, references)
        except DeploymentError as error:
            if main:
                raise
            said = Said((one.name,), "", error.line or 1, file=one.file)
            accounts.reject(said, UNREAD.format(error.message))
    return sections


def _references(document: Document, accounts: Accounts) -> References:
    """Return the application's values under names to which its values can refer."""
    references = References(lambda name: relaxed(names_in(name)), accounts.fillings)
    for one in (document, *document.others):
        name = name_of(one.name)
        plain = name is None or not name.profile
        try:
            for values in documents_in(one):
                keys = [relaxed(said.path) for said in values]
                always = plain and not any(key[:3] == ACTIVATE or key == PROFILES for key in keys)
                for key, said in zip(keys, values, strict=True):
                    references.add(key, said.value, always)
        except DeploymentError:
            continue  # The error is reported where the document is read.
    return references


def _leave_out(document: Document, accounts: Accounts, ours: Ours) -> None:
    try:
        for values in documents_in(document):
            for said in values:
                if ours(said):
                    accounts.reject(replace(said, file=document.file), ANOTHER_CONTEXT)
    except DeploymentError:
        return


def _add(
    document: Document,
    main: bool,
    accounts: Accounts,
    ours: Ours,
    settled: Settled,
    sections: Sections,
    references: References,
) -> None:
    file = "" if main else document.file
    name = name_of(document.name)
    profile = "" if name is None else name.profile
    old = False
    if document.suffix in YAML:
        for said, line in given_again(document.yaml):
            accounts.reject(replace(said, file=file), AGAIN.format(line))
    for values in documents_in(document):
        kept = accounts.last_of_each((replace(said, file=file) for said in values), "Spring")
        kept = [references.followed(said) for said in kept if settled(said, document)]
        condition = _condition(kept, accounts)
        its = tuple(said for said in kept if ours(said))
        if old and its and not condition.any_of:
            _reject((Section((), its, condition, profile, main),), OUT_OF_ORDER, accounts)
        old = old or bool(its and condition.any_of and not any(relaxed(one.path)[:3] == ACTIVATE for one in kept))
        _profiles(kept, condition, not profile, accounts, sections)
        sections.all.append(Section(tuple(kept), its, condition, profile, main))


def is_of_profiles(names: tuple[str, ...]) -> bool:
    """Tell whether a key, in its relaxed form, is about profiles: their conditions, their activation, or imports."""
    return names[:3] == ACTIVATE or names[:2] == PROFILES or names[:3] == IMPORT


def _condition(values: Iterable[Said], accounts: Accounts) -> Condition:
    texts: list[str] = []
    for said in values:
        names = relaxed(said.path)
        if names[:4] == ON_PROFILE or (names[:2] == PROFILES and "".join(names[2:]).isdigit()) or names == PROFILES:
            accounts.ignore(said, "names the profile of the following settings")
            texts += () if said.null else (accounts.text(said),)
        elif names[:3] == ACTIVATE and not said.null:
            accounts.ignore(said, "determines where the following settings count")
            return Condition(unknown=PLATFORM.format(said.path[-1]))
    return condition_of(texts)


def _profiles(
    values: Iterable[Said], condition: Condition, plain: bool, accounts: Accounts, sections: Sections
) -> None:
    """Read the application's own settings about profiles and imports."""
    listed: dict[tuple[str, ...], list[str]] = {}
    for said in values:
        names = relaxed(said.path)
        if names[:3] == IMPORT and not said.null:
            accounts.reject(said, IMPORTS)
        elif names[:3] == (*PROFILES, "active"):
            accounts.ignore(said, "determines the profiles that are active by default")
            listed.setdefault(("active",), []).extend(_names_in(accounts.text(said)))
        elif names[:3] in ((*PROFILES, "include"), (*PROFILES, "group")) and not said.null:
            text = accounts.text(said)
            if has_placeholder(text) or "@" in text or condition.any_of or condition.unknown or not plain:
                accounts.reject(said, "activates profiles in a way that cannot be followed")
                continue
            accounts.ignore(said, "determines which profiles are active together")
            key = ("include",) if names[2] == "include" else ("group", *said.path[3:4])
            listed.setdefault(key, []).extend(_names_in(text))
    for key, profiles in listed.items():
        if key == ("include",):
            sections.include = tuple(dict.fromkeys((*sections.include, *profiles)))
        elif key == ("active",):
            sections.active = () if condition.any_of else tuple(profiles)
        elif len(key) > 1:
            sections.groups[key[1]] = tuple(profiles)


def _names_in(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
