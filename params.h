/* cnn_qdq_channel_s8s8.onnx for tflm: the constants of each layer, and the C of one code. */
#ifndef QOPS_PARAMS_H
#define QOPS_PARAMS_H
#include "rules.h"

/* x_QuantizeLinear: QuantizeLinear
   reads x: float32, 1 x 3 x 6 x 6
   reads x_scale: float32, one number
   reads x_zero_point: int8, one number
   writes x_QuantizeLinear_Output: int8, 1 x 3 x 6 x 6, scale 0.0039201159961521626, zero point -128 */
enum {
    x_QuantizeLinear_output_zero_point = -128,
    x_QuantizeLinear_output_min = -128,
    x_QuantizeLinear_output_max = 127,
};
static const float x_QuantizeLinear_scale = 0x1.00e8a20000000p-8f;

static inline int32_t x_QuantizeLinear_code(float value)
{
    const float code = rintf(value / x_QuantizeLinear_scale) + (float)x_QuantizeLinear_output_zero_point;
    return code < x_QuantizeLinear_output_min ? x_QuantizeLinear_output_min : code > x_QuantizeLinear_output_max ? x_QuantizeLinear_output_max : (int32_t)code;
}

/* c1: QLinearConv
   reads x_QuantizeLinear_Output: int8, 1 x 3 x 6 x 6, scale 0.0039201159961521626, zero point -128
   reads x_scale: float32, one number
   reads x_zero_point: int8, one number
   reads w1_quantized: int8, 8 x 3 x 3 x 3, 8 scales
   reads w1_scale: float32, 8
   reads w1_zero_point: int8, 8
   reads c1r_scale: float32, one number
   reads c1r_zero_point: int8, one number
   reads b1_quantized: int32, 8
   writes c1r_QuantizeLinear_Output: int8, 1 x 8 x 6 x 6, scale 0.009002956561744213, zero point -128 */
enum {
    c1_input_offset = 128,
    c1_filter_offset = 0,
    c1_output_offset = -128,
    c1_activation_min = -128,
    c1_activation_max = 127,
    c1_input_n = 1,
    c1_input_c = 3,
    c1_input_h = 6,
    c1_input_w = 6,
    c1_output_n = 1,
    c1_output_c = 8,
    c1_output_h = 6,
    c1_output_w = 6,
    c1_filter_h = 3,
    c1_stride_h = 1,
    c1_dilation_h = 1,
    c1_pad_top = 1,
    c1_filter_w = 3,
    c1_stride_w = 1,
    c1_dilation_w = 1,
    c1_pad_left = 1,
};
static const int32_t c1_multiplier[8] = {
    1247608121, 1226234070, 1153957856, 1238751248, 1250464846, 1131697182, 1105144732, 1253302287,
};
static const int32_t c1_shift[8] = {
    -9, -9, -9, -9, -9, -9, -9, -9,
};
static const int8_t c1_weights[216] = { /* 8 x 3 x 3 x 3 */
    46, -4, 69, 59, -8, 103, 80, 127, 85, -90, -51, 107, 107, 120, 75, -39, 19, 109, -87, -107, -98,
    118, -57, 107, 56, -55, 75, -80, -20, -86, -104, 97, -58, -123, -121, 71, 8, 92, -101, 13, 96,
    -114, 127, 111, -116, -108, -69, -77, -5, 33, 36, 24, 83, 12, 78, 26, -95, -87, -31, -123, -71,
    119, -92, -8, -57, 21, -59, 40, -26, -127, -118, 76, -43, -83, 58, 77, -8, 49, -12, 66, 19, -64,
    25, -52, 124, -88, -10, -118, -63, 12, 127, 62, -118, 115, -19, 122, -55, -100, 43, 10, 37, -53,
    -37, 74, 121, 127, 77, -2, -88, -58, 89, -116, 50, -25, 118, -38, 1, -27, -35, 81, -104, 118,
    -109, -48, -41, -67, -116, -99, 71, 0, 18, 127, 69, 49, 23, 42, 44, 38, 126, 7, -91, 44, 37, 25,
    -89, -73, -71, -119, 52, 11, 8, -79, 76, 72, 27, -120, -110, 31, 93, -61, 127, -20, -70, -53,
    -35, -3, -108, -37, 110, -127, 72, 58, 64, 87, -33, -103, -77, 32, 33, -109, -95, -4, -49, 35,
    -27, -101, 15, 112, 69, -5, 0, 12, 54, 78, 14, -11, -5, -116, -92, 44, 127, 49, 89, 51, 85, -82,
    74, -54, -1, 86, 55, -28, 53, 95, 24, 91,
};
static const int32_t c1_bias[8] = {
    3027, 399, 15135, 11440, -5170, -2875, 1983, -16751,
};

