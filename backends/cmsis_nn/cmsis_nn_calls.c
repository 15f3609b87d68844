/* From numbers to CMSIS-NN's structures: one function for each of the library's
 * that a compiled model calls. All answer 0, or another number if the library
 * refuses its arguments or asks for more workspace than the model has. */
#include "cmsis_nn_api.h"

/* The order of the numbers that describe a window: extents of the image and of
 * the result, which end with channels, of the window, and its steps. */
#define WINDOW                                                          \
  int32_t n, int32_t in_h, int32_t in_w, int32_t in_c, int32_t out_h,   \
      int32_t out_w, int32_t out_c, int32_t kernel_h, int32_t kernel_w, \
      int32_t stride_h, int32_t stride_w, int32_t pad_h, int32_t pad_w, \
      int32_t dilation_h, int32_t dilation_w, int32_t minimum, int32_t maximum

int ingot_cmsis_nn_convolve(const int8_t* x, const int8_t* weights,
                            const int32_t* bias, const int32_t* multiplier,
                            const int32_t* shift, int8_t* y, int8_t* workspace,
                            int32_t workspace_bytes, int32_t x_offset,
                            int32_t y_offset, WINDOW) {
  const cmsis_nn_context context = {workspace, workspace_bytes};
  const cmsis_nn_conv_params params = {x_offset,
                                       y_offset,
                                       {stride_w, stride_h},
                                       {pad_w, pad_h},
                                       {dilation_w, dilation_h},
                                       {minimum, maximum}};
  const cmsis_nn_per_channel_quant_params scales = {(int32_t*)multiplier,
                                                    (int32_t*)shift};
  const cmsis_nn_dims input = {n, in_h, in_w, in_c};
  const cmsis_nn_dims filter = {out_c, kernel_h, kernel_w, in_c};
  const cmsis_nn_dims biases = {1, 1, 1, out_c};
  const cmsis_nn_dims output = {n, out_h, out_w, out_c};
  if (arm_convolve_wrapper_s8_get_buffer_size(&params, &input, &filter,
                                              &output) > workspace_bytes) {
    return 1;
  }
  return arm_convolve_wrapper_s8(&context, &params, &scales, &input, x, &filter,
                                 weights, &biases, bias, &output,
                                 y) != ARM_CMSIS_NN_SUCCESS;
}

int ingot_cmsis_nn_depthwise(const int8_t* x, const int8_t* weights,
                             const int32_t* bias, const int32_t* multiplier,
                             const int32_t* shift, int8_t* y, int8_t* workspace,
                             int32_t workspace_bytes, int32_t x_offset,
                             int32_t y_offset, WINDOW) {
  const cmsis_nn_context context = {workspace, workspace_bytes};
  const cmsis_nn_dw_conv_params params = {
      x_offset,          y_offset,
      out_c / in_c,      {stride_w, stride_h},
      {pad_w, pad_h},    {dilation_w, dilation_h},
      {minimum, maximum}};
  const cmsis_nn_per_channel_quant_params scales = {(int32_t*)multiplier,
                                                    (int32_t*)shift};
  const cmsis_nn_dims input = {n, in_h, in_w, in_c};
  const cmsis_nn_dims filter = {1, kernel_h, kernel_w, out_c};
  const cmsis_nn_dims biases = {1, 1, 1, out_c};
  const cmsis_nn_dims output = {n, out_h, out_w, out_c};
  if (arm_depthwise_conv_wrapper_s8_get_buffer_size(
          &params, &input, &filter, &output) > workspace_bytes) {
    return 1;
  }
  return arm_depthwise_conv_wrapper_s8(&context, &params, &scales, &input, x,
                                       &filter, weights, &biases, bias, &output,
                                       y) != ARM_CMSIS_NN_SUCCESS;
}

