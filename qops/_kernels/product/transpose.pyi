# Nothing here is called from Python: see transpose.pxd.
