"""The PDF for a design review, with a first page that is complete in itself."""

from proofka.reports.pdf.review import to_pdf

__all__ = ["to_pdf"]
