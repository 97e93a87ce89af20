"""The commands of `python -m qops`: their options, and what they print and write."""
