"""What is asked of a library of kernels: the meaning of each row of the table in `qops.tflite.kernels`."""

from typing import Any, NamedTuple

from qops.tflite.arithmetic import Codes, scaled, scaled_once

__all__ = ["Kernel"]


class Kernel(NamedTuple):
    """One library of kernels. A rule is a name in `qops.rules.TABLE`; "" means that there is no such kernel."""

    name: str
    conv: str
    """The rule of convolutions of int8, without groups."""
    conv_groups: str
    """The rule of convolutions of int8 with groups."""
    conv_int4: str
    """The rule of convolutions with weights of 4 bits, without groups; with groups it is `tail`."""
    conv_u8: str
    """The rule of convolutions of uint8, without groups."""
    conv_groups_u8: str
    """The rule of convolutions of uint8 with groups."""
    conv_bias32: str
    """The rule of convolutions of int16 with a bias of int32; with one of int64 it is "tflite-int64acc"."""
    conv_no_bias: str
    """The rule of convolutions of int16 without a bias; sums of a rule of 32 bits wrap."""
    depthwise: str
    """The rule of depthwise convolutions of int8."""
    depthwise_int4: str
    """The rule of depthwise convolutions with weights of 4 bits."""
    depthwise_u8: str
    """The rule of depthwise convolutions of uint8."""
    depthwise_block: int
    """Channels that a depthwise convolution computes together. Channels behind the last block take the tail's rule."""
    channel_block: int
    """Channels that are computed together with weights of 4 bits, and in TRANSPOSE_CONV."""
    tail: str
    """The rule of the elements that fill no block."""
    channel_scale: str
    """How the scale of a convolution of int8 is made, in the words of `qops.rules.real_scale`."""
    u8_scale: str
    """How the scale of a convolution of uint8 is made, in the words of `qops.rules.real_scale`."""
    ignores_w_zero_point: bool
    """Whether DEPTHWISE_CONV_2D of int8 takes a zero point of the weights, which it does not read."""
    scale_below: float
    """The scale from which on there is no convolution, TRANSPOSE_CONV or FULLY_CONNECTED of 8 bits."""
    needs_bias: bool
    """Whether CONV_2D refuses to run without a bias."""
    depthwise_needs_bias: bool
    """Whether DEPTHWISE_CONV_2D of 8 bits refuses to run without a bias."""
    checks_bias: bool
    """Whether the scale of a bias is compared with that of the sums, where all channels have one scale."""
    svdf_bias_off: float
    """How far the scale of a bias of SVDF may be from that of its sums."""
    biases_by_option: bool
    """Whether an option, not the tensor, gives the type of the bias of CONV_2D and TRANSPOSE_CONV of int16."""
    transpose: str
    """The rule of TRANSPOSE_CONV of int8."""
    transpose_block: int
    """Channels that TRANSPOSE_CONV computes together."""
    transpose_beyond: str
    """The rule that takes over where padding is SAME and the window smaller than the stride."""
    transpose_bias32: str
    """The rule of TRANSPOSE_CONV of int16 with a bias of int32."""
    checks_output_shape: bool
    """Whether TRANSPOSE_CONV refuses an output_shape that the convolution does not take to the shape of x."""
    connected: str
    """The rule of FULLY_CONNECTED of int8, with weights of 8 bits."""
    connected_int4: str
    """The rule of FULLY_CONNECTED with weights of 4 bits, if each sum has an even number of them."""
    connected_odd_int4: str
    """The rule of FULLY_CONNECTED with weights of 4 bits, if each sum has an odd number of them."""
    connected_int4_factor: int
    """An even number of weights and the bias are multiplied by it, the scale is divided by it; sums wrap earlier."""
    connected_u8: str
    """The rule of FULLY_CONNECTED of uint8."""
    connected_scale: str
    """How the one scale of a FULLY_CONNECTED is made."""
    connected_odd_scale: str
    """How the scale of a FULLY_CONNECTED is made, if each sum has an odd number of weights of 4 bits."""
    connected_wide: str
    """The rule of FULLY_CONNECTED of int16 with a bias of int64."""
    connected_no_bias: str
    """The rule of FULLY_CONNECTED of int16 without a bias; sums of a rule of 32 bits wrap."""
    connected_bias32: str
    """The rule of FULLY_CONNECTED of int16 with a bias of int32."""
    connected_int16: str
    """The rule of FULLY_CONNECTED of int16 with weights of 16 bits."""
    connected_channels_int4: bool
    """Whether weights of 4 bits may have a scale for each output."""
    matmul: str
    """The rule of BATCH_MATMUL of int8, if the zero point of b is 0."""
    matmul_offset: str
    """The rule of BATCH_MATMUL of int8, if the zero point of b is another."""
    matmul_scale: str
    """How BATCH_MATMUL of int8 makes its scale, if the zero point of b is 0."""
    matmul_other_scale: str
    """How BATCH_MATMUL makes its scale for other zero points of b, and for int16."""
    matmul_16x8: tuple[str, ...]
    """Types of b beside int16 that go with an a of int16."""
    limits: str
    """Where 8 bits add the zero point to the limits of an activation: "outside" of a rounding half away from 0, as
    the kernels that take over do, or "inside" of one half to even."""
    checks_activation: bool
    """Whether a limit of a convolution's activation, in steps of the result, must fit int32."""
    rounds_once: bool
    """Whether multipliers round once, half up; else twice, half up and half away."""
    add: str
    """The rule of ADD of 8 bits, in `qops.rules.ADD`; "blocks" are those of 16 elements, of uint8 8, of "optimized"."""
    sub: str
    """The rule of SUB of 8 bits, in `qops.rules.ADD`."""
    add_beyond: str
    """The rule of ADD where ratios of scales are not in [2**-10, 2**8), if another one takes over there."""
    sub_beyond: str
    """The rule of SUB where ratios of scales are not in [2**-10, 2**8), if another one takes over there."""
    add_int16_in_blocks: bool
    """Whether ADD of int16 rounds operands once in whole blocks of 16 elements, where shapes do not broadcast."""
    any_zero_point: bool
    """Whether the zero points of operands of ADD and MUL need not be codes."""
    shifts_int16: bool
    """Whether ADD and SUB of int16 have a kernel for scales that are powers of two."""
    mul: str
    """The rule of MUL of int8; "blocks" are those of 16 elements."""
    mul_beyond: str
    """The rule of MUL where the scale is not in [2**-16, 2**8), if another one takes over there."""
    mul_scale: str
    """How MUL makes its scale."""
    difference_aborts: bool
    """Whether SQUARED_DIFFERENCE ends the process if the last ratio of scales is 1 or more."""
    pool_rescales: bool
    """Whether pools take a result of another scale or zero point than x, whose codes they copy."""
    max_pool_same: bool
    """Whether MAX_POOL_2D of 8 bits, with strides within its window, demands one scale and zero point of x and y, but
    for a window of 1 by 1 with an activation, which is then all that it computes."""
    mean: str
    """How MEAN of 8 bits is made: "integer", "blocks" of 16 channels over the spatial axes, or "float"."""
    sum: str
    """How SUM is made: "bytes", which reads int8 as uint8, "linear" in float32, "float", or "integer"."""
    reduce_scales: bool
    """Whether REDUCE_MAX and REDUCE_MIN take a result of another scale than x."""
    softmax: str
    """How SOFTMAX of 8 bits to 8 bits is made: in "fixed point", in "floats", or by a table of "16 bits" and integers;
    SOFTMAX of 8 bits to 16 takes "floats" for the latter."""
    float_log_softmax: bool
    """Whether LOG_SOFTMAX uses tables of float32."""
    softmax_s16: type[Any]
    """The type in which the tables of SOFTMAX of int16 are made."""
    sigmoid_s8: str
    """How LOGISTIC and TANH of int8 are made: a "table" of float32, or "gemmlowp"."""
    sigmoid_float: type[Any]
    """The type in which the table of LOGISTIC of 8 bits is made, before its values become float32."""
    table_zero_point: str
    """Where LOGISTIC, TANH and ELU of 8 bits add the zero point: "outside" or "inside" of the rounding."""
    sigmoid_s16: str
    """How LOGISTIC and TANH of int16 are made, if the scale is that kernel's power of two; else by 256 sigmoids."""
    sigmoid_output: str
    """Which number of the result LOGISTIC of 8 bits fixes: its "scale", its "zero point" of -128, or none."""
    norm_checks: bool
    """Whether L2_NORMALIZATION refuses another scale or zero point of the result than the one that it has."""
    ratio: type[Any]
    """The type of the ratios of scales in ABS, LEAKY_RELU, PRELU, RELU, SVDF and RSQRT in integers."""
    leaky: str
    """How LEAKY_RELU of 8 bits is made: "integer", or "8.8", of multipliers with 8 bits behind the point."""
    leaky_s16_signed: bool
    """Whether a negative slope of LEAKY_RELU of int16 is a negative multiplier; else the product is negated."""
    relu6_rescales: bool
    """Whether RELU6 takes codes to the scale of the result; else it only clamps."""
    rsqrt_s16: str
    """How RSQRT of int16 is made: a "table" of 513 entries, or "integer"."""
    prelu_alpha_s16: tuple[str, ...]
    """The types that alpha may have in PRELU of int16, which reads its bytes as int8."""
    quantize: str
    """How QUANTIZE of float32 is made: "divide", "blocks" of 8 elements, or "even"."""
    requantize: str
    """How QUANTIZE of 8 bits to 8 bits is made: "integer", "blocks" of 16 elements, or "8.8"."""
    dequantize_block: int
    """Elements that DEQUANTIZE computes together, as ``x * scale - zero_point * scale`` in float32."""
    bilinear_bits: int
    """The fraction of the weights of RESIZE_BILINEAR of int8, in bits; 10 is TFLite's, which truncates positions."""
    bilinear_weights: bool
    """Whether RESIZE_BILINEAR of uint8 multiplies the two weights of a pixel first, not the pixel by one of them."""
    concatenates_any: bool
    """Whether CONCATENATION ignores a fused activation."""
    reads_int32: bool
    """Whether PAD and PADV2 read paddings of int64 as words of int32."""
    quantizes: dict[str, str]
    """The types that QUANTIZE makes of a type."""
    one_column: dict[str, str]
    """The rule that CONV_2D and FULLY_CONNECTED of 8 bits use instead of another, by that one's name, where a call
    makes one pixel, or one row, of 4 results at least, each a sum of 8 products at least."""
    left_shift: dict[str, str]
    """What happens to sums of 8 bits in CONV_2D and FULLY_CONNECTED, by the rule, where a shift to the left before the
    multiplication leaves int32: it "wraps", or "saturates"."""
    depthwise_left_shift: dict[str, str]
    """What happens to such sums in DEPTHWISE_CONV_2D, by the rule."""
    shifts_3x3_last: tuple[str, ...]
    """The rules of DEPTHWISE_CONV_2D of int8 that, with 3 by 3 taps and whole blocks of channels, shift to the left
    after the multiplication, which then wraps."""
    pairs: str
    """Whether products of int8 k and k + 8 of a block of 16 are added in 16 bits, where twice the product of two lowest
    codes wraps: of the whole "window", of each "tap", or "" if they are not."""
    rules_of_pairs: tuple[str, ...]
    """The rules of the layers whose products are added so."""
    depthwise_pairs: str
    """"column" if depthwise filters of int8, of up to 25 taps, add the products of two taps in 16 bits, which wraps for
    two lowest codes: those that follow each other down the columns of the window. CONV_2D with as many groups as
    channels of data and of results is such a filter too."""
    transpose_pairs: str
    """Where TRANSPOSE_CONV of int8 adds such products of the channels of a tap in 16 bits: "pixels" of the data alone,
    or "grid", also of the zero point beyond their image, and between them where a stride is larger than the window;
    "" if it does not."""
    lstm_pairs: str
    """"whole" if the LSTM adds such products of whole blocks of 16 codes in 16 bits; "" if it does not."""
    wraps_below: bool
    """Whether CONV_2D, FULLY_CONNECTED and TRANSPOSE_CONV of int8 in float32 cut a scaled sum to int32 and then add the
    zero point, which wraps below: as on x86 with AVX-512; with AVX2 it saturates."""
    int4_wraps_below: bool
    """Whether FULLY_CONNECTED with weights of int4 and an even depth wraps below in that way: as on x86 with AVX2."""
    casts: str
    """What a float beyond int32 becomes: the "lowest" integer, or it "saturates"."""
    fuses: bool
    """Whether products and sums of float32 are fused, and so rounded once."""
    hard_swish_block: int
    """Elements that HARD_SWISH computes together, by another rounding than the rest."""
    lstm: str
    """The arithmetic of the LSTM: "lite" or "micro"."""
    state_s8: bool
    """Whether SVDF keeps a state of int8."""

    def scaled(self, x: Any, by: tuple[Any, Any]) -> Codes:
        """Give x times a multiplier, rounded as often as the kernel library does."""
        return (scaled_once if self.rounds_once else scaled)(x, by)
