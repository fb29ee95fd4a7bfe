"""Tables of facts about Kafka, as CSV: defaults by release, reasons for ignoring settings, old names."""
