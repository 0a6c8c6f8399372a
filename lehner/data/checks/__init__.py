"""Data that look fine and are not: refused where that is sure, else said."""
