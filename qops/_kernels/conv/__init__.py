"""Integer convolutions."""
