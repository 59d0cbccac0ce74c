"""Running solvers: each in a process that holds no hidden tests."""
