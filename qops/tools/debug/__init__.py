"""Finds the layer of a network that differs first from a device's dump, and why."""
