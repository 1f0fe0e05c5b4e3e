"""Running the cells of an experiment."""
