"""From command line and YAML to objects."""
