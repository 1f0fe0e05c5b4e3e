"""Small components that tests put through the spine."""
