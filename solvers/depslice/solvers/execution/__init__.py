"""Executing answers on tests, in sandboxes."""
