"""What every room's kernels use: checks, the walk of a loop over arrays, ranges, tiers, threads."""
