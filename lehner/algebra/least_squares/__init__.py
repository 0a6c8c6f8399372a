"""Base rates and confusion matrices that best fit the frequencies of pairs of ratings."""
