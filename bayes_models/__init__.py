"""Bayesian models of ratings whose true categories are unknown.

What it exports stands in `__init__.pyi`, and is loaded when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
