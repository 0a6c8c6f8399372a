"""What estimates become if items mislead raters and system alike."""
