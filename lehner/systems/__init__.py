"""Several systems on the same items, compared."""
