# Nothing here is called from Python: see convolution_walk.pxd.
