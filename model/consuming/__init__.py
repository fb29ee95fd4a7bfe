"""The consumer's client, application and group: polls, commits, restarts, membership (semantics 12)."""
