"""Benchmarks: speed as a ratio to a named peer in the same run; `python -m` runs one."""
