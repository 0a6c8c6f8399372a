"""Small simulations of error and coverage, and what came out; the large ones are studies."""
