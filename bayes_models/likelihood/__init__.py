"""How likely the ratings are, with the true categories summed out."""
