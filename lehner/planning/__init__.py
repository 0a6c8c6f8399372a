"""How many items an estimate needs."""
