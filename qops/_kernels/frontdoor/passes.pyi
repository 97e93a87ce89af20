# Nothing here is called from Python: see passes.pxd.
