"""Estimates by one or several methods: the registry of methods, and a result for each."""
