/* What a model's glue defines for the program, as static things:
 *
 *   float or int8_t input[…]           what the program fills
 *   INPUT_VALUE(byte)                  with, for bytes from -128 to 127
 *   const struct Output outputs[]      what it prints
 *   int run_model(void)                0, or an error
 *   const char* last_error(void)       its text
 */
#ifndef EXAMPLES_FIRMWARE_APP_H_
#define EXAMPLES_FIRMWARE_APP_H_

#include <stddef.h>

struct Output {
  const unsigned char* bytes;
  size_t count;
};

#define OUTPUT(array) {(const unsigned char*)(array), sizeof(array)}

#endif /* EXAMPLES_FIRMWARE_APP_H_ */
