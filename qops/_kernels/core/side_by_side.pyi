# Nothing here is called from Python: see side_by_side.pxd.
