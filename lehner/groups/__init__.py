"""Groups and populations of items, and groups of raters: accuracies, and differences."""
