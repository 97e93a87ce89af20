"""Whether lanes and accumulators of a machine hold the sums of a layer, and what repairs it if they do not."""
