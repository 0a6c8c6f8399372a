"""The K-properties: tests of them, the bias if they are violated, and estimates adjusted for it."""
