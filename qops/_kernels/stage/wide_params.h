/* The part of integer_stage.h with lanes of 64 bits, for all rules and for int64 accumulators: only with AVX-512. */
#ifdef TIER
#if LANES == 64
/* The numbers that may differ from element to element, in the lanes of a vector. */
typedef struct { vec add, if_negative, if_odd, right_shift; } TIER(wide_shift);
typedef struct { vec multiplier, left_shift; TIER(wide_shift) first, second; } TIER(wide_numbers);

TARGET static inline TIER(wide_shift) TIER(shift_of_all)(integer_shift s)
{
    return (TIER(wide_shift)){set1_s64(s.add), set1_s64(s.if_negative), set1_s64(s.if_odd), set1_s64(s.right_shift)};
}

TARGET static inline vec TIER(with_term)(vec x, TIER(wide_shift) s)
{
    const vec odd = and_bits(_mm512_srav_epi64(x, s.right_shift), s.if_odd);
    return add_s64(add_s64(add_where_negative_s64(x, s.if_negative), s.add), odd);
}

TARGET static inline vec TIER(clamp_s64)(vec x, int64_t lowest, int64_t highest)
{
    return _mm512_min_epi64(_mm512_max_epi64(x, set1_s64(lowest)), set1_s64(highest));
}

TARGET static inline vec TIER(wrap_s32)(vec x, int wraps)
{
    return wraps ? _mm512_cvtepi32_epi64(_mm512_cvtepi64_epi32(x)) : x;
}

/* The code of x. Numbers of each element are in k; all others are in p, which also says what is skipped. */
TARGET static inline __attribute__((always_inline)) vec TIER(any_code)(vec x, TIER(wide_numbers) k, const integer_params *p)
{
    vec near = x;
    if (!leaves_x(p))
        near = TIER(wrap_s32)(_mm512_sub_epi64(TIER(clamp_s64)(x, p->lowest, p->highest), set1_s64(p->centre)), 1);
    if (p->left_shift)
        near = _mm512_mask_mov_epi64(near, _mm512_test_epi64_mask(k.left_shift, k.left_shift),
                                     TIER(wrap_s32)(sll_s64_lanes(near, k.left_shift), 1));
    near = p->through_f32 ? _mm512_cvtps_epi64(_mm512_cvtepi64_ps(near)) : near;
    const vec product = TIER(wrap_s32)(_mm512_mullo_epi64(near, k.multiplier), p->product_wraps);
    const vec rounded = TIER(wrap_s32)(TIER(with_term)(product, k.first), p->product_wraps);
    vec high = TIER(wrap_s32)(_mm512_srav_epi64(rounded, k.first.right_shift), p->high_wraps);
    if (!does_nothing(p->second) || p->least != INT64_MIN || p->most != INT64_MAX) {
        high = TIER(clamp_s64)(TIER(with_term)(high, k.second), p->least, p->most);
        high = _mm512_srav_epi64(high, k.second.right_shift);
    }
    const vec code = TIER(wrap_s32)(add_s64(high, set1_s64(p->zero_point)), p->code_wraps);
    return TIER(clamp_s64)(code, p->lowest_code, p->highest_code);
}

TARGET static inline vec TIER(load_s64)(const void *x, int is_wide, ptrdiff_t i)
{
    return is_wide ? load((const int64_t *)x + i) : _mm512_cvtepi32_epi64(TIER(load_half)((const int32_t *)x + i));
}

TARGET static ptrdiff_t TIER(any_params)(const void *x, int is_wide, int32_t *y, ptrdiff_t n, const integer_params *p)
{
    const TIER(wide_numbers) k = {set1_s64(p->multiplier), set1_s64(p->left_shift), TIER(shift_of_all)(p->first),
                                  TIER(shift_of_all)(p->second)};
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_si256((__m256i *)(y + i), _mm512_cvtepi64_epi32(TIER(any_code)(TIER(load_s64)(x, is_wide, i), k, p)));
    return i;
}

#endif
#endif
