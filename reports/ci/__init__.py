"""Reports for pull requests: a comment in Markdown, annotations of GitHub, and code quality of GitLab."""
