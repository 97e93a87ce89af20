cpdef tuple outward(double lo, double hi)
