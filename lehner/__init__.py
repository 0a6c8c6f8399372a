"""lehner: the accuracy of a classification system when raters may be worse than the system.

What it exports stands in `__init__.pyi`, and is loaded when it is first used.
"""

import lazy_loader

__version__ = "0.3.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
