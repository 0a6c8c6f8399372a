"""Files written whole, and tables for LaTeX."""
