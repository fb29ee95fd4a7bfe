"""Whether a run can happen in time: bounds on the time between its steps, times for them, lemmas where there are none.

Reference: R. Dechter, I. Meiri, J. Pearl, "Temporal constraint networks", Artificial Intelligence 49 (1991).
"""
