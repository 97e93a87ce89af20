"""Find the rule that made the integers of a device, and test vectors that show whether a port of a rule is right."""
