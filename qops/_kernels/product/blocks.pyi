# Nothing here is called from Python: see blocks.pxd.
