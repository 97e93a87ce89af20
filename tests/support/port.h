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

#define ROW(NAME) \
    static int32_t out[COUNT(in)]; \
    NAME##_row(in, out, count); \
    for (int i = 0; i < count; i++) \
        printf("%d\n", out[i]);
