"""From the command line and YAML to objects.

Open `build` first: a node with ``_target_`` becomes an object, and what does not fit becomes one
clear line. `compose` checks a composed configuration and makes the experiment of it, `choices`
knows which names there are.
"""
