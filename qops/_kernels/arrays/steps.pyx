"""The steps of a graph, one after the other: each calls an op on tensors, and drops those that no later step reads.

An op that is a `Kernel` is called by a C method, which takes 0.3 us less than a call of Python.
"""

cimport cython
cimport numpy as cnp

from qops._kernels.machine.host cimport check_rounding

cnp.import_array()


cdef class Kernel:
    """The base of kernels of prepared ops that a plan of a graph calls on one array, or on two."""

    cdef object result_of(self, cnp.ndarray a, cnp.ndarray b):
        """Give what a call with these arrays gives; `b` is None for an op of one array. Each kernel has its own."""
        raise NotImplementedError


@cython.final
cdef class Step:
    """An op of a plan. Tensors are numbers, their places in the list of a run.

    call: takes the arrays that the op reads, and gives the tensor `first`, or a tuple of `count` tensors from there on;
    0 stands for no tuple.
    ends: the tensors that no later step reads. name: what errors call the op.
    """
    cdef object call
    cdef Kernel kernel  # the same, or None
    cdef tuple reads, ends
    cdef Py_ssize_t a, b, first, count
    cdef readonly str name

    def __init__(self, call, tuple reads not None, Py_ssize_t first, Py_ssize_t count, tuple ends not None,
                 str name not None):
        self.call, self.reads, self.first, self.count, self.ends, self.name = call, reads, first, count, ends, name
        self.a, self.b, self.kernel = 0, -1, None
        if isinstance(call, Kernel) and 0 < len(reads) < 3:
            self.kernel, self.a = call, reads[0]
            self.b = reads[1] if len(reads) == 2 else -1

    cdef int run(self, list values) except -1:
        """Call the op on tensors, and put down what it gives."""
        cdef Py_ssize_t i
        if self.kernel is not None:
            made = self.kernel.result_of(values[self.a], None if self.b < 0 else values[self.b])
        else:
            made = self.call(*[values[i] for i in self.reads])
        if self.count:
            values[self.first:self.first + self.count] = made
        else:
            values[self.first] = made
        for i in self.ends:
            values[i] = None
        return 0


@cython.final
cdef class Steps:
    """All steps of a plan. failures: the classes of errors that mean that an op refuses what it reads."""

    cdef list steps
    cdef tuple failures

    def __init__(self, steps, tuple failures not None):
        self.steps, self.failures = [*steps], failures

    def run(self, list values not None):
        """Run all steps on a list with the inputs at its beginning; ValueError names the op that refuses."""
        cdef Step step = None
        check_rounding()
        try:
            for step in self.steps:
                step.run(values)
        except self.failures as why:
            raise ValueError(f"{step.name}: {str(why) or repr(why)}") from why
