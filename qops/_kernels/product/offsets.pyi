# Nothing here is called from Python: see offsets.pxd.
