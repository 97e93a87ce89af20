/* Packs whole quads of row-major B into panels [quad][column][4 bytes, or 2]. It uses SSE2, which every x86-64 CPU has. */

/* 4 rows of 8 columns become 8 quads of bytes */
static inline void gemm_pack_8(const int8_t *b, ptrdiff_t ldb, uint8_t *quads)
{
    const __m128i r0 = _mm_loadl_epi64((const __m128i *)b);
    const __m128i r1 = _mm_loadl_epi64((const __m128i *)(b + ldb));
    const __m128i r2 = _mm_loadl_epi64((const __m128i *)(b + 2 * ldb));
    const __m128i r3 = _mm_loadl_epi64((const __m128i *)(b + 3 * ldb));
    const __m128i r01 = _mm_unpacklo_epi8(r0, r1);
    const __m128i r23 = _mm_unpacklo_epi8(r2, r3);
    _mm_storeu_si128((__m128i *)quads, _mm_unpacklo_epi16(r01, r23));
    _mm_storeu_si128((__m128i *)(quads + 16), _mm_unpackhi_epi16(r01, r23));
}

static void gemm_pack_bytes(const int8_t *b, ptrdiff_t ldb, ptrdiff_t quads, ptrdiff_t columns, uint8_t *panel)
{
    for (ptrdiff_t q = 0; q < quads; ++q, b += 4 * ldb)
        for (ptrdiff_t j = 0; j < columns; j += 8, panel += 32)
            gemm_pack_8(b + j, ldb, panel);
}

/* 2 rows of 8 columns become 8 pairs of bytes, the quads of a kernel whose B is narrow */
static void gemm_pack_pairs(const int8_t *b, ptrdiff_t ldb, ptrdiff_t quads, ptrdiff_t columns, uint8_t *panel)
{
    for (ptrdiff_t q = 0; q < quads; ++q, b += 2 * ldb)
        for (ptrdiff_t j = 0; j < columns; j += 8, panel += 16) {
            const __m128i r0 = _mm_loadl_epi64((const __m128i *)(b + j));
            const __m128i r1 = _mm_loadl_epi64((const __m128i *)(b + ldb + j));
            _mm_storeu_si128((__m128i *)panel, _mm_unpacklo_epi8(r0, r1));
        }
}

/* 2 rows of 8 columns, widened to int16, become 8 quads */
static inline void gemm_widen_8(const int8_t *b, ptrdiff_t ldb, uint8_t *quads)
{
    const __m128i r0 = _mm_loadl_epi64((const __m128i *)b);
    const __m128i r1 = _mm_loadl_epi64((const __m128i *)(b + ldb));
    const __m128i r01 = _mm_unpacklo_epi8(r0, r1);
    /* each byte is put in the high half of its word, and then shifted down with its sign */
    _mm_storeu_si128((__m128i *)quads, _mm_srai_epi16(_mm_unpacklo_epi8(r01, r01), 8));
    _mm_storeu_si128((__m128i *)(quads + 16), _mm_srai_epi16(_mm_unpackhi_epi8(r01, r01), 8));
}

static void gemm_pack_words(const int8_t *b, ptrdiff_t ldb, ptrdiff_t quads, ptrdiff_t columns, uint8_t *panel)
{
    for (ptrdiff_t q = 0; q < quads; ++q, b += 2 * ldb)
        for (ptrdiff_t j = 0; j < columns; j += 8, panel += 32)
            gemm_widen_8(b + j, ldb, panel);
}

typedef struct { __m512i v0, v1, v2, v3; } gemm_quads; /* quads of 64 columns */

/* 4 rows of 64 columns become quads. Unpacking works inside 128-bit lanes: it leaves the quads of columns 16 L + 4 v to
 * 16 L + 4 v + 3 in lane L of vector v. */
static inline __attribute__((always_inline)) GEMM_AVX512 gemm_quads gemm_unpacked(__m512i r0, __m512i r1, __m512i r2,
                                                                                  __m512i r3)
{
    const __m512i low01 = _mm512_unpacklo_epi8(r0, r1), high01 = _mm512_unpackhi_epi8(r0, r1);
    const __m512i low23 = _mm512_unpacklo_epi8(r2, r3), high23 = _mm512_unpackhi_epi8(r2, r3);
    return (gemm_quads){_mm512_unpacklo_epi16(low01, low23), _mm512_unpackhi_epi16(low01, low23),
                        _mm512_unpacklo_epi16(high01, high23), _mm512_unpackhi_epi16(high01, high23)};
}

/* Quads of 4 rows of row-major B in the order of the columns, as `gemm_unpacked`: the dwords of each row are transposed
 * (4 x 4) beforehand. */
static inline __attribute__((always_inline)) GEMM_AVX512 gemm_quads gemm_quads_of(const int8_t *b, ptrdiff_t ldb)
{
    const __m512i transpose = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return gemm_unpacked(_mm512_permutexvar_epi32(transpose, _mm512_loadu_si512(b)),
                         _mm512_permutexvar_epi32(transpose, _mm512_loadu_si512(b + ldb)),
                         _mm512_permutexvar_epi32(transpose, _mm512_loadu_si512(b + 2 * ldb)),
                         _mm512_permutexvar_epi32(transpose, _mm512_loadu_si512(b + 3 * ldb)));
}

static inline __attribute__((always_inline)) GEMM_AVX512 void gemm_put_quads(gemm_quads quads, uint8_t *panel,
                                                                             ptrdiff_t vector_stride)
{
    _mm512_storeu_si512(panel, quads.v0);
    _mm512_storeu_si512(panel + vector_stride, quads.v1);
    _mm512_storeu_si512(panel + 2 * vector_stride, quads.v2);
    _mm512_storeu_si512(panel + 3 * vector_stride, quads.v3);
}

static GEMM_AVX512 void gemm_pack_bytes_avx512(const int8_t *b, ptrdiff_t ldb, ptrdiff_t quads, ptrdiff_t columns,
                                               uint8_t *panel)
{
    if (columns != 64) {
        gemm_pack_bytes(b, ldb, quads, columns, panel);
        return;
    }
    for (ptrdiff_t q = 0; q < quads; ++q)
        gemm_put_quads(gemm_quads_of(b + 4 * q * ldb, ldb), panel + 256 * q, 64);
}

#if QOPS_HAS_AMX
static GEMM_AVX512 void gemm_pack_bytes_by_vector(const int8_t *b, ptrdiff_t ldb, ptrdiff_t quads, ptrdiff_t columns,
                                              uint8_t *panel, ptrdiff_t vector_stride)
{
    if (columns == 64)
        for (ptrdiff_t q = 0; q < quads; ++q)
            gemm_put_quads(gemm_quads_of(b + 4 * q * ldb, ldb), panel + 64 * q, vector_stride);
    else
        for (ptrdiff_t j = 0; j < columns; j += 16)
            for (ptrdiff_t q = 0; q < quads; ++q)
                gemm_pack_bytes(b + 4 * q * ldb + j, ldb, 1, 16, panel + j / 16 * vector_stride + 64 * q);
}
#endif
