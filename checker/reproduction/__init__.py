"""Reproduction: one trace of the model, driven through a real cluster and a real client.

A plan (:mod:`~checker.reproduction.plan`) is plain data made of a deployment and a trace. A replay carries the plan out
step by step (:mod:`~checker.reproduction.steps`), compares what the cluster shows with the model's state after each
step, and ends with an outcome: reproduced, diverged, or not steerable.
"""
