"""The server of the Model Context Protocol: names, descriptions and limits of the tools."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import anyio
from anyio import to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from proofka.checker.cli.assistants.answers import Answer
from proofka.checker.cli.assistants.errors import CallError
from proofka.checker.cli.assistants.tools import Tools
from proofka.checker.cli.assistants.workspace import MOST_FAULTS, Question, Workspace
from proofka.checker.solver import SolverUndecided
from proofka.checker.traces import ReplayMismatch
from proofka.model.input.input_error import InputError

INSTRUCTIONS = (
    "Proofka decides by model checking whether a Kafka configuration can lose, duplicate or reorder records. Ask check "
    "first; then trace for one of the numbered counterexamples, and explain or repair for changes. A verdict holds "
    "only within the faults and sizes that stand beside it: repeat these limits when you cite a verdict."
)

READS_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, destructive_hint=False, open_world_hint=False)

File = Annotated[
    str,
    Field(
        description="A deployment in YAML, or a file or folder with existing configuration, below the server's root."
    ),
]
Faults = Annotated[
    int | None,
    Field(
        ge=0,
        le=MOST_FAULTS,
        description="Explore every combination of up to this number of faults; leave it out for every single fault, "
        "and larger sets in the time that is left.",
    ),
]
Require = Annotated[
    list[str] | None,
    Field(description="Names of the required properties; leave it out for those that the file requires."),
]
Kafka = Annotated[
    str | None, Field(description="Release of the brokers, such as 4.0, where no file names the release.")
]
Assume = Annotated[
    list[str] | None, Field(description="Assumptions about the application, such as processing=handed-off.")
]


def server_of(workspace: Workspace, version: str) -> MCPServer[Any]:
    """Return a server whose tools answer from a workspace. ``version``: that of Proofka."""
    server: MCPServer[Any] = MCPServer(
        "proofka", title="Proofka", instructions=INSTRUCTIONS, version=version, log_level="WARNING"
    )
    tools, turn = Tools(workspace), anyio.Lock()

    async def answered(work: Callable[[threading.Event], Answer]) -> Answer:
        """Do the work of one call in a thread, one call after the other; the time limit ends the work."""
        stop = threading.Event()
        async with turn:
            timer = threading.Timer(workspace.seconds, stop.set)
            timer.daemon = True
            timer.start()
            try:
                return await to_thread.run_sync(partial(work, stop), abandon_on_cancel=True)
            except (CallError, InputError, SolverUndecided, ReplayMismatch) as error:
                raise ToolError(str(error)) from error
            finally:
                stop.set()
                timer.cancel()

    @server.tool(annotations=READS_ONLY)
    async def check(
        file: File, faults: Faults = None, require: Require = None, kafka: Kafka = None, assume: Assume = None
    ) -> Answer:
        """Decide for each property whether a Kafka configuration can violate it, and list the counterexamples."""
        asked = _question(file, faults, require, kafka, assume)
        return await answered(lambda stop: tools.check(asked, stop))

    @server.tool(annotations=READS_ONLY)
    async def trace(
        file: File,
        number: Annotated[int, Field(ge=1, description="The number of the trace in the answer of check.")],
        faults: Faults = None,
        require: Require = None,
        kafka: Kafka = None,
        assume: Assume = None,
    ) -> Answer:
        """Tell one counterexample step by step. Pass the same arguments as to check."""
        asked = _question(file, faults, require, kafka, assume)
        return await answered(lambda stop: tools.trace(asked, number, stop))

    @server.tool(annotations=READS_ONLY)
    async def explain(
        file: File, faults: Faults = None, require: Require = None, kafka: Kafka = None, assume: Assume = None
    ) -> Answer:
        """Tell the reason of each violation, and the single changes of settings that prevent the violation."""
        asked = _question(file, faults, require, kafka, assume)
        return await answered(lambda stop: tools.explain(asked, stop))

    @server.tool(annotations=READS_ONLY)
    async def repair(
        file: File, faults: Faults = 1, require: Require = None, kafka: Kafka = None, assume: Assume = None
    ) -> Answer:
        """Find the smallest sets of changes that make all required properties hold, each checked, with its costs."""
        asked = _question(file, faults, require, kafka, assume)
        return await answered(lambda stop: tools.repair(asked, stop))

    @server.tool(annotations=READS_ONLY)
    async def defects(
        word: Annotated[
            str,
            Field(description="An id (KAFKA-18991), a client (librdkafka), one with a release, or a release (3.9)."),
        ],
    ) -> Answer:
        """List known defects of Kafka's brokers and clients, with what they break and what Proofka does about each."""
        return await answered(lambda stop: tools.defects(word))

    @server.tool(annotations=READS_ONLY)
    async def claim(
        number: Annotated[str, Field(description="The number of a published claim, such as C005, F01 or I016.")],
    ) -> Answer:
        """Decide a published claim about Kafka's reliability by exploring the deployments that the claim is about."""
        return await answered(lambda stop: tools.claim(number, stop))

    @server.tool(annotations=READS_ONLY)
    async def word(
        word: Annotated[str, Field(description="A property, setting, fault, assumption, code or term of Proofka.")],
    ) -> Answer:
        """Explain a word of Proofka's answers."""
        return await answered(lambda stop: tools.word(word))

    return server


def _question(
    file: str, faults: int | None, require: list[str] | None, kafka: str | None, assume: list[str] | None
) -> Question:
    return Question(file, faults, tuple(require or ()), kafka, tuple(assume or ()))
