"""Known truths of some items: what they say about a method's estimate, and which to ask for."""
