"""Whether the algebra's bias can be adjusted for: simulation, and what came out."""
