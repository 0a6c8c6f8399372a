"""Results for people: tables, figures, one screen, one page, and files."""
