"""What ops take: arrays, numbers, ranges and windows, checked, and the walk over them."""
