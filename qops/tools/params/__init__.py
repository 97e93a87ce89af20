"""Writes every constant that a port of a network needs, and its C."""
