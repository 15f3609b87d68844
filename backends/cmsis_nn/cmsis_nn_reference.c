/* The functions of CMSIS-NN that compiled models call, by their definitions: to
 * see on any machine which numbers a board will give. Plain loops, with the
 * library's arithmetic, bit for bit, and its sizes of workspaces, which are
 * overwritten to show who relies on them. */
#include <stddef.h>
#include <string.h>

#include "cmsis_nn_api.h"

#if defined(__ARM_FEATURE_MVE)
#define HAS_MVE 1
#define HAS_DSP 0
#elif defined(__ARM_FEATURE_DSP)
#define HAS_MVE 0
#define HAS_DSP 1
#else
#define HAS_MVE 0
#define HAS_DSP 0
#endif

static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }
static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
static int8_t limited(int32_t value, cmsis_nn_activation limits) {
  return (int8_t)smaller(larger(value, limits.min), limits.max);
}

/* ---------------------------------------------------------------- arithmetic
 */

/* value / 2^exponent, halves away from zero. */
static int32_t divide_by_power_of_two(int32_t value, int exponent) {
  const int32_t mask = (int32_t)(((int64_t)1 << exponent) - 1);
  const int32_t rest = value & mask;
  const int32_t quotient = value >> exponent;
  return quotient + (rest > (mask >> 1) + (quotient < 0));
}

/* value * multiplier / 2^31 * 2^shift: rounded twice, first the product, halves
 * up, then the division; or once, halves up. */
static int32_t requantize(int32_t value, int32_t multiplier, int32_t shift) {
#ifdef CMSIS_NN_USE_SINGLE_ROUNDING
  const int64_t product = value * (int64_t)multiplier;
  const int32_t twice = (int32_t)(product >> (30 - shift));
  return (twice + 1) >> 1;
#else
  const int32_t left = shift > 0 ? shift : 0, right = shift < 0 ? -shift : 0;
  const int64_t shifted = (int32_t)((uint32_t)value << left);
  const int32_t product = (int32_t)((shifted * multiplier + (1 << 30)) >> 31);
  return divide_by_power_of_two(product, right);
#endif
}

/* a * b / 2^31, halves away from zero; both of them the least number give the
 * greatest. */
static int32_t high_product(int32_t a, int32_t b) {
  if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
  const int64_t half = (a < 0) != (b < 0) ? 1 - (1 << 30) : 1 << 30;
  return (int32_t)((a * (int64_t)b + half) / ((int64_t)1 << 31));
}

static int32_t times_power_of_two(int32_t value, int exponent) {
  const int32_t limit = (int32_t)(((int64_t)1 << (31 - exponent)) - 1);
  if (value > limit) return INT32_MAX;
  if (value < -limit) return INT32_MIN;
  return (int32_t)((uint32_t)value << exponent);
}

/* e^(value / 2^26) * 2^31 for value <= 0: e to what is left of a multiple of a
 * quarter by its series around -1/8, times e to the powers of two in that. */
static int32_t exp_of_negative(int32_t value) {
  static const int32_t factors[] = {
      1672461947, /* e^-1/4 */ 1302514674, /* e^-1/2 */
      790015084,  /* e^-1 */ 290630308,    /* e^-2 */
      39332535,   /* e^-4 */ 720401,       /* e^-8 */
      242 /* e^-16 */};
  const int32_t quarter = 1 << 24;
  const int32_t left = (value & (quarter - 1)) - quarter;
  const int32_t x = (int32_t)((uint32_t)left << 5) + (1 << 28);
  const int32_t x2 = high_product(x, x);
  const int32_t x4 = high_product(x2, x2);
  const int32_t cubic = divide_by_power_of_two(x4, 2) + high_product(x2, x);
  const int32_t sum =
      x + divide_by_power_of_two(high_product(cubic, 715827883) + x2, 1);
  int32_t result = 1895147668 + high_product(1895147668, sum);
  if (value == 0) return INT32_MAX;
  const int32_t multiple = left - value;
  for (int i = 0; i < 7; ++i) {
    if (multiple & (quarter << i)) result = high_product(result, factors[i]);
  }
  return result;
}

/* 1 / (1 + value) for fractions of 2^31 in [0, 1], by three of Newton's steps.
 */
