"""Simulate the bundled data set `figure10`: a sample of Figure 10 of Lehner (2015), with its truth.

`python docs/data/make_figure10.py` writes it again. All K-properties are violated as in the paper:
raters are right on .5, .6 and .7 of the items and the system on .9, by .2 more or less on easy and
on hard items; near errors are twice as likely as those one step further away; and each probability
of an error is multiplied by a number between 0 and 2, drawn at random.
"""

import lehner
from lehner.datasets import FOLDER

SCENARIO = lehner.Scenario(
    n_items=200,
    n_categories=5,
    initial_rater_accuracy=(0.5, 0.6, 0.7),
    initial_system_accuracy=0.9,
    easiness=(-0.2, 0.0, 0.2),
    asymmetric_dispersion=2.0,
    proportional_error_range=1.0,
)

if __name__ == "__main__":
    table = lehner.simulate(SCENARIO, seed=1).to_wide().rename(columns={"system": "System"})
    table.to_csv(FOLDER / "figure10.csv", index=False, lineterminator="\n")
