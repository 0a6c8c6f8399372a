"""Files of ratings: CSV, Excel, JSON and Parquet, and the roles of their columns."""