static int32_t reciprocal_of_one_plus(int32_t value) {
  const int64_t sum = (int64_t)value + INT32_MAX;
  const int32_t half = (int32_t)((sum + (sum >= 0 ? 1 : -1)) / 2);
  int32_t x = 1515870810 + high_product(half, -1010580540);
  for (int i = 0; i < 3; ++i) {
    const int32_t error = (1 << 29) - high_product(half, x);
    x += times_power_of_two(high_product(x, error), 2);
  }
  return times_power_of_two(x, 1);
}

/* --------------------------------------------------------------- convolutions
 */

static int32_t im2col_bytes(const cmsis_nn_dims* input,
                            const cmsis_nn_dims* filter) {
  const int32_t columns = filter->w * filter->h * input->c;
  return HAS_MVE ? 4 * ((columns + 15) / 16 * 16) : 4 * ((columns + 3) / 4 * 4);
}

int32_t arm_convolve_wrapper_s8_get_buffer_size(
    const cmsis_nn_conv_params* params, const cmsis_nn_dims* input,
    const cmsis_nn_dims* filter, const cmsis_nn_dims* output) {
  const int is_point = params->padding.w == 0 && params->padding.h == 0 &&
                       filter->w == 1 && filter->h == 1 &&
                       params->dilation.w == 1 && params->dilation.h == 1;
  (void)output;
  return is_point ? 0 : im2col_bytes(input, filter);
}

/* One element of a convolution: the sum over the window at (y, x), of `count`
 * channels from `first` on. The weights begin at the window's, and are
 * `weight_step` apart from one channel to the next, `tap_step` from one tap. */
static int32_t window_sum(const int8_t* image, const cmsis_nn_dims* input,
                          int32_t y, int32_t x, cmsis_nn_tile dilation,
                          const cmsis_nn_dims* filter, int32_t offset,
                          int32_t first, int32_t count, const int8_t* weights,
                          int32_t weight_step, int32_t tap_step) {
  int32_t sum = 0;
  for (int32_t i = 0; i < filter->h; ++i) {
    for (int32_t j = 0; j < filter->w; ++j) {
      const int32_t row = y + i * dilation.h, column = x + j * dilation.w;
      if (row < 0 || row >= input->h || column < 0 || column >= input->w) {
        continue;
      }
      const int8_t* const pixel =
          image + (row * input->w + column) * input->c + first;
      const int8_t* const tap = weights + (i * filter->w + j) * tap_step;
      for (int32_t c = 0; c < count; ++c) {
        sum += (pixel[c] + offset) * tap[c * weight_step];
      }
    }
  }
  return sum;
}

arm_cmsis_nn_status arm_convolve_wrapper_s8(
    const cmsis_nn_context* ctx, const cmsis_nn_conv_params* params,
    const cmsis_nn_per_channel_quant_params* scales, const cmsis_nn_dims* input,
    const int8_t* x, const cmsis_nn_dims* filter, const int8_t* weights,
    const cmsis_nn_dims* bias_dims, const int32_t* bias,
    const cmsis_nn_dims* output, int8_t* y) {
  (void)bias_dims;
  const int32_t bytes =
      arm_convolve_wrapper_s8_get_buffer_size(params, input, filter, output);
  if (bytes > 0) memset(ctx->buf, 0x5a, (size_t)bytes);
  for (int32_t n = 0; n < input->n; ++n) {
    for (int32_t at = 0; at < output->h * output->w; ++at) {
      const int32_t row = at / output->w * params->stride.h - params->padding.h;
      const int32_t column =
          at % output->w * params->stride.w - params->padding.w;
      for (int32_t o = 0; o < output->c; ++o) {
        const int8_t* const own =
            weights + (ptrdiff_t)o * filter->h * filter->w * input->c;
        const int32_t sum =
            (bias != NULL ? bias[o] : 0) +
            window_sum(x, input, row, column, params->dilation, filter,
                       params->input_offset, 0, input->c, own, 1, input->c);
        *y++ =
            limited(requantize(sum, scales->multiplier[o], scales->shift[o]) +
                        params->output_offset,
                    params->activation);
      }
    }
    x += (ptrdiff_t)input->h * input->w * input->c;
  }
  return ARM_CMSIS_NN_SUCCESS;
}

