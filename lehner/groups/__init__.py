"""Subgroups of items: the accuracy of system and raters in each, and differences."""
