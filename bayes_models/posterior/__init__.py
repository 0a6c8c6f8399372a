"""From draws to estimates, labels, diagnostics and checks."""
