"""The method of Lehner (2015), step by step."""
