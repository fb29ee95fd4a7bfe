"""Numbers: the expected number of violations a year, from rates of faults and smallest fault sets (docs/risk.md)."""
