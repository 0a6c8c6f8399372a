"""Labels: the probability of each category for each item, quickly and for crowds of any kind."""
