"""The models, by family of parameters, and the parts they share.

PyMC is loaded when a model is built. A model that was compiled before is sampled without it,
because to load PyMC takes longer than to sample such a model.
"""

from typing import TYPE_CHECKING

from lehner.core import lazy

if TYPE_CHECKING:
    import pymc as pm
    import pytensor.tensor as pt
else:
    pm, pt = lazy.load("pymc"), lazy.load("pytensor.tensor")

__all__ = ["pm", "pt"]