static inline int32_t c1_code(int64_t sum, int channel)
{
    return tflite_double((int32_t)sum, c1_multiplier[channel], 31 - c1_shift[channel], c1_output_offset, c1_activation_min, c1_activation_max);
}

/* c2: QLinearConv
   reads c1r_QuantizeLinear_Output: int8, 1 x 8 x 6 x 6, scale 0.009002956561744213, zero point -128
   reads c1r_scale: float32, one number
   reads c1r_zero_point: int8, one number
   reads w2_quantized: int8, 12 x 8 x 3 x 3, 12 scales
   reads w2_scale: float32, 12
   reads w2_zero_point: int8, 12
   reads c2r_scale: float32, one number
   reads c2r_zero_point: int8, one number
   reads b2_quantized: int32, 12
   writes c2r_QuantizeLinear_Output: int8, 1 x 12 x 3 x 3, scale 0.004443432204425335, zero point -128 */
enum {
    c2_input_offset = 128,
    c2_filter_offset = 0,
    c2_output_offset = -128,
    c2_activation_min = -128,
    c2_activation_max = 127,
    c2_input_n = 1,
    c2_input_c = 8,
    c2_input_h = 6,
    c2_input_w = 6,
    c2_output_n = 1,
    c2_output_c = 12,
    c2_output_h = 3,
    c2_output_w = 3,
    c2_filter_h = 3,
    c2_stride_h = 2,
    c2_dilation_h = 1,
    c2_pad_top = 1,
    c2_filter_w = 3,
    c2_stride_w = 2,
    c2_dilation_w = 1,
    c2_pad_left = 1,
};
static const int32_t c2_multiplier[12] = {
    1759743478, 1780485829, 1740252334, 1732030085, 1696951316, 1741979826, 1789495965, 1789679970,
    1756750257, 1789231823, 1783103519, 1775895825,
};
static const int32_t c2_shift[12] = {
    -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8,
};
static const int8_t c2_weights[864] = { /* 12 x 8 x 3 x 3 */
    112, -41, 66, 88, -124, -84, 78, -25, 75, -116, -51, -87, 88, 105, 52, 59, -64, 44, 108, 51, 88,
    -85, -98, -78, 54, 10, -55, -16, -119, -92, 85, -12, -48, 87, -77, -88, -21, -61, -28, -107,
    -126, 5, -36, 91, -115, 104, -123, 44, -73, -118, 70, -127, -46, 99, 61, 103, 82, 118, 73, 6,
    -126, -84, -30, -100, 24, 32, -32, 108, -91, 72, -38, 35, 119, 50, -20, 54, -117, 2, 115, -111,
    25, 11, 46, 92, -94, -32, 109, -56, 86, -54, -119, -113, -118, 58, -44, -40, -112, 1, -87, -84,
    5, -51, 72, 66, 8, 24, -77, -80, -117, 62, -78, -54, 127, -102, -110, 42, 23, -65, -49, 111,
    101, 7, -57, 108, -99, 113, -117, -90, -15, 95, -113, -41, -18, -38, -56, -22, 82, 114, 112,
    -79, 118, -13, 117, 26, -110, -86, -11, -33, 107, 74, -71, 53, -29, 101, -115, 65, 91, 108, -15,
    -114, -16, 109, -57, 110, -45, -48, -109, 97, 9, 40, 98, 103, 89, -106, -50, -117, -105, -37,
    -68, 38, -116, 55, 78, 112, 60, -121, 18, -93, -10, 20, 96, 63, -33, 66, 68, -69, -75, -14, 127,
    25, 1, -70, -23, 82, 77, 21, -127, -53, 82, -46, 60, -51, 31, -47, 21, 55, -33, 91, 20, -50,
    126, -12, 98, -55, -13, -14, 3, 83, -39, 55, 53, 65, 110, 48, -9, 127, 111, -87, 52, 103, -102,
    -17, -89, -27, 35, -111, -28, -48, -66, 49, -87, -53, 64, 99, -118, -57, -76, 79, 45, 93, -86,
    106, -59, 41, -99, -68, 30, -109, -14, 1, 43, -109, 91, 111, 103, 82, 108, 11, -81, 107, 6, -10,
    48, -105, 98, -72, 34, 106, 123, 59, -44, 104, 72, 93, 97, -122, -114, 79, 27, 34, -95, -65,
    -75, 72, -62, 43, -124, -28, -115, 127, 48, -87, -23, -63, -68, 15, 106, 124, -46, 72, 17, 74,
    -34, 45, -47, -14, 67, 66, -85, 82, 120, 44, 118, 56, -3, -45, 24, -105, 5, 59, -2, -122, -45,
    -45, -63, 62, -25, 109, -42, 74, 40, -82, 31, -77, -73, 25, 100, 1, -103, 58, 105, -72, 91, 34,
    32, -106, 87, 96, -8, 33, 13, -127, 13, 19, -12, -89, -35, 52, 10, -31, -62, -21, -60, 59, -101,
    31, 106, 5, -95, -78, -78, -61, 61, -103, 68, -22, -78, -31, 65, -103, -90, -81, -48, -116, -83,
    -126, -110, 101, -66, 101, -116, -44, 45, -57, 42, -90, -8, 24, 97, -51, -61, 104, -66, 124,
    101, -4, 67, 27, 6, 19, -114, -101, 21, 22, -93, -102, 73, 25, 2, -82, -2, -98, 12, 26, -74, 15,
    -3, -1, -90, -13, -44, -4, -10, -6, -109, 35, -83, 24, -54, 112, 82, -91, -53, 28, -85, 35,
    -123, -60, 61, -108, -116, 122, -79, 120, 95, -23, -68, 26, 18, -85, 95, -104, 127, 107, 94,
    -45, -57, -17, 32, 80, 45, -59, 38, -50, 7, 16, 55, 104, 121, -49, 58, -117, -79, 16, -37, 119,
    65, 86, 73, -47, -88, 101, -42, -127, 117, 14, 27, -70, -78, 51, 88, -38, -29, 98, 92, -66, 44,
    25, 17, 82, -94, 26, 68, 43, -67, 106, -100, 1, -75, 69, 48, -60, -53, 6, -19, 91, -64, 74, -26,
    -88, 109, 100, -73, 20, 124, 14, 15, 1, 124, 102, 2, -70, -121, -19, 102, 65, -98, 32, -103,
    110, 5, -33, 84, -101, -4, 89, 105, -88, 94, 127, 28, -81, -28, -85, -68, -19, 83, -77, 43, -45,
    -101, -49, -65, -48, -42, -2, 123, 36, -114, -58, 24, 52, -8, 119, -97, 76, 39, -77, 89, 95,
    -96, 36, 85, 83, -90, -86, -114, -59, -3, 61, -28, -121, -33, 56, 79, -53, -86, -100, 123, -10,
    123, 127, 12, -121, -98, -17, -96, -106, -39, 33, -70, 91, -82, 78, -117, 45, 79, 51, -56, 35,
    -78, 34, 59, -66, -84, 80, -59, 64, -41, 59, -72, -33, 45, -75, 66, 28, 68, 29, -90, 80, 24, 22,
    -12, -33, -122, 100, 48, 114, 7, -80, -49, -50, -45, 112, -59, 72, 82, 123, 110, -3, 43, 71, 59,
    42, 36, -1, -116, -45, 26, -120, -98, -82, -112, -84, 101, -42, 42, -28, 110, -60, -90, 30, 82,
    -103, -38, -43, 119, 60, 119, -127, -82, -86, 34, 46, 96, -104, 38, 68, 107, -75, -3, 127, 3,
    -98, 109, -15, -71, 69, -122, -94, 14, 57, 4, 24, -118, 109, 75, 52, 83, 14, -47, -15, -111, 50,
    96, -109, 76, 45, -30, -22, -41, 91, -24, -110, -47, -1, -5, 74, 17, 88, -102, 94, -116, 58,
    -27, 22, 99, 38, -3, -89, 44, 68, 37, 86, -123, 39, 93, -45, 64, 16, 51, -97, -20, 89, -26, 127,
    -90, -115, -45, -85, 20, -51, -125, -76, 24, -37, -123, 84, 126, -53, 117, -39, -50, 113, 119,
    -42, 47, -78, 107, 123, -84, -62, -24, 47, -53, -26, -78, -99, 74, 9, 83, 15, -25, -14, 5, 108,
    -78, 86, -19, 124, -41, -106, -7, -25, 58, -103, 29, -44, -79, 99, -80, -70, -108, 105, 72, 127,
    51, 63, -82, -5, -59, 44, -10, -86,
};
static const int32_t c2_bias[12] = {
    -1206, 4948, 2110, -7970, -1892, -14422, 11203, -4942, 1155, -4169, -252, -10960,
};

