# Nothing here is called from Python: see gemm_tile.pxd.
