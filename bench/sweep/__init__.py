"""Running the cells of an experiment.

Open `experiment` first: cells that are not recorded yet are run, recorded, and drawn from the
store. `engine` says where they run: in this process, or in those of a `crew` of workers (`worker`);
`run_cell` turns an error into a failed result. `progress` shows how far they are.
"""
