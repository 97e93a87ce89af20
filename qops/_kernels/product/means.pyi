# Nothing here is called from Python: see rows.pxd.
