"""The solvers that come with depslice, each a readable file of its paper's algorithm."""
