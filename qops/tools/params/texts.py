"""C that several ops of a port share: fixed point, tables between which is interpolated, places, ranges of floats."""

__all__ = ["TEXTS"]

TEXTS = {
    "fixed point": """/* gemmlowp's fixed point of 31 bits */
static int64_t fixed_high(int64_t a, int64_t b)
{
    const int64_t y = shifted_64(a * b + ((int64_t)1 << 30), 31);
    return y > INT32_MAX ? INT32_MAX : y;
}

static int64_t fixed_away(int64_t x, int n)
{
    return n > 0 ? shifted_64(x + ((int64_t)1 << n >> 1) - (x < 0), n) : x;
}

static int64_t fixed_left(int64_t x, int n)
{
    const int64_t y = n < 0 ? fixed_away(x, -n) : x * ((int64_t)1 << n);
    return y > INT32_MAX ? INT32_MAX : y < INT32_MIN ? INT32_MIN : y;
}

static int fixed_zeros(int64_t x)
{
    int n = 32;
    for (; x; x >>= 1)
        n--;
    return n;
}

static int64_t fixed_exp(int64_t a)
{
    static const int64_t barrel[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    const int64_t inner = (a & ((1 << 24) - 1)) - (1 << 24), rest = inner - a;
    const int64_t x = fixed_left(inner, 5) + (1 << 28), square = fixed_high(x, x);
    const int64_t third = fixed_high(fixed_away(fixed_high(square, square), 2) + fixed_high(square, x), 715827883);
    int64_t y = 1895147668 + fixed_high(1895147668, x + fixed_away(third + square, 1));
    y = y > INT32_MAX ? INT32_MAX : y;
    for (int i = 0; i < 7; i++)
        if (rest & ((int64_t)1 << (24 + i)))
            y = fixed_high(y, barrel[i]);
    return a == 0 ? INT32_MAX : y;
}

static int64_t fixed_reciprocal(int64_t a)
{
    const int64_t half = shifted_64(a + INT32_MAX + 1, 1);
    int64_t x = 1515870810 + fixed_high(half, -1010580540);
    for (int i = 0; i < 3; i++)
        x += fixed_left(fixed_high(x, (1 << 29) - fixed_high(half, x)), 2);
    return fixed_left(x, 1);
}
""",
    "fixed log": """static int64_t fixed_log(int64_t v)
{
    int zeros = fixed_zeros(v);
    const int64_t low = fixed_left(fixed_high(fixed_left(v, zeros - 1), 1518500250), 1);
    int64_t low_z = fixed_left(12 - zeros, 25) + (536870912 >> 6);
    low_z = low_z > INT32_MAX ? INT32_MAX : low_z < INT32_MIN ? INT32_MIN : low_z;
    zeros = fixed_zeros(fixed_high(v, 1518500250)) - 1;
    int64_t high_z = fixed_left(12 - zeros, 25) - (536870912 >> 6);
    high_z = high_z > INT32_MAX ? INT32_MAX : high_z < INT32_MIN ? INT32_MIN : high_z;
    const int64_t high = fixed_left(v, zeros), r = low < high ? low : high, z = low_z > high_z ? low_z : high_z;
    const int64_t p = fixed_away(r + 1805811301, 1), q = wrap_s32(2 * (int64_t)wrap_s32(r - 1805811301));
    const int64_t square = fixed_high(q, q);
    const int64_t top = wrap_s32(fixed_high(q, r) + fixed_high(fixed_high(q, square), 117049297));
    const int64_t inner = wrap_s32(1057819769 + q + fixed_high(127690142, square));
    const int64_t bottom = wrap_s32(fixed_high(p, inner) + fixed_high(638450708, q));
    const int64_t series = fixed_high(fixed_left(top, -6), fixed_reciprocal(bottom));
    return fixed_left(wrap_s32(fixed_high(z, 1488522236) + series), 1);
}
""",
    "fixed root": """/* 1 / sqrt(x) as a multiplier; the shift is positive to the left */
static int64_t fixed_root(int64_t x, int *shift)
{
    *shift = 0;
    if (x <= 1)
        return INT32_MAX;
    int right = 11;
    for (; x >= 1 << 29; x /= 4)
        right++;
    const int pairs = (fixed_zeros(x) - 1) / 2 - 1;
    right -= pairs;
    const int64_t half = fixed_away((x << 2 * pairs) >> 1, 1);
    int64_t root = 1 << 28;
    for (int i = 0; i < 5; i++) {
        const int64_t cube = fixed_left(fixed_high(fixed_high(root, root), root), 6);
        root = fixed_left(fixed_high((1 << 28) + (1 << 27), root) - fixed_high(half, cube), 3);
    }
    root = fixed_high(root, 1518500250);
    *shift = right < 0 ? 0 : -right;
    return right < 0 ? root << -right : root;
}
""",
    "line": """/* a table of 513 points, between which 16 bits are interpolated */
static int32_t line_at(const int16_t *table, int64_t x)
{
    x = x > INT16_MAX ? INT16_MAX : x < INT16_MIN ? INT16_MIN : x;
    const int64_t at = 256 + shifted_64(x, 7), rest = x & 127;
    const int64_t slope = (int16_t)(uint16_t)(uint32_t)(table[at + 1] - table[at]);
    return (int16_t)(uint16_t)(uint64_t)(table[at] + shifted_64(slope * rest + 64, 7));
}
""",
    "places": """/* where the code at a place comes from: a sum over axes, the last one first; -1 for nowhere */
static int32_t place_of(const int32_t *places, const int32_t *sizes, int axes, int32_t at)
{
    int32_t from = 0;
    for (int i = 0; i < axes; i++) {
        if (places[at % sizes[i]] < 0)
            return -1;
        from += places[at % sizes[i]];
        places += sizes[i];
        at /= sizes[i];
    }
    return from;
}
""",
    "double-away of 48 bits": """/* what int32 does not hold becomes the lowest one, and wraps with the zero point */
static int32_t double_away_of_48_bits(int64_t sum, double scale, int32_t zero_point, int32_t lo, int32_t hi)
{
    const double near = round((double)sum * scale);
    int64_t y = (near >= -0x1p31 && near < 0x1p31 ? (int64_t)near : INT32_MIN) + (int64_t)zero_point;
    y = y < INT32_MIN ? y + UINT32_MAX + 1 : y > INT32_MAX ? y - UINT32_MAX - 1 : y;
    return y < lo ? lo : y > hi ? hi : (int32_t)y;
}
""",
    "clipped": """static int32_t clipped_16(int64_t x)
{
    return x < -32768 ? -32768 : x > 32767 ? 32767 : (int32_t)x;
}
""",
    "16 bits": """/* functions in 15 bits of numbers with 12 bits behind the point, times 3, by 256 sigmoids */
static int32_t sigmoid_16(const int32_t *sigmoids, int64_t x)
{
    const int64_t near = x < 0 ? -x : x, at = near >> 9, rest = near & 511;
    const int64_t y = at >= 255 ? 0x7FFF << 10 : (sigmoids[at] << 9) + rest * (sigmoids[at + 1] - sigmoids[at]);
    return (int32_t)((x >= 0 ? y + 512 : (1 << 25) - y + 511) >> 10);
}

static int32_t tanh_16(const int32_t *sigmoids, int64_t x)
{
    const int64_t near = x < 0 ? -x : x, at = near >> 8, rest = near & 255;
    const int64_t y = at >= 255 ? 0xFFFF << 8 : (sigmoids[at] << 8) + rest * (sigmoids[at + 1] - sigmoids[at]);
    return (int32_t)shifted_64(x >= 0 ? y - (1 << 23) + 128 : (1 << 23) - y + 127, 8);
}
""",
    "dynamic": """/* floats to uint8 over their range; gives the zero point; `step` is the scale of zeros times 255 */
static int32_t dynamic_u8(const float *x, int32_t *y, int count, float step, float *scale)
{
    float low = 0, high = 0;
    for (int i = 0; i < count; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    *scale = (high > low ? high - low : step) / 255;
    const float zero = -low / *scale, near = rintf(zero > 255 ? 255 : zero);
    for (int i = 0; i < count; i++) {
        const float code = rintf(x[i] / *scale) + near;
        y[i] = code < 0 ? 0 : code > 255 ? 255 : (int32_t)code;
    }
    return (int32_t)near;
}
""",
}
"""C that ops share, by the names that stand among the rules of a layer."""
