"""Tables of facts about Kafka, as CSV: defaults by release, reasons to ignore a setting, names of the past."""
