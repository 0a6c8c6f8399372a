"""Whether raters share mistakes, as far as their ratings show it."""
