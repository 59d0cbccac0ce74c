"""Answers about one repository to other programs, over the Model Context Protocol.

``questions`` computes them from a program, ``session`` keeps them true while files change,
``protocol`` speaks MCP and is the only module that knows the SDK.
"""
