"""Certificates: files that prove verdicts to a checker that needs nothing of this project (docs/certificates.md)."""
