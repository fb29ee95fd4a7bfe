"""Claims of the literature about the reliability of Kafka, as questions that a checker can decide.

``tables/*.yaml`` have the claims, each with deployments and the claimed verdict on a property. No table has an answer.
"""
