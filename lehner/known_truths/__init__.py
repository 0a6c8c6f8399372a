"""Gold labels: estimates corrected by them, and which items an expert should label."""
