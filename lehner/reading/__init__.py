"""Files of ratings: CSV, Excel, JSON and Parquet, and what the columns of a tool's files mean."""
