"""The state graph of a small system, as DOT for Graphviz or GraphML for graph tools."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO

import networkx
import numpy as np

from proofka.checker.export.exported import Exported
from proofka.checker.kernel.layout import Layout, lay_out
from proofka.checker.kernel.native import compile_kernel
from proofka.model.input.input_error import InputError
from proofka.model.language import State, TransitionSystem, describe

MOST_STATES = 2_000
"""Default limit of states; a larger graph does not help a reader."""


class TooManyStates(InputError, ValueError):
    """The graph has more states than the limit."""

    def __init__(self, name: str, most: int) -> None:
        super().__init__(
            f"{name} has more than {most} states, too many for a graph: allow fewer faults, name fewer properties or "
            f"fewer kinds of fault, make the bounds smaller, or raise the limit"
        )


def state_graph(exported: Exported, most: int = MOST_STATES) -> networkx.MultiDiGraph:
    """Return every reachable state, numbered from 0 in breadth-first order, with its steps.

    A state has a ``label`` (its differences from the initial state, in words), ``initial``, and ``violates`` (the
    violated properties, in one string). A step has the ``label`` of its action. Raise :class:`TooManyStates`.
    """
    system = exported.system
    graph = networkx.MultiDiGraph(name=exported.name)
    explorer = _Explorer(exported)
    first = describe_state(system, system.initial)
    numbers: dict[tuple[int, ...], int] = {}
    frontier = [explorer.initial]
    numbers[explorer.initial] = 0
    for row in frontier:
        words = describe_state(system, explorer.state(row))
        differs = [f"{what}: {value}" for what, value in words.items() if first[what] != value]
        initial = numbers[row] == 0
        label = "\n".join(differs) or ("initial state" if initial else "as at first")
        graph.add_node(numbers[row], label=label, initial=initial, violates=", ".join(explorer.violated(row)))
        for action, successor in explorer.successors(row):
            if successor not in numbers:
                if len(numbers) >= most:
                    raise TooManyStates(exported.name, most)
                numbers[successor] = len(numbers)
                frontier.append(successor)
            graph.add_edge(numbers[row], numbers[successor], label=action)
    return graph


def describe_state(system: TransitionSystem, state: State) -> Mapping[str, str]:
    """Return a state in the system's own words; variables without words appear by name."""
    shown = {variable for display in system.displays for variable in display.variables}
    rest = {variable.name: str(state[variable.name]) for variable in system.variables if variable not in shown}
    return {**describe(system, state), **rest}


class _Explorer:
    """The steps and violations of single packed states."""

    def __init__(self, exported: Exported) -> None:
        self.actions = [str(action) for action in exported.system.actions]
        self.names = list(exported.violated)
        self.layout: Layout = lay_out(exported.system.variables)
        groups = {"step": list(enumerate(exported.system.actions))}
        self._kernel = compile_kernel(self.layout, groups, list(exported.violated.values()))
        self.initial = self._key(self.layout.pack(exported.system.initial))

    @staticmethod
    def _key(row: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> tuple[int, ...]:
        return tuple(int(word) for word in row)

    def state(self, row: tuple[int, ...]) -> State:
        return self.layout.unpack(np.array(row, dtype=np.uint64))

    def successors(self, row: tuple[int, ...]) -> list[tuple[str, tuple[int, ...]]]:
        """Return the enabled actions, with the states that they lead to."""
        successors = self._kernel.successors("step", np.array(row, dtype=np.uint64))
        found = sorted((int(successor[-1]), self._key(successor[:-1])) for successor in successors)
        return [(self.actions[label], successor) for label, successor in found]

    def violated(self, row: tuple[int, ...]) -> list[str]:
        """Return the properties that the state violates."""
        bits = self._kernel.inspect(np.array(row, dtype=np.uint64))
        return [name for bit, name in enumerate(self.names) if bits >> bit & 1]


def as_dot(graph: networkx.MultiDiGraph) -> str:
    """Return the graph for Graphviz: the initial state in bold, violating states in red."""
    lines = [f"digraph {_quoted(graph.name)} {{", "    node [shape=box, fontsize=10];", "    edge [fontsize=9];"]
    for number, state in graph.nodes(data=True):
        label, style = state["label"], ""
        if state["violates"]:
            label += f"\nviolates {state['violates']}"
            style = ", color=red, fontcolor=red"
        if state["initial"]:
            style += ", style=bold"
        lines.append(f"    {number} [label={_quoted(label)}{style}];")
    for source, target, step in graph.edges(data=True):
        lines.append(f"    {source} -> {target} [label={_quoted(step['label'])}];")
    return "\n".join([*lines, "}"]) + "\n"


def as_graphml(graph: networkx.MultiDiGraph) -> str:
    """Return the graph in GraphML."""
    written = BytesIO()
    networkx.write_graphml_xml(graph, written)
    return written.getvalue().decode("utf-8") + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
