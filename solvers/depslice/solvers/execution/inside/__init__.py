"""What runs in the sandbox: bound there, and imported by nobody here."""
