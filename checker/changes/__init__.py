"""Changes of a repository: the pipelines that changed files touch, and what is new in their verdicts (docs/ci.md)."""
