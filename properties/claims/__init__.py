"""What the literature claims about Kafka's reliability, as questions that a checker can decide.

``tables/*.yaml`` hold the claims: each with deployments, and what the claim says of a property there. No table holds an
answer.
"""
