"""What a harness is worth: runs, arcs, mutants, controls. Runs in the sandbox."""
