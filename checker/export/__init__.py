"""Transition systems for other tools: TLA+ for TLC, Promela for SPIN, SMT-LIB for solvers, graphs of states."""
