/* int32 sums become codes of 8 bits: saturated to 16 bits, `zero` added, saturated to the 256 codes of the type, clamped.
 * Codes of int8 are made as codes of uint8, whose top bit is then flipped. */
#ifndef QOPS_CODE_CLAMP_H
#define QOPS_CODE_CLAMP_H
#include <stddef.h>
#include <stdint.h>

typedef struct { int16_t zero; uint8_t lowest, highest; int32_t flip; } code_clamp;

/* The scales of channels, float32 or double. The first element has scale number `at`, the next one the next scale; after
 * `period` scales they begin again. NULL: all elements have the scale of the parameters. */
typedef struct { const void *each; ptrdiff_t period, at; } channel_scales;

/* Sets `to`. It is false if a sum that saturates to 16 bits might not saturate to the right code. */
static inline int has_code_clamp(int64_t zero_point, int64_t lowest, int64_t highest, int is_signed, code_clamp *to)
{
    const int64_t base = is_signed ? INT8_MIN : 0, zero = zero_point - base;
    *to = (code_clamp){(int16_t)zero, (uint8_t)(lowest - base), (uint8_t)(highest - base), is_signed ? (int32_t)0x80808080 : 0};
    return -32000 <= zero && zero <= 32000 && base <= lowest && lowest <= highest && highest <= base + 255;
}

#define clamp_codes(u8, to) \
    xor_bits(min_u8(max_u8(u8, set1_u8((to).lowest)), set1_u8((to).highest)), set1_s32((to).flip))
#define narrow_s32_codes(q, to)                                                                       \
    clamp_codes(in_order(narrow_s16_u8(add_sat_s16(narrow_s32_s16((q)[0], (q)[1]), set1_s16((to).zero)),  \
                                       add_sat_s16(narrow_s32_s16((q)[2], (q)[3]), set1_s16((to).zero)))), to)
/* Narrows two vectors to codes of 16 bits, signed or not. */
#define narrow_s32_16(a, b, is_signed) ((is_signed) ? in_order_once(narrow_s32_s16(a, b)) : narrow_s32_u16(a, b))
#endif