int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(
    const cmsis_nn_dw_conv_params* params, const cmsis_nn_dims* input,
    const cmsis_nn_dims* filter, const cmsis_nn_dims* output) {
  if (input->c != output->c || input->n != 1 || params->dilation.w != 1 ||
      params->dilation.h != 1) {
    return 0;
  }
  if (HAS_MVE) return 4 * 124 * filter->w * filter->h;
  if (filter->w == 3 && filter->h == 3 && params->padding.h <= 1 &&
      params->padding.w <= 1) {
    return 0;
  }
  return HAS_DSP ? 2 * input->c * filter->w * filter->h : 0;
}

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(
    const cmsis_nn_context* ctx, const cmsis_nn_dw_conv_params* params,
    const cmsis_nn_per_channel_quant_params* scales, const cmsis_nn_dims* input,
    const int8_t* x, const cmsis_nn_dims* filter, const int8_t* weights,
    const cmsis_nn_dims* bias_dims, const int32_t* bias,
    const cmsis_nn_dims* output, int8_t* y) {
  (void)bias_dims;
  const int32_t bytes = arm_depthwise_conv_wrapper_s8_get_buffer_size(
      params, input, filter, output);
  if (bytes > 0) memset(ctx->buf, 0x5a, (size_t)bytes);
  for (int32_t n = 0; n < input->n; ++n) {
    for (int32_t at = 0; at < output->h * output->w; ++at) {
      const int32_t row = at / output->w * params->stride.h - params->padding.h;
      const int32_t column =
          at % output->w * params->stride.w - params->padding.w;
      for (int32_t o = 0; o < output->c; ++o) {
        const int32_t sum =
            (bias != NULL ? bias[o] : 0) +
            window_sum(x, input, row, column, params->dilation, filter,
                       params->input_offset, o / params->ch_mult, 1,
                       weights + o, 0, output->c);
        *y++ =
            limited(requantize(sum, scales->multiplier[o], scales->shift[o]) +
                        params->output_offset,
                    params->activation);
      }
    }
    x += (ptrdiff_t)input->h * input->w * input->c;
  }
  return ARM_CMSIS_NN_SUCCESS;
}

/* ------------------------------------------------------------ the other layers
 */

int32_t arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims* filter) {
  return HAS_MVE ? 4 * filter->c : 0;
}

