"""Runs the benchmark of speed."""

import os

# Before what starts threads is imported: the peers, too, have one.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

from experiments.benchmarks.speed import main

main()
