"""What estimates become if items mislead the raters, and perhaps the system with them."""
