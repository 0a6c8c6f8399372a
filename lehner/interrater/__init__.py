"""Coefficients of agreement, with standard errors."""