arm_cmsis_nn_status arm_vector_sum_s8(int32_t* sums, int32_t columns,
                                      int32_t rows, const int8_t* weights,
                                      int32_t lhs_offset, int32_t rhs_offset,
                                      const int32_t* bias) {
  for (int32_t r = 0; r < rows; ++r) {
    int32_t sum = 0;
    for (int32_t c = 0; c < columns; ++c) sum += *weights++ + rhs_offset;
    sums[r] = sum * lhs_offset + (bias != NULL ? bias[r] : 0);
  }
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_fully_connected_s8(
    const cmsis_nn_context* ctx, const cmsis_nn_fc_params* params,
    const cmsis_nn_per_tensor_quant_params* scale, const cmsis_nn_dims* input,
    const int8_t* x, const cmsis_nn_dims* filter, const int8_t* weights,
    const cmsis_nn_dims* bias_dims, const int32_t* bias,
    const cmsis_nn_dims* output, int8_t* y) {
  (void)bias_dims;
  const int32_t* const sums = HAS_MVE ? ctx->buf : NULL;
  for (int32_t n = 0; n < input->n; ++n) {
    for (int32_t o = 0; o < output->c; ++o) {
      const int8_t* const own = weights + (ptrdiff_t)o * filter->n;
      int32_t sum = sums != NULL ? sums[o] : bias != NULL ? bias[o] : 0;
      for (int32_t c = 0; c < filter->n; ++c) {
        sum += (x[c] + (sums != NULL ? 0 : params->input_offset)) * own[c];
      }
      *y++ = limited(requantize(sum, scale->multiplier, scale->shift) +
                         params->output_offset,
                     params->activation);
    }
    x += filter->n;
  }
  return ARM_CMSIS_NN_SUCCESS;
}

/* The sum or the maximum of a window's elements; `count` is how many there are.
 */
static int32_t pool_window(const int8_t* x, const cmsis_nn_dims* input,
                           const cmsis_nn_dims* filter, int32_t y0, int32_t x0,
                           int32_t channel, int is_max, int32_t* count) {
  int32_t value = is_max ? INT8_MIN : 0;
  *count = 0;
  for (int32_t i = larger(0, y0); i < smaller(y0 + filter->h, input->h); ++i) {
    for (int32_t j = larger(0, x0); j < smaller(x0 + filter->w, input->w);
         ++j) {
      const int32_t element = x[(i * input->w + j) * input->c + channel];
      value = is_max ? larger(value, element) : value + element;
      ++*count;
    }
  }
  return value;
}

static arm_cmsis_nn_status pool(const cmsis_nn_pool_params* params,
                                const cmsis_nn_dims* input, const int8_t* x,
                                const cmsis_nn_dims* filter,
                                const cmsis_nn_dims* output, int8_t* y,
                                int is_max) {
  for (int32_t at = 0; at < output->h * output->w; ++at) {
    for (int32_t c = 0; c < input->c; ++c) {
      int32_t count;
      int32_t value =
          pool_window(x, input, filter,
                      at / output->w * params->stride.h - params->padding.h,
                      at % output->w * params->stride.w - params->padding.w, c,
                      is_max, &count);
      if (count == 0) return ARM_CMSIS_NN_ARG_ERROR;
      /* Halves away from zero. */
      if (!is_max) value = (value + (value > 0 ? 1 : -1) * (count / 2)) / count;
      *y++ = limited(value, params->activation);
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}

int32_t arm_avgpool_s8_get_buffer_size(int dim_dst_width, int ch_src) {
  (void)dim_dst_width;
  return HAS_DSP ? 4 * ch_src : 0;
}

arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context* ctx,
                                   const cmsis_nn_pool_params* params,
                                   const cmsis_nn_dims* input, const int8_t* x,
                                   const cmsis_nn_dims* filter,
                                   const cmsis_nn_dims* output, int8_t* y) {
  const int32_t bytes = arm_avgpool_s8_get_buffer_size(output->w, input->c);
  if (bytes > 0) memset(ctx->buf, 0x5a, (size_t)bytes);
  return pool(params, input, x, filter, output, y, 0);
}

arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context* ctx,
                                    const cmsis_nn_pool_params* params,
                                    const cmsis_nn_dims* input, const int8_t* x,
                                    const cmsis_nn_dims* filter,
                                    const cmsis_nn_dims* output, int8_t* y) {
  (void)ctx;
  return pool(params, input, x, filter, output, y, 1);
}

void arm_softmax_s8(const int8_t* x, int32_t rows, int32_t columns,
                    int32_t multiplier, int32_t shift, int32_t smallest,
                    int8_t* y) {
  const int sum_bits = 12; /* of a sum's integer part */
  for (int32_t r = 0; r < rows; ++r, x += columns, y += columns) {
    int32_t most = INT8_MIN, sum = 0;
    for (int32_t c = 0; c < columns; ++c) most = larger(most, x[c]);
    for (int32_t c = 0; c < columns; ++c) {
      if (x[c] - most < smallest) continue;
      const int32_t power = exp_of_negative(
          high_product((x[c] - most) * (1 << shift), multiplier));
      sum += divide_by_power_of_two(power, sum_bits);
    }
    int headroom = 0;
    while (headroom < 32 && !((uint32_t)sum << headroom & 0x80000000u)) {
      ++headroom;
    }
    const int32_t fraction =
        (int32_t)(((uint32_t)sum << headroom) - 0x80000000u);
    const int32_t scale = reciprocal_of_one_plus(fraction);
    for (int32_t c = 0; c < columns; ++c) {
      int32_t value = 0;
      if (x[c] - most >= smallest) {
        const int32_t power = exp_of_negative(
            high_product((x[c] - most) * (1 << shift), multiplier));
        value = divide_by_power_of_two(high_product(scale, power),
                                       sum_bits - headroom + 23);
      }
      y[c] = (int8_t)smaller(value + INT8_MIN, INT8_MAX);
    }
  }
}

arm_cmsis_nn_status arm_elementwise_add_s8(
    const int8_t* a, const int8_t* b, int32_t a_offset, int32_t a_multiplier,
    int32_t a_shift, int32_t b_offset, int32_t b_multiplier, int32_t b_shift,
    int32_t left_shift, int8_t* y, int32_t y_offset, int32_t y_multiplier,
    int32_t y_shift, int32_t minimum, int32_t maximum, int32_t count) {
  const cmsis_nn_activation limits = {minimum, maximum};
  for (int32_t i = 0; i < count; ++i) {
    const int32_t sum = requantize((a[i] + a_offset) * (1 << left_shift),
                                   a_multiplier, a_shift) +
                        requantize((b[i] + b_offset) * (1 << left_shift),
                                   b_multiplier, b_shift);
    y[i] = limited(requantize(sum, y_multiplier, y_shift) + y_offset, limits);
  }
  return ARM_CMSIS_NN_SUCCESS;
}
