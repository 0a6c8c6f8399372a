"""The system in detail: its confusion matrix, recall, precision and other measures."""
