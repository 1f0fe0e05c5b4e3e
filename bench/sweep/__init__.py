"""Running the cells of an experiment.

Open `experiment` first: cells that are not recorded yet are run, recorded, and drawn from the
store. `engine` says where they run (this process or several), `progress` shows how far they are.
"""
