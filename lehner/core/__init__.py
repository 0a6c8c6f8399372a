"""What every part uses: errors, checks of arguments, seeds, wording, intervals, `Estimate`."""
