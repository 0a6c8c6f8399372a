"""Labels: the probability of each category for each item, computed quickly, for any crowd."""
