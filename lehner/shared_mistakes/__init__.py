"""How estimates change if some items mislead the raters, and perhaps also the system."""
