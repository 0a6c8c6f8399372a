"""By how much the K-properties fail, fitted to the ratings, and estimates adjusted for it."""
