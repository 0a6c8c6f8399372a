"""Tests; a package of its own, so that no other `tests` that is installed takes its place."""
