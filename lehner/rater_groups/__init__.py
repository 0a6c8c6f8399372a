"""Groups of raters: the accuracy of each, and differences."""
