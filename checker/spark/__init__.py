"""Audits of many deployments, and state spaces larger than one machine: the same kernel on the executors of a Spark
session.
"""
