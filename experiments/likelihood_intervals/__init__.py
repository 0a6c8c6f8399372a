"""Intervals by maximum likelihood: how often they hold with few items, by simulation."""
