"""Size and power of the tests of the K-properties, and their results."""
