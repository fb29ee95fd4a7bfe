"""The project file: the pipelines of a repository, their requirements, and what is accepted (docs/project-file.md)."""
