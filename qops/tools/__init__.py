"""Which rule made the integers of a device, and which test vectors tell whether a port of a rule is right."""
