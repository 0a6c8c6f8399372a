"""Whether raters share mistakes, as far as their ratings can tell."""
