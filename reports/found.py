"""The configurations of a folder: the format of each file, and the number of used, ignored and rejected values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from proofka.model.deployment.dialects.accounting import Account, Entry, Fate
from proofka.model.deployment.dialects.component import Component
from proofka.model.deployment.dialects.finding import Findings
from proofka.model.deployment.dialects.other_products import Mention
from proofka.model.deployment.dialects.pairing import Paired, Pipeline, Placed
from proofka.reports import lines, wording

STYLES = {Fate.USED: "", Fate.IGNORED: "dim", Fate.REJECTED: "bold"}

MOST_MENTIONING = 3
"""Largest number of named files that mention Kafka in no known form; the others are counted."""


class FoundReport:
    """The files in one or two lines each, the files that could not be read, and the pipelines by number.

    ``notes``: print the notes of the readers of files as well.
    """

    def __init__(self, findings: Findings, paired: Paired, accounts: Sequence[Account], *, notes: bool = True) -> None:
        self.findings = findings
        self.paired = paired
        self.accounts = accounts
        self.notes = notes

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        yield from self.heading(width)
        yield from self.not_read(width)
        for account in self.accounts:
            yield from self._file(account, width)
        for told in (*self._own(), *self._unread()):
            yield from lines.wrapped(told, width, rest="    ")
        if self.findings.links:
            links = wording.listed([self._short(link) for link in self.findings.links])
            yield from lines.wrapped(f"{links}: links to folders are not followed", width, rest="    ")
        reasons: dict[str, list[Placed]] = {}
        for placed, reason in self.paired.unpaired:
            reasons.setdefault(reason, []).append(placed)
        for reason, ones in reasons.items():
            clients = wording.listed([f"{one.component.name} of {self._short(one.file)}" for one in ones])
            yield Text()
            yield from lines.wrapped(f"{clients}: {reason}", width, rest="    ")
        if self.paired.pipelines:
            yield Text(f"\n{wording.counted(len(self.paired.pipelines), 'pipeline')}", style="bold")
        for number, pipeline in enumerate(self.paired.pipelines, start=1):
            told = f"{pipeline.name}: {self._made_of(pipeline)}"
            yield from lines.wrapped(told, width, first=f"{number:>3}  ", rest="     ")

    def heading(self, width: int) -> Iterator[Text]:
        """Yield the numbers of deployments, configurations and other files."""
        own, read = self.findings.deployments, self.accounts
        counts = [wording.counted(len(own), "deployment")] if own else []
        counts += [wording.counted(len(read), "configuration")] if read or not own else []
        others = f", {wording.counted(self.findings.others, 'other file')} passed over" if self.findings.others else ""
        yield from lines.wrapped(f"{self.findings.place}: {', '.join(counts)}{others}", width, style="bold")

    def not_read(self, width: int) -> Iterator[Text]:
        """Yield a line that names the files which mention Kafka in no known form, if any, with the product of each."""
        if names := [self._mention(mention) for mention in self.findings.mentioning]:
            more = len(names) - MOST_MENTIONING
            shown = [*names[:MOST_MENTIONING], *([f"{more} more"] if more > 0 else [])]
            verb = "mentions" if len(names) == 1 else "mention"
            told = f"not read: {wording.listed(shown)} ({verb} Kafka; no known form)"
            yield from lines.wrapped(told, width, rest="    ")

    def _mention(self, mention: Mention) -> str:
        product = "" if mention.product is None else f" ({mention.product.name})"
        return self._short(mention.file) + product

    def files(self) -> tuple[tuple[str, bool], ...]:
        """Return each file as a line, with True if a value in the file was rejected; such files come first."""
        read = [(self._counted(account), account.count(Fate.REJECTED) > 0) for account in self.accounts]
        every = [*((told, True) for told in self._unread()), *read, *((told, False) for told in self._own())]
        return tuple(sorted(every, key=lambda one: not one[1]))

    def _own(self) -> Iterator[str]:
        return (f"{self._short(str(path))}: a deployment" for path in self.findings.deployments)

    def _unread(self) -> Iterator[str]:
        for unread in self.findings.unread:
            where = f"line {unread.line}: " if unread.line is not None else ""
            yield f"{self._short(unread.file)}: cannot be read: {where}{unread.reason}"

    def _counted(self, account: Account) -> str:
        counts = [(account.count(fate), fate) for fate in Fate]
        told = ", ".join(f"{count} {fate}" for count, fate in counts if count) or "no values"
        return f"{self._short(account.found.file)}: {account.found.dialect}; {told}"

    def _file(self, account: Account, width: int) -> Iterator[Text]:
        found = account.found
        yield from lines.wrapped(self._counted(account), width, rest="    ")
        for component in found.components:
            yield from lines.wrapped(described(component), width, first="    ", rest="      ")
        for note in found.notes if self.notes else ():
            yield from lines.wrapped(note, width, first="    ", rest="      ", style="dim")

    def _made_of(self, pipeline: Pipeline) -> str:
        """Return the files of a pipeline by component, and the components that have default values."""
        members: tuple[tuple[str, Placed | None], ...] = (
            ("producer", pipeline.producer),
            ("consumer", pipeline.consumer),
            ("topic", pipeline.topic),
            ("brokers", pipeline.brokers),
        )
        files: dict[str, list[str]] = {}
        for role, placed in members:
            if placed is not None:
                files.setdefault(self._short(placed.file), []).append(role)
        given = [f"{wording.listed(roles)} of {file}" for file, roles in files.items()]
        absent = [role for role, placed in members if placed is None]
        return "; ".join(given) + (f"; defaults for {wording.listed(absent)}" if absent else "")

    def _short(self, file: str) -> str:
        """Return the name of a file relative to the start of the search."""
        place = self.findings.place
        return file if file == place else file.removeprefix(place.rstrip("/") + "/")


class FirstFound:
    """A :class:`FoundReport` in at most ``most`` lines, files with rejected values first.

    ``more``: the command that prints the complete report.
    """

    def __init__(self, report: FoundReport, most: int, more: str) -> None:
        self.report = report
        self.most = most
        self.more = more

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self._told(console, options)

    def lines(self, out: Console) -> int:
        """Return the number of lines of this report."""
        return len(self._told(out, out.options))

    def _told(self, console: Console, options: ConsoleOptions) -> list[Text]:
        whole = [one for one in self.report.__rich_console__(console, options) if isinstance(one, Text)]
        told = [line for one in whole for line in one.split() if line.plain.strip()]
        if len(told) <= self.most:
            return told
        width = options.max_width
        first = lines.first_of([list(self.report.heading(width))], 1, width)
        files = self.report.files()
        first += (mentioning := lines.first_of([list(self.report.not_read(width))], 1, width))
        shown = files[: self.most - 2 - len(mentioning)]
        first += [
            line
            for told, _ in shown
            for line in lines.first_of([list(lines.wrapped(told, width, rest="    "))], 1, width)
        ]
        left = files[len(shown) :]
        wrong = sum(is_rejected for _, is_rejected in left)
        of_them = f", {wrong} of them with rejected values" if wrong else ""
        rest = f"{len(left)} more{of_them}" if left else "more"
        return [*first, Text(f"  {rest}: {self.more}", style="dim", no_wrap=True, overflow="ignore")]


class AccountReport:
    """Every value of one file, with its fate: used, ignored or rejected."""

    def __init__(self, account: Account) -> None:
        self.account = account

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        found = self.account.found
        yield from lines.title(f"{found.file}: {found.dialect}", options.max_width)
        table = Table.grid(padding=(0, 2))
        table.add_column(justify="right", no_wrap=True)
        table.add_column(overflow="fold")
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for entry in self.account.entries:
            table.add_row(*self._row(entry))
        yield lines.Unpadded(table)

    @staticmethod
    def _row(entry: Entry) -> Iterator[Text]:
        style = STYLES[entry.fate]
        for cell in (str(entry.line), entry.name, str(entry.fate), entry.what):
            yield Text(wording.plain(cell), style=style)


def described(component: Component) -> str:
    """Return a component in words: ``producer orders-out, of librdkafka, topic orders``."""
    client = f", of {component.client.value}" if component.client is not None else ""
    topics = f", topic {', '.join(component.topics)}" if component.topics else ""
    release = f", Kafka {component.kafka.value}" if component.kafka is not None else ""
    name = f" {component.name}" if component.name else ""
    return f"{component.role}{name}{client}{topics}{release}"
