"""How well known truths of some items correct an estimate."""