static inline int32_t c2_code(int64_t sum, int channel)
{
    return tflite_double((int32_t)sum, c2_multiplier[channel], 31 - c2_shift[channel], c2_output_offset, c2_activation_min, c2_activation_max);
}

/* c3: QLinearConv
   reads c2r_QuantizeLinear_Output: int8, 1 x 12 x 3 x 3, scale 0.004443432204425335, zero point -128
   reads c2r_scale: float32, one number
   reads c2r_zero_point: int8, one number
   reads w3_quantized: int8, 16 x 12 x 1 x 1, 16 scales
   reads w3_scale: float32, 16
   reads w3_zero_point: int8, 16
   reads c3r_scale: float32, one number
   reads c3r_zero_point: int8, one number
   reads b3_quantized: int32, 16
   writes c3r_QuantizeLinear_Output: int8, 1 x 16 x 3 x 3, scale 0.0045293173752725124, zero point -128 */
enum {
    c3_input_offset = 128,
    c3_filter_offset = 0,
    c3_output_offset = -128,
    c3_activation_min = -128,
    c3_activation_max = 127,
    c3_input_n = 1,
    c3_input_c = 12,
    c3_input_h = 3,
    c3_input_w = 3,
    c3_output_n = 1,
    c3_output_c = 16,
    c3_output_h = 3,
    c3_output_w = 3,
    c3_filter_h = 1,
    c3_stride_h = 1,
    c3_dilation_h = 1,
    c3_pad_top = 0,
    c3_filter_w = 1,
    c3_stride_w = 1,
    c3_dilation_w = 1,
    c3_pad_left = 0,
};
static const int32_t c3_multiplier[16] = {
    1858976428, 1976919729, 2047530477, 2062504789, 1968380022, 2059409418, 1990022503, 2013823332,
    2118731040, 2044137122, 2037926665, 2073001801, 2075358175, 2051524196, 1947521868, 2095287467,
};
static const int32_t c3_shift[16] = {
    -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8, -8,
};
static const int8_t c3_weights[192] = { /* 16 x 12 x 1 x 1 */
    122, 127, 12, -13, 99, -16, 20, 122, -78, 58, -102, 114, 98, 127, -53, -54, 108, -31, 35, 110,
    1, 45, -42, -100, 127, 57, -97, -26, 125, -39, 95, -116, 44, 107, 103, 6, 91, -23, -127, 117,
    -14, 6, -37, 89, -64, 15, 79, 112, -118, -92, -14, 121, -127, -53, 63, 101, -69, 127, 27, 82,
    -18, -35, 37, 108, -75, -51, -29, -42, -127, 32, 58, -105, -46, -50, 97, -127, -83, -15, 74, 26,
    -41, 58, 9, 17, 0, -92, 56, -6, -21, -37, 52, -63, 34, 38, 1, 127, 8, 80, -90, 44, 67, 20, -5,
    127, 38, -7, -117, 52, -119, 15, -64, 127, 77, 114, -96, -63, -105, 104, -69, 43, 39, -19, -26,
    127, -113, -10, -35, 126, -120, 18, 56, 7, 113, -94, 91, -127, 86, -15, -118, 33, 64, 64, 43,
    114, -7, 107, 96, -113, 109, -7, -127, -28, -31, 95, -122, -3, -106, 42, -37, -43, -84, 22, -73,
    -91, 127, 70, 104, 106, -118, 127, -116, 88, 113, 18, 29, 60, -114, -28, 102, 79, 45, -96, -127,
    89, 81, 11, -37, 73, -4, -54, 72, 23,
};
static const int32_t c3_bias[16] = {
    -7620, 2428, -175, -9953, 5088, -77, -578, -14022, -2395, -436, 359, -1312, -5539, 568, -2292,
    8177,
};

