"""Log densities of the models and their gradients, compiled once for all numbers of raters."""
