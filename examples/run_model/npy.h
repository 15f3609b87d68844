/* Arrays in files of NumPy's format .npy, versions 1 to 3. */
#ifndef INGOT_EXAMPLES_RUN_MODEL_NPY_H_
#define INGOT_EXAMPLES_RUN_MODEL_NPY_H_

#include <stdint.h>

#include "runtime/c_abi.h"

/* Reads an array of that type and rank, little-endian and row-major, and writes
 * its dimensions to shape[0..ndim). Returns the elements, which the caller
 * frees, or NULL after it has printed why there are none. */
void* ReadNpy(const char* path, DLDataType dtype, int32_t ndim, int64_t* shape);

/* Writes a dense tensor, whose type NumPy has. 0 after it has printed why it
 * could not, otherwise 1. */
int WriteNpy(const char* path, const DLTensor* tensor);

#endif /* INGOT_EXAMPLES_RUN_MODEL_NPY_H_ */
