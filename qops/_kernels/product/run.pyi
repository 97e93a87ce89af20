# Nothing here is called from Python: see gemm_run.pxd.
