"""The likelihood of the ratings, summed over the unknown true categories."""
