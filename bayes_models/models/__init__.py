"""The models: a file for each, and the parts they share."""
