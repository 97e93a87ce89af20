"""The site: ``python -m docs`` writes its pages from the docstrings, the tables of the package and the test data."""
