"""The simulations as `python -m experiments.system_performance {measures,groups} FOLDER`."""

from experiments.study.cells import run_simulation
from experiments.system_performance import groups, recovery

run_simulation(
    "Recovery and coverage of the system's measures, and of its accuracy in groups of items.",
    {
        "measures": (recovery.write_recovery, recovery.DATA_SETS),
        "groups": (groups.write_groups, groups.DATA_SETS),
    },
)
