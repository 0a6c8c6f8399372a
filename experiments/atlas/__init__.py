"""The bias atlas: large-sample bias of each method where an assumption fails."""

from experiments.atlas.grid import VIOLATIONS, atlas_scenarios, compute_atlas

__all__ = ["VIOLATIONS", "atlas_scenarios", "compute_atlas"]
