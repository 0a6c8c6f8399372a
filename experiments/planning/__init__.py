"""How many items a study needs: plans, the trade-off with raters, and the paper's two numbers."""
