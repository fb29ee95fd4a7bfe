"""Reserved words of the target languages, and words that every written file uses."""

from __future__ import annotations

_TLA = """
    ACTION ASSUME ASSUMPTION AXIOM BOOLEAN BY CASE CHOOSE CONSTANT CONSTANTS COROLLARY DEF DEFINE DEFS DOMAIN ELSE
    ENABLED EXCEPT EXTENDS FALSE HAVE HIDE IF IN INSTANCE LAMBDA LEMMA LET LOCAL MODULE NEW OBVIOUS OMITTED ONLY OTHER
    PICK PROOF PROPOSITION PROVE QED RECURSIVE SF_ STATE STRING SUBSET SUFFICES TAKE TEMPORAL THEN THEOREM TRUE
    UNCHANGED UNION USE VARIABLE VARIABLES WF_ WITH WITNESS
    Int Nat Init Next Spec vars
"""
TLA_RESERVED = frozenset(_TLA.split())

_PROMELA = """
    accept active always arrow assert atomic auto bit bool break buchi byte c_code c_decl c_expr c_state c_track case
    chan char const continue d_proctype d_step default do double else empty enabled end enum equivalent eval eventually
    extern false fi final float for full get_priority goto hidden if implies in init inline int len local long ltl main
    mtype nempty never next nfull notrace now np_ od of pc_value pid printf printm priority proctype progress provided
    register release return run select set_priority short show signed sizeof skip static strong_until stronguntil
    struct switch this timeout trace true typedef union unless unsigned until void volatile weak_until weakuntil while
    xr xs
"""
_SPIN = """
    cas final getframe max min mix onstack_now onstack_put onstack_zap pptr pthread_equal q_sz qptr rand rot trans uchar
    uint ulong ushort wasnew
"""
PROMELA_RESERVED = frozenset([*_PROMELA.split(), *_SPIN.split()])
"""Words of Promela and of C (SPIN generates C), and names that its verifiers use."""

_SMT = """
    abs and as assert distinct div domain exists false forall init ite let match mod not or par push pop trans true xor
"""
SMT_RESERVED = frozenset(_SMT.split())
