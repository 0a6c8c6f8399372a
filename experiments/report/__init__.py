"""Results for people: tables, screens, pages, sentences and figures, all views of one table."""
