"""The CPU: its tiers of SIMD instructions, the sizes of its caches, and threads."""
