"""The evidence: the replication of the paper, studies, simulations and benchmarks, for a clone."""
