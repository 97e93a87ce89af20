/* Makes functions of NAME(body) for every tile shape, and NAME(tile), which calls one of them. A signed A has functions of
 * its own, but not where A WIDENS to 16-bit words, which are signed. */

#define SHAPE(r, v) static TARGET void NAME(r##x##v)(const gemm_tile *t) { NAME(body)(t, r, v, 0); }
SHAPES(SHAPE)
#undef SHAPE

#ifdef WIDENS
#define OF_SIGNED(r, v) NULL
#else
#define OF_SIGNED(r, v) NAME(r##x##v##_shift)
#define SHAPE(r, v) static TARGET void OF_SIGNED(r, v)(const gemm_tile *t) { NAME(body)(t, r, v, 1); }
SHAPES(SHAPE)
#undef SHAPE
#endif

static void NAME(tile)(const gemm_tile *t, ptrdiff_t rows, ptrdiff_t vectors)
{
#define SHAPE(r, v) [v - 1][r - 1] = { NAME(r##x##v), OF_SIGNED(r, v) },
    static void (*const shapes[4][GEMM_ROWS][2])(const gemm_tile *) = { SHAPES(SHAPE) };
#undef SHAPE
    shapes[vectors - 1][rows - 1][t->is_signed](t);
}
#undef OF_SIGNED
