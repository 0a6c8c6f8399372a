"""An empirical prior: what crowds with gold labels say of those without."""