int ingot_cmsis_nn_fully_connected(const int8_t* x, const int8_t* weights,
                                   const int32_t* bias, int8_t* y,
                                   int8_t* workspace, int32_t workspace_bytes,
                                   int32_t x_offset, int32_t y_offset,
                                   int32_t rows, int32_t depth, int32_t units,
                                   int32_t multiplier, int32_t shift,
                                   int32_t minimum, int32_t maximum) {
  const cmsis_nn_context context = {workspace, workspace_bytes};
  const cmsis_nn_fc_params params = {x_offset, 0, y_offset, {minimum, maximum}};
  const cmsis_nn_per_tensor_quant_params scale = {multiplier, shift};
  const cmsis_nn_dims input = {rows, 1, 1, depth};
  const cmsis_nn_dims filter = {depth, 1, 1, units};
  const cmsis_nn_dims biases = {1, 1, 1, units};
  const cmsis_nn_dims output = {rows, 1, 1, units};
  if (arm_fully_connected_s8_get_buffer_size(&filter) > workspace_bytes) {
    return 1;
  }
#ifdef __ARM_FEATURE_MVE
  /* With vectors the library wants the weights' sums from its caller. */
  if (arm_vector_sum_s8((int32_t*)(void*)workspace, depth, units, weights,
                        x_offset, 0, bias) != ARM_CMSIS_NN_SUCCESS) {
    return 1;
  }
#endif
  return arm_fully_connected_s8(&context, &params, &scale, &input, x, &filter,
                                weights, &biases, bias, &output,
                                y) != ARM_CMSIS_NN_SUCCESS;
}

#define POOL_PARAMS                                              \
  const cmsis_nn_pool_params params = {                          \
      {stride_w, stride_h}, {pad_w, pad_h}, {minimum, maximum}}; \
  const cmsis_nn_dims input = {n, in_h, in_w, in_c};             \
  const cmsis_nn_dims filter = {1, kernel_h, kernel_w, 1};       \
  const cmsis_nn_dims output = {n, out_h, out_w, out_c};         \
  (void)dilation_h;                                              \
  (void)dilation_w

int ingot_cmsis_nn_average_pool(const int8_t* x, int8_t* y, int8_t* workspace,
                                int32_t workspace_bytes, WINDOW) {
  const cmsis_nn_context context = {workspace, workspace_bytes};
  POOL_PARAMS;
  if (arm_avgpool_s8_get_buffer_size(out_w, in_c) > workspace_bytes) return 1;
  return arm_avgpool_s8(&context, &params, &input, x, &filter, &output, y) !=
         ARM_CMSIS_NN_SUCCESS;
}

int ingot_cmsis_nn_max_pool(const int8_t* x, int8_t* y, WINDOW) {
  const cmsis_nn_context context = {0, 0};
  POOL_PARAMS;
  return arm_max_pool_s8(&context, &params, &input, x, &filter, &output, y) !=
         ARM_CMSIS_NN_SUCCESS;
}

int ingot_cmsis_nn_softmax(const int8_t* x, int8_t* y, int32_t rows,
                           int32_t columns, int32_t multiplier, int32_t shift,
                           int32_t smallest_difference) {
  arm_softmax_s8(x, rows, columns, multiplier, shift, smallest_difference, y);
  return 0;
}

int ingot_cmsis_nn_add(const int8_t* a, const int8_t* b, int8_t* y,
                       int32_t count, int32_t left_shift, int32_t a_offset,
                       int32_t a_multiplier, int32_t a_shift, int32_t b_offset,
                       int32_t b_multiplier, int32_t b_shift, int32_t y_offset,
                       int32_t y_multiplier, int32_t y_shift, int32_t minimum,
                       int32_t maximum) {
  return arm_elementwise_add_s8(a, b, a_offset, a_multiplier, a_shift, b_offset,
                                b_multiplier, b_shift, left_shift, y, y_offset,
                                y_multiplier, y_shift, minimum, maximum,
                                count) != ARM_CMSIS_NN_SUCCESS;
}
