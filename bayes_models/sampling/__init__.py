"""From ratings to draws of the posterior distribution."""
