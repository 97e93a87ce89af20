# Nothing here is called from Python: see stream.pxd.
