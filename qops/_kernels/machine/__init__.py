"""The CPU: its tiers of SIMD lanes, its caches, threads."""
