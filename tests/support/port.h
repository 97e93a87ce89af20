/* Loops of a port, plainly: they read the constants of params.h by the name of the layer, NAME. Data are int32_t, in
   row-major order; each loop prints the codes of the result, one a line. */
#include "params.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef XNNPACK
#define X_ZERO(NAME) (NAME##_input_zero_point)
#define W_ZERO(NAME) (NAME##_kernel_zero_point)
#else
#define X_ZERO(NAME) (-NAME##_input_offset)
#define W_ZERO(NAME) (-NAME##_filter_offset)
#endif
#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

#define WINDOW(NAME) /* the taps of one window that are on the image */ \
    for (int i = 0; i < NAME##_filter_h; i++) \
        for (int j = 0, y = oy * NAME##_stride_h - NAME##_pad_top + i * NAME##_dilation_h; j < NAME##_filter_w; j++) \
            for (int x = ox * NAME##_stride_w - NAME##_pad_left + j * NAME##_dilation_w, on = 1; on; on = 0) \
                if (y >= 0 && y < NAME##_input_h && x >= 0 && x < NAME##_input_w)

#define PLACES(NAME) \
    for (int oy = 0; oy < NAME##_output_h; oy++) \
        for (int ox = 0; ox < NAME##_output_w; ox++) \
            for (int o = 0; o < NAME##_output_c; o++)

#define AT(NAME, y, x, c) in[((y) * NAME##_input_w + (x)) * NAME##_input_c + (c)]

#define CONVOLUTION(NAME) \
    PLACES(NAME) { \
        int64_t sum = NAME##_bias[o]; \
        WINDOW(NAME) \
            for (int c = 0; c < NAME##_input_c; c++) \
                sum += (int64_t)(AT(NAME, y, x, c) - X_ZERO(NAME)) \
                    * (NAME##_weights[((o * NAME##_filter_h + i) * NAME##_filter_w + j) * NAME##_input_c + c] - W_ZERO(NAME)); \
        printf("%d\n", NAME##_code(sum, o)); \
    }

#define DEPTHWISE(NAME) \
    PLACES(NAME) { \
        int64_t sum = NAME##_bias[o]; \
        WINDOW(NAME) \
            sum += (int64_t)(AT(NAME, y, x, o / (NAME##_output_c / NAME##_input_c)) - X_ZERO(NAME)) \
                * (NAME##_weights[(i * NAME##_filter_w + j) * NAME##_output_c + o] - W_ZERO(NAME)); \
        printf("%d\n", NAME##_code(sum, o)); \
    }

#define CONNECTED(NAME) \
    for (int o = 0, k = COUNT(NAME##_weights) / COUNT(NAME##_bias); o < COUNT(NAME##_bias); o++) { \
        int64_t sum = NAME##_bias[o]; \
        for (int c = 0; c < k; c++) \
            sum += (int64_t)(in[c] - X_ZERO(NAME)) * (NAME##_weights[o * k + c] - W_ZERO(NAME)); \
        printf("%d\n", NAME##_code(sum, o)); \
    }

#define PACKED(NAME, BIAS) /* sums of codes as they are: the packed bias holds the zero point */ \
    for (int o = 0, k = COUNT(NAME##_weights) / COUNT(BIAS); o < COUNT(BIAS); o++) { \
        int64_t sum = BIAS[o]; \
        for (int c = 0; c < k; c++) \
            sum += (int64_t)in[c] * NAME##_weights[o * k + c]; \
        printf("%d\n", NAME##_code(sum, o)); \
    }

#define AVERAGE(NAME) \
    PLACES(NAME) { \
        int32_t sum = 0, count = 0; \
        WINDOW(NAME) { sum += AT(NAME, y, x, o); count++; } \
        printf("%d\n", NAME##_code(sum, count)); \
    }

#define PAIR(NAME) \
    for (int i = 0; i < count / 2; i++) \
        printf("%d\n", NAME##_code(in[i], in[count / 2 + i]));

/* gemmlowp's fixed point, 31 bits */
static inline int64_t high(int64_t a, int64_t b)
{
    const int64_t y = (a * b + (1 << 30)) >> 31;
    return y > INT32_MAX ? INT32_MAX : y;
}

static inline int64_t away(int64_t x, int n)
{
    return n ? (x + ((int64_t)1 << n >> 1) - (x < 0)) >> n : x;
}

static inline int64_t left(int64_t x, int n)
{
    const int64_t y = x * ((int64_t)1 << n);
    return y > INT32_MAX ? INT32_MAX : y < INT32_MIN ? INT32_MIN : y;
}

static inline int64_t exp_negative(int64_t a)
{
    static const int64_t barrel[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    const int64_t inner = (a & ((1 << 24) - 1)) - (1 << 24), rest = inner - a;
    const int64_t x = left(inner, 5) + (1 << 28), square = high(x, x);
    const int64_t cube = high(square, x), fourth = high(square, square);
    const int64_t series = x + away(high(away(fourth, 2) + cube, 715827883) + square, 1);
    int64_t y = 1895147668 + high(1895147668, series);
    y = y > INT32_MAX ? INT32_MAX : y;
    for (int i = 0; i < 7; i++)
        if (rest & ((int64_t)1 << (24 + i)))
            y = high(y, barrel[i]);
    return a == 0 ? INT32_MAX : y;
}

static inline int64_t one_over_one_plus(int64_t a)
{
    const int64_t half = (a + INT32_MAX + 1) >> 1;
    int64_t x = 1515870810 + high(half, -1010580540);
    for (int i = 0; i < 3; i++)
        x += left(high(x, (1 << 29) - high(half, x)), 2);
    return left(x, 1);
}

static inline int zeros_before(int64_t x)
{
    int n = 32;
    while (x) { x >>= 1; n--; }
    return n;
}

static inline int largest(const int32_t *in, int count)
{
    int most = in[0];
    for (int i = 1; i < count; i++) most = in[i] > most ? in[i] : most;
    return most;
}

#define SOFTMAX_8(NAME) \
    const int most = largest(in, count); \
    int64_t total = 0; \
    int64_t *part = calloc((size_t)count, sizeof *part); \
    for (int i = 0; i < count; i++) \
        if (in[i] - most >= NAME##_least) { \
            const int64_t near = (int32_t)((uint32_t)(in[i] - most) << NAME##_shift); \
            part[i] = exp_negative(high(near, NAME##_multiplier)); \
            total += away(part[i], 12); \
        } \
    const int zeros = zeros_before(total); \
    const int64_t scale = one_over_one_plus((total << zeros) - ((int64_t)1 << 31)); \
    for (int i = 0; i < count; i++) { \
        const int64_t y = -128 + away(high(scale, part[i]), 12 - zeros + 31 - 8); \
        printf("%d\n", (int)(in[i] - most < NAME##_least ? -128 : y > 127 ? 127 : y)); \
    } \
    free(part);

static inline int64_t between(const int64_t *table, int64_t x)
{
    const int64_t at = 256 + (x >> 7), rest = x & 127;
    return (int16_t)(table[at] + (((int16_t)(table[at + 1] - table[at]) * rest + 64) >> 7));
}

static inline int64_t sat16(int64_t x)
{
    return x > 32767 ? 32767 : x < -32768 ? -32768 : x;
}

#define SOFTMAX_16(NAME) \
    const int most = largest(in, count); \
    int64_t total = 0; \
    int64_t *part = calloc((size_t)count, sizeof *part); \
    for (int i = 0; i < count; i++) { \
        const int64_t near = tflite_double(in[i] - most, NAME##_multiplier, 31 - NAME##_shift, 0, INT32_MIN, INT32_MAX); \
        part[i] = between(NAME##_exp_table, sat16(near + 32767)); \
        total += part[i]; \
    } \
    const int zeros = zeros_before(total); \
    const int64_t near = ((total << (zeros - 1)) + 8192) >> 14; \
    const int64_t scale = between(NAME##_reciprocal_table, sat16(near - 32768 - 65536)); \
    for (int i = 0; i < count; i++) { \
        const int64_t y = (part[i] * scale + ((int64_t)1 << (30 - zeros))) >> (31 - zeros); \
        printf("%d\n", (int)(y < 0 ? 0 : y > 32767 ? 32767 : y)); \
    } \
    free(part);

#define SOFTMAX_FLOAT(NAME) \
    const int most = largest(in, count); \
    float total = 0; \
    for (int i = 0; i < count; i++) total += NAME##_table[most - in[i]]; \
    for (int i = 0; i < count; i++) { \
        const float p = NAME##_table[most - in[i]] * (1.0f / (total * (1.0f / 256))); \
        const int y = -128 + (int)roundf(p); \
        printf("%d\n", y > 127 ? 127 : y); \
    }
