cpdef object row_named(rule, table)
cpdef object given_integers(integers)
cpdef object given_scales(scale)
cpdef tuple three_scales(scales)
