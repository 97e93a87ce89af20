# Nothing here is called from Python: see tile.pxd.
