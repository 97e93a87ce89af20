# Nothing here is called from Python: see image.pxd.
