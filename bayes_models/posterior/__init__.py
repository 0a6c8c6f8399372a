"""What is computed from posterior draws: estimates, labels, diagnostics and checks."""
