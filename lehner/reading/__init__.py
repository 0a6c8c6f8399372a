"""Files of ratings: CSV, Excel, JSON and Parquet, and which column holds what."""
