"""Decide whether a run is possible in time: bounds on the time between steps, times for the steps, or timing lemmas.

Reference: R. Dechter, I. Meiri, J. Pearl, "Temporal constraint networks", Artificial Intelligence 49 (1991).
"""
