"""An empirical prior: what crowds with known truth say of crowds without."""
