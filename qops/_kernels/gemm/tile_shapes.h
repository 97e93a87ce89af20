/* Makes a function of NAME(body) for every tile shape, unsigned and signed A, and NAME(tile), which calls one of them. */

#define SHAPE(r, v) \
    static TARGET void NAME(r##x##v)(const gemm_tile *t) { NAME(body)(t, r, v, 0); } \
    static TARGET void NAME(r##x##v##_shift)(const gemm_tile *t) { NAME(body)(t, r, v, 1); }
SHAPES(SHAPE)
#undef SHAPE

static void NAME(tile)(const gemm_tile *t, ptrdiff_t rows, ptrdiff_t vectors)
{
#define SHAPE(r, v) [v - 1][r - 1] = { NAME(r##x##v), NAME(r##x##v##_shift) },
    static void (*const shapes[4][GEMM_ROWS][2])(const gemm_tile *) = { SHAPES(SHAPE) };
#undef SHAPE
    shapes[vectors - 1][rows - 1][t->is_signed](t);
}