static inline int32_t c3_code(int64_t sum, int channel)
{
    return tflite_double((int32_t)sum, c3_multiplier[channel], 31 - c3_shift[channel], c3_output_offset, c3_activation_min, c3_activation_max);
}

/* p: QLinearGlobalAveragePool
   reads c3r_QuantizeLinear_Output: int8, 1 x 16 x 3 x 3, scale 0.0045293173752725124, zero point -128
   reads c3r_scale: float32, one number
   reads c3r_zero_point: int8, one number
   reads p_scale: float32, one number
   reads p_zero_point: int8, one number
   writes p_QuantizeLinear_Output: int8, 1 x 16 x 1 x 1, scale 0.0021348365116864443, zero point -128 */
enum {
    p_count = 9,
    p_input_zero_point = -128,
    p_output_zero_point = -128,
    p_output_min = -128,
    p_output_max = 127,
};
static const float p_scale = 0x1.e2c9780000000p-3f;

static inline int32_t p_code(int32_t sum)
{
    return average_pool_ort_global(sum - p_count * p_input_zero_point, p_scale, p_output_zero_point, p_output_min, p_output_max);
}

/* p_DequantizeLinear: DequantizeLinear
   reads p_QuantizeLinear_Output: int8, 1 x 16 x 1 x 1, scale 0.0021348365116864443, zero point -128
   reads p_scale: float32, one number
   reads p_zero_point: int8, one number
   writes p_DequantizeLinear_Output: float32, 1 x 16 x 1 x 1 */
