"""Groups of raters: the accuracy of each group, and differences."""
