"""Pools over images of codes."""