enum {
    p_DequantizeLinear_input_zero_point = -128,
};
static const float p_DequantizeLinear_scale = 0x1.17d13a0000000p-9f;

static inline float p_DequantizeLinear_code(int32_t x)
{
    return (float)(x - p_DequantizeLinear_input_zero_point) * p_DequantizeLinear_scale;
}

/* f: Flatten
   reads p_DequantizeLinear_Output: float32, 1 x 16 x 1 x 1
   writes f: float32, 1 x 16 */

static inline int32_t f_place(int32_t at)
{
    return at;
}

/* f_QuantizeLinear: QuantizeLinear
   reads f: float32, 1 x 16
   reads p_scale: float32, one number
   reads p_zero_point: int8, one number
   writes f_QuantizeLinear_Output: int8, 1 x 16, scale 0.0021348365116864443, zero point -128 */
enum {
    f_QuantizeLinear_output_zero_point = -128,
    f_QuantizeLinear_output_min = -128,
    f_QuantizeLinear_output_max = 127,
};
static const float f_QuantizeLinear_scale = 0x1.17d13a0000000p-9f;

static inline int32_t f_QuantizeLinear_code(float value)
{
    const float code = rintf(value / f_QuantizeLinear_scale) + (float)f_QuantizeLinear_output_zero_point;
    return code < f_QuantizeLinear_output_min ? f_QuantizeLinear_output_min : code > f_QuantizeLinear_output_max ? f_QuantizeLinear_output_max : (int32_t)code;
}

/* y: QGemm
   reads f_QuantizeLinear_Output: int8, 1 x 16, scale 0.0021348365116864443, zero point -128
   reads p_scale: float32, one number
   reads p_zero_point: int8, one number
   reads w4_quantized: int8, 16 x 6, 6 scales
   reads w4_scale: float32, 6
   reads w4_zero_point: int8, 6
   reads b4_quantized: int32, 6
   reads y_scale: float32, one number
   reads y_zero_point: int8, one number
   writes y_QuantizeLinear_Output: int8, 1 x 6, scale 0.0019884260836988688, zero point -78 */
enum {
    y_input_offset = 128,
    y_filter_offset = 0,
    y_output_offset = -78,
    y_activation_min = -128,
    y_activation_max = 127,
};
static const int32_t y_multiplier[6] = {
    1968981976, 1747004493, 1702039096, 1955956716, 1605903434, 1957613509,
};
static const int32_t y_shift[6] = {
    -8, -8, -8, -8, -8, -8,
};
static const int8_t y_weights[96] = { /* 16 x 6 */
    -98, -84, 43, 23, -122, -127, 51, 127, -36, -23, 92, -120, 96, -31, 74, 55, 46, 105, 38, -56,
    10, -3, 115, 5, -127, 84, 0, 72, -32, -101, -123, 57, -116, 61, -74, 63, -89, -66, -106, -90,
    -1, 34, 125, -39, 20, -13, -67, -96, 15, -127, -12, -66, -8, -38, 80, 9, 28, 127, 93, -7, -31,
    -34, -40, -35, -48, 45, 48, 92, 44, -95, -28, -118, -84, -57, 90, -65, -107, 84, -61, 97, -12,
    16, -104, -23, 39, 56, 127, 19, -127, 125, 39, 68, 70, 39, -18, 32,
};
static const int32_t y_bias[6] = {
    2538, -6827, 20168, -9808, 14010, 5323,
};

static inline int32_t y_code(int64_t sum, int channel)
{
    return tflite_double((int32_t)sum, y_multiplier[channel], 31 - y_shift[channel], y_output_offset, y_activation_min, y_activation_max);
}

/* y_DequantizeLinear: DequantizeLinear
   reads y_QuantizeLinear_Output: int8, 1 x 6, scale 0.0019884260836988688, zero point -78
   reads y_scale: float32, one number
   reads y_zero_point: int8, one number
   writes y: float32, 1 x 6 */
enum {
    y_DequantizeLinear_input_zero_point = -78,
};
static const float y_DequantizeLinear_scale = 0x1.04a0820000000p-9f;

static inline float y_DequantizeLinear_code(int32_t x)
{
    return (float)(x - y_DequantizeLinear_input_zero_point) * y_DequantizeLinear_scale;
}

#endif
