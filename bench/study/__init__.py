"""What an experiment computes in a cell."""
