"""Weights of integer convolutions, packed once for many images."""
cimport numpy as cnp
from libc.stdint cimport int8_t, int32_t, uint8_t
from libc.string cimport memcpy

from qops._kernels.arrays.checks cimport array
from qops._kernels.machine.tiers cimport tier
from qops._kernels.gemm.packed cimport panels_for, signed_codes
from qops._kernels.gemm.tile cimport (
    aligned, find_depthwise_kernel, find_kernel, find_unsigned_kernel, gemm_kernel, pack_columns, padded_columns,
    panel_bytes, quads_of, sum_columns,
)
from qops._kernels.gemm.transpose cimport transpose_bytes
from qops._kernels.stage.stage cimport SPARE, period_of

import numpy as np

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.machine import tiers as isa

cnp.import_array()

cdef enum:
    CHANNELS = 16  # input channels packed at a time: they are whole quads, and their transpose stays in the cache


cdef class PackedWeights:
    """Convolution weights in packed panels for the kernel of one tier. ``pack_weights`` makes them."""

    @property
    def nbytes(self):
        return self.memory.nbytes


def pack_weights(w, *, Py_ssize_t groups=1, bint saturating=False, bint neighbours=False):
    """Pack the weights of a convolution (OIHW; int8, or uint8 if the products are exact) once for many images.

    neighbours: the dilation across is 1, so that the row of a window can be one run of quads.
    """
    cdef PackedWeights packed = PackedWeights.__new__(PackedWeights)
    w = array(w, "w", cnp.NPY_INT8, cnp.NPY_UINT8)
    cdef bint is_u8 = cnp.PyArray_TYPE(w) == cnp.NPY_UINT8
    cdef int on = tier()
    if is_u8 and saturating:
        raise bad_value("saturating", "expected False for a w of uint8")
    if w.ndim != 4:
        raise bad_value("w", f"expected 4 dimensions, OIHW, got shape {w.shape}")
    if groups < 1 or w.shape[0] % groups:
        raise bad_value("groups", f"expected a divisor of the {w.shape[0]} output channels, got {groups}")
    packed.shape = w.shape
    packed.oc, packed.ic, packed.kh, packed.kw = w.shape
    packed.groups, packed.oc = groups, packed.oc // groups
    packed.saturating = saturating
    packed.tier = isa.TIERS[on]
    packed.depthwise = w.shape[1] == 1 and w.shape[0] == groups and groups > 1
    packed.merged = neighbours and groups == 1 and packed.kw > 1 and packed.ic % 4 and not saturating
    packed.kernel = find_depthwise_kernel(on) if packed.depthwise else find_unsigned_kernel(on) if is_u8 else NULL
    packed.is_shifted = is_u8 and (packed.depthwise or packed.kernel == NULL)
    if packed.kernel == NULL:
        packed.kernel = find_kernel(saturating, on)
    if packed.is_shifted:
        w = signed_codes(w)
    if packed.depthwise:
        packed.sums = w.sum((1, 2, 3), np.int32)
        pack_woven(packed, w)
    elif packed.merged:  # (OC, KW * IC, KH, 1)
        rows = np.ascontiguousarray(w.transpose(0, 3, 1, 2))
        pack_dense(packed, rows.reshape(packed.oc, packed.kw * packed.ic, packed.kh, 1))
    else:
        pack_dense(packed, w if lies_as_rows(w) else np.ascontiguousarray(w))
    packed.sums.flags.writeable = False
    return packed


cdef pack_woven(PackedWeights packed, w):
    """Pack depthwise weights (channels, 1, kh, kw) as gemm/depthwise.h takes them: [kh in quads][kw][channels].

    Weights and sums are repeated over a period and SPARE more.
    """
    cdef Py_ssize_t channels = w.shape[0], depth = 2 if packed.kernel.widens else 4
    cdef Py_ssize_t quads = (packed.kh + depth - 1) // depth, entries = period_of(channels) + SPARE
    repeated = np.arange(entries) % channels
    packed.padded_sums = packed.sums[repeated]
    made = np.zeros((quads * depth, packed.kw, entries), np.int16 if packed.kernel.widens else np.int8)
    made[:packed.kh] = w[:, 0].transpose(1, 2, 0)[:, :, repeated]
    made = np.ascontiguousarray(made.reshape(quads, depth, packed.kw, entries).transpose(0, 2, 3, 1))
    packed.memory = panels_for(4, entries, quads * packed.kw)
    packed.panels = <uint8_t *>aligned(cnp.PyArray_DATA(packed.memory))
    memcpy(packed.panels, cnp.PyArray_DATA(made), made.nbytes)


