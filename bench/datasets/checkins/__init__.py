"""Check-ins."""
