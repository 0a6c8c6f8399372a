"""Base rates and a confusion matrix that best fit the frequencies of pairs of ratings."""
