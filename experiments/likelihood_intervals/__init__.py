"""Coverage of intervals by maximum likelihood with few items, by simulation."""
