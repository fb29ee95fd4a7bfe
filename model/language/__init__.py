"""The language of a model: variables with finite domains, guarded actions, clocks, systems, logs, names."""

import z3.z3

from proofka.model.durations import Duration, Quantity
from proofka.model.language.actions import Action, ActionKey, Effect, Sentence
from proofka.model.language.canonical import Permutation, Ranked, Symmetry, Unread
from proofka.model.language.clocks import Clock, ClockKey, Need, Needs
from proofka.model.language.logs import Log, Slot, log
from proofka.model.language.system import Display, TransitionSystem, describe
from proofka.model.language.variables import State, Variable, flag, present, variables_of

__all__ = [
    "Action",
    "ActionKey",
    "Clock",
    "ClockKey",
    "Display",
    "Duration",
    "Effect",
    "Log",
    "Need",
    "Needs",
    "Permutation",
    "Quantity",
    "Ranked",
    "Sentence",
    "Slot",
    "State",
    "Symmetry",
    "TransitionSystem",
    "Unread",
    "Variable",
    "describe",
    "flag",
    "log",
    "present",
    "variables_of",
]

# Z3's Python layer checks the arguments of every call before Z3 does: a third of the time to build terms.
z3.z3.Z3_DEBUG = False
