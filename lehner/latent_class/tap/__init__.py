"""The t-a-p model of the Kappa Zoo by maximum likelihood."""