cdef void transpose(const int8_t *w, Py_ssize_t ldw, Py_ssize_t oc, Py_ssize_t ic, Py_ssize_t taps,
                    int8_t *b) noexcept nogil:
    # b[tap][c][i] = w[i][c][tap]; 64 columns of w at a time, so that each cache line of w is used up at once
    cdef Py_ssize_t[64] row
    cdef Py_ssize_t j, first, columns
    for first from 0 <= first < ic * taps by 64:
        columns = min(64, ic * taps - first)
        for j in range(columns):
            row[j] = ((first + j) % taps * ic + (first + j) // taps) * oc
        transpose_bytes(w + first, ldw, oc, columns, b, row)


cdef bint lies_as_rows(cnp.ndarray w):
    """Whether the output channels of each tap are neighbours in memory, as in HWIO weights: no transpose is needed."""
    return cnp.PyArray_STRIDE(w, 0) == 1 and cnp.PyArray_DIM(w, 0) > 1


cdef void pack_rows(const gemm_kernel *kernel, cnp.ndarray w, Py_ssize_t first, Py_ssize_t oc, uint8_t *panels):
    """Pack `oc` output channels from `first` on, as pack_group does, of weights that need no transpose."""
    cdef Py_ssize_t ic = cnp.PyArray_DIM(w, 1), kh = cnp.PyArray_DIM(w, 2), kw = cnp.PyArray_DIM(w, 3)
    cdef Py_ssize_t quads = quads_of(kernel, ic), i
    for i in range(kh * kw):
        pack_columns(kernel, <const int8_t *>cnp.PyArray_GETPTR4(w, first, 0, i // kw, i % kw),
                     cnp.PyArray_STRIDE(w, 1), ic, oc, panels, i * quads, kh * kw * quads)


cdef void pack_group(const gemm_kernel *kernel, const int8_t *w, Py_ssize_t oc, Py_ssize_t ic, Py_ssize_t taps,
                     int8_t *rows, uint8_t *panels) noexcept nogil:
    """Pack w (oc, ic, taps) as a matrix B with rows k = (tap, ic). Each tap is padded to whole quads.

    `rows` is scratch memory for the transpose of CHANNELS input channels.
    """
    cdef Py_ssize_t quads = quads_of(kernel, ic)
    cdef Py_ssize_t first, some, tap
    for first from 0 <= first < ic by CHANNELS:
        some = min(CHANNELS, ic - first)
        transpose(w + first * taps, ic * taps, oc, some, taps, rows)
        for tap in range(taps):
            pack_columns(kernel, rows + tap * some * oc, oc, some, oc, panels, tap * quads + quads_of(kernel, first),
                         taps * quads)


cdef pack_dense(PackedWeights packed, cnp.ndarray w):
    """Pack weights that are not depthwise, group by group, and sum them."""
    cdef Py_ssize_t ic = w.shape[1], taps = w.shape[2] * w.shape[3], oc = w.shape[0] // packed.groups
    cdef Py_ssize_t quads = quads_of(packed.kernel, ic) * taps, padded = padded_columns(packed.kernel, oc)
    cdef Py_ssize_t g
    cdef cnp.ndarray sums = np.zeros((packed.groups, padded), np.int32)
    cdef cnp.ndarray rows = np.empty(min(CHANNELS, ic) * taps * oc, np.int8)
    cdef uint8_t *panels
    packed.memory = panels_for(panel_bytes(packed.kernel, 1, 1), packed.groups * padded, quads)
    packed.panels = panels = <uint8_t *>aligned(cnp.PyArray_DATA(packed.memory))
    for g in range(packed.groups if oc > 0 else 0):  # without output channels the other sizes may be enormous
        if lies_as_rows(w):
            pack_rows(packed.kernel, w, g * oc, oc, panels)
        else:
            pack_group(packed.kernel, <const int8_t *>cnp.PyArray_DATA(w) + g * oc * ic * taps, oc, ic, taps,
                       <int8_t *>cnp.PyArray_DATA(rows), panels)
        sum_columns(packed.kernel, panels, quads, oc, <int32_t *>cnp.PyArray_DATA(sums) + g * padded)
        panels += panel_bytes(packed.kernel, padded, quads)
    packed.padded_sums = sums.reshape(-1)
    packed.sums = sums[:, :oc].reshape(-1)
