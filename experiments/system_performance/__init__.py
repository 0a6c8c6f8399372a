"""Recovery and coverage of the system's recall, precision and other measures, by simulation."""
