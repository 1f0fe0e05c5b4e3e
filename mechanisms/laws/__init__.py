"""Laws of answers, and what couples two of them."""
