"""What each layer of a graph adds, in which lanes of a machine, and whether these hold the sums of every input."""
