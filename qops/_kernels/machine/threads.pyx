"""Threads for kernels that run without the GIL.

The thread that calls an op does the op's parts one after the other, and workers help it. A worker is a daemon thread:
Python ends without waiting for it. The caller waits only for parts that a worker has begun, so nothing is written after
the call has returned. It never waits for a thread to start, or for a part that nobody has begun: it does that part
itself.
No Python code runs meanwhile, so KeyboardInterrupt and other signals are handled when the call is over.

The workers and their queue stay when a call ends, but they keep nothing of the call: no array, number or result.
"""
cimport cython
from cpython.pythread cimport (
    WAIT_LOCK, PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock, PyThread_release_lock,
    PyThread_type_lock,
)

from qops._kernels.machine.host cimport Control, qops_host_control, qops_set_host_control

import _thread
import os
from queue import SimpleQueue

# the processors that this process may use
cdef Py_ssize_t PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
cdef Py_ssize_t MOST = max(1, PROCESSORS - 1)  # the most workers: the caller uses one processor itself

jobs = SimpleQueue()  # ops whose callers want help
workers = []  # one entry for each worker that runs


def _forget():
    """Begin anew in a forked process, which has copies of the queue and the list, but none of the threads."""
    global jobs, workers
    jobs, workers = SimpleQueue(), []


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@cython.final
cdef class Job:
    """The parts of one op. Each thread takes the next part that nobody has begun."""
    cdef PyThread_type_lock lock  # guards begun, running and failed
    cdef PyThread_type_lock all_done  # is released when the last part is done
    cdef Work work
    cdef const void *op  # belongs to the caller, so only parts that have begun may read it
    cdef Py_ssize_t parts, begun, running
    cdef int failed
    cdef Control control  # the caller's floating point, which every thread that helps takes over

    def __cinit__(self):
        self.lock = PyThread_allocate_lock()
        self.all_done = PyThread_allocate_lock()
        if self.lock == NULL or self.all_done == NULL:
            raise MemoryError
        PyThread_acquire_lock(self.all_done, WAIT_LOCK)

    def __dealloc__(self):
        if self.lock != NULL:
            PyThread_free_lock(self.lock)
        if self.all_done != NULL:
            PyThread_free_lock(self.all_done)

    cdef Py_ssize_t begin(self) noexcept nogil:
        """Give the number of the next part, which this thread must do, or -1 if all parts have begun."""
        cdef Py_ssize_t part = -1
        PyThread_acquire_lock(self.lock, WAIT_LOCK)
        if self.begun < self.parts:
            part = self.begun
            self.begun += 1
            self.running += 1
        PyThread_release_lock(self.lock)
        return part

    cdef void end(self, int failed) noexcept nogil:
        """Note that a part is done. After a failure no other part begins."""
        cdef bint is_last
        PyThread_acquire_lock(self.lock, WAIT_LOCK)
        self.running -= 1
        if failed:
            self.failed = failed
            self.begun = self.parts
        is_last = self.begun == self.parts and self.running == 0
        PyThread_release_lock(self.lock)
        if is_last:
            PyThread_release_lock(self.all_done)

    cdef void do_parts(self) noexcept nogil:
        """Do parts until all have been begun by some thread."""
        cdef Py_ssize_t part = self.begin()
        while part >= 0:
            self.end(self.work(self.op, part))
            part = self.begin()


def _help(Job job not None):
    """Run a worker: it helps with this job, and then for ever with the jobs of the queue."""
    here = workers
    here.append(None)
    try:
        while True:
            with nogil:
                qops_set_host_control(job.control)
                job.do_parts()
            if len(here) > MOST:  # several callers have started workers at once
                return
            job = jobs.get()
    finally:
        here.pop()


cdef int call_workers(Job job, Py_ssize_t wanted) except -1:
    """Queue the job for idle workers, and start new workers if more are wanted. This does not wait for any of them."""
    cdef Py_ssize_t i
    for i in range(min(wanted, MOST)):
        if i >= len(workers):
            _thread.start_new_thread(_help, (job,))
        elif jobs.qsize() < MOST:  # else all workers are busy for now
            jobs.put(job)
    return 0


cdef int run_parts(Work work, const void *op, Py_ssize_t parts) except -1:
    """Call ``work(op, part)`` once for each part below `parts`, which is at least 1, on up to `parts` threads."""
    cdef Job job
    cdef int failed
    if parts == 1:
        with nogil:
            failed = work(op, 0)
        if failed:
            raise MemoryError
        return 0
    job = Job()
    job.work, job.op, job.parts, job.control = work, op, parts, qops_host_control()
    try:
        call_workers(job, parts - 1)
    except (RuntimeError, MemoryError):
        pass  # no thread can be started, as in a container that limits them, so this thread does all parts
    finally:
        with nogil:
            job.do_parts()
            PyThread_acquire_lock(job.all_done, WAIT_LOCK)
    if job.failed:
        raise MemoryError
    return 0
