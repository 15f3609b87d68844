/* Declares the part of CMSIS-NN that compiled models call. Where the compiler finds Arm's own
 * header, with -I, that is used. Where it does not, these are the same
 * declarations: the functions for 8-bit integers have had them from version 6.0
 * on. */
#ifndef CMSIS_NN_API_H_
#define CMSIS_NN_API_H_

#include <stdint.h>

#ifdef __has_include
#if __has_include("arm_nnfunctions.h")
#define CMSIS_NN_HAS_HEADER 1
#endif
#endif

#ifdef CMSIS_NN_HAS_HEADER
#include "arm_nnfunctions.h"
#else

typedef enum {
  ARM_CMSIS_NN_SUCCESS = 0,
  ARM_CMSIS_NN_ARG_ERROR = -1,
  ARM_CMSIS_NN_NO_IMPL_ERROR = -2,
  ARM_CMSIS_NN_FAILURE = -3
} arm_cmsis_nn_status;

typedef struct {
  void* buf;
  int32_t size;
} cmsis_nn_context;

typedef struct {
  int32_t w, h;
} cmsis_nn_tile;

typedef struct {
  int32_t n, h, w, c;
} cmsis_nn_dims;

typedef struct {
  int32_t min, max;
} cmsis_nn_activation;

typedef struct {
  int32_t *multiplier, *shift;
} cmsis_nn_per_channel_quant_params;

typedef struct {
  int32_t multiplier, shift;
} cmsis_nn_per_tensor_quant_params;

typedef struct {
  int32_t input_offset, output_offset;
  cmsis_nn_tile stride, padding, dilation;
  cmsis_nn_activation activation;
} cmsis_nn_conv_params;

typedef struct {
  int32_t input_offset, output_offset, ch_mult;
  cmsis_nn_tile stride, padding, dilation;
  cmsis_nn_activation activation;
} cmsis_nn_dw_conv_params;

typedef struct {
  int32_t input_offset, filter_offset, output_offset;
  cmsis_nn_activation activation;
} cmsis_nn_fc_params;

typedef struct {
  cmsis_nn_tile stride, padding;
  cmsis_nn_activation activation;
} cmsis_nn_pool_params;

arm_cmsis_nn_status arm_convolve_wrapper_s8(
    const cmsis_nn_context* ctx, const cmsis_nn_conv_params* conv_params,
    const cmsis_nn_per_channel_quant_params* quant_params,
    const cmsis_nn_dims* input_dims, const int8_t* input_data,
    const cmsis_nn_dims* filter_dims, const int8_t* filter_data,
    const cmsis_nn_dims* bias_dims, const int32_t* bias_data,
    const cmsis_nn_dims* output_dims, int8_t* output_data);
int32_t arm_convolve_wrapper_s8_get_buffer_size(
    const cmsis_nn_conv_params* conv_params, const cmsis_nn_dims* input_dims,
    const cmsis_nn_dims* filter_dims, const cmsis_nn_dims* output_dims);

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(
    const cmsis_nn_context* ctx, const cmsis_nn_dw_conv_params* dw_conv_params,
    const cmsis_nn_per_channel_quant_params* quant_params,
    const cmsis_nn_dims* input_dims, const int8_t* input_data,
    const cmsis_nn_dims* filter_dims, const int8_t* filter_data,
    const cmsis_nn_dims* bias_dims, const int32_t* bias_data,
    const cmsis_nn_dims* output_dims, int8_t* output_data);
int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(
    const cmsis_nn_dw_conv_params* dw_conv_params,
    const cmsis_nn_dims* input_dims, const cmsis_nn_dims* filter_dims,
    const cmsis_nn_dims* output_dims);

arm_cmsis_nn_status arm_fully_connected_s8(
    const cmsis_nn_context* ctx, const cmsis_nn_fc_params* fc_params,
    const cmsis_nn_per_tensor_quant_params* quant_params,
    const cmsis_nn_dims* input_dims, const int8_t* input_data,
    const cmsis_nn_dims* filter_dims, const int8_t* filter_data,
    const cmsis_nn_dims* bias_dims, const int32_t* bias_data,
    const cmsis_nn_dims* output_dims, int8_t* output_data);
int32_t arm_fully_connected_s8_get_buffer_size(
    const cmsis_nn_dims* filter_dims);
arm_cmsis_nn_status arm_vector_sum_s8(int32_t* vector_sum_buf,
                                      int32_t vector_cols, int32_t vector_rows,
                                      const int8_t* vector_data,
                                      int32_t lhs_offset, int32_t rhs_offset,
                                      const int32_t* bias_data);

arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context* ctx,
                                   const cmsis_nn_pool_params* pool_params,
                                   const cmsis_nn_dims* input_dims,
                                   const int8_t* input_data,
                                   const cmsis_nn_dims* filter_dims,
                                   const cmsis_nn_dims* output_dims,
                                   int8_t* output_data);
int32_t arm_avgpool_s8_get_buffer_size(int dim_dst_width, int ch_src);
arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context* ctx,
                                    const cmsis_nn_pool_params* pool_params,
                                    const cmsis_nn_dims* input_dims,
                                    const int8_t* input_data,
                                    const cmsis_nn_dims* filter_dims,
                                    const cmsis_nn_dims* output_dims,
                                    int8_t* output_data);

void arm_softmax_s8(const int8_t* input, int32_t num_rows, int32_t row_size,
                    int32_t mult, int32_t shift, int32_t diff_min,
                    int8_t* output);

arm_cmsis_nn_status arm_elementwise_add_s8(
    const int8_t* input_1_vect, const int8_t* input_2_vect,
    int32_t input_1_offset, int32_t input_1_mult, int32_t input_1_shift,
    int32_t input_2_offset, int32_t input_2_mult, int32_t input_2_shift,
    int32_t left_shift, int8_t* output, int32_t out_offset, int32_t out_mult,
    int32_t out_shift, int32_t out_activation_min, int32_t out_activation_max,
    int32_t block_size);

#endif /* CMSIS_NN_HAS_HEADER */

#endif /* CMSIS_NN_API_H_ */
