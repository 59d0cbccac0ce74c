"""What runs inside a sandbox: bound there, started by path, imports nothing of depslice."""
