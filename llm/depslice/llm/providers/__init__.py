"""Adapters: each knows one protocol, and the package that speaks it."""
