"""The models, by family of parameters, and the parts they share."""

from lehner.core import lazy

# PyTensor is loaded when a model is built. A model that was compiled before is sampled without it,
# because to load PyTensor takes longer than to sample such a model.
pt = lazy.load("pytensor.tensor")
