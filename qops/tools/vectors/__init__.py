"""Makes test vectors that tell a rule from all others."""
