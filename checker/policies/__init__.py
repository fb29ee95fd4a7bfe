"""Rules of policies over settings: read, decided over a matrix of deployments, and derived."""
