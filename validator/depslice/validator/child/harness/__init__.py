"""A harness as it runs: two copies of the repository's modules, its tests, its context."""
