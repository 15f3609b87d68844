/* Stands for tvm-ffi's own library where a model reports an error: keeps what
 * was raised last. */
#include <stdio.h>

#include "tests/tvm_ffi/documented.h"

static char raised_kind[64], raised_message[1024];

void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message) {
  snprintf(raised_kind, sizeof(raised_kind), "%s", kind);
  snprintf(raised_message, sizeof(raised_message), "%s", message);
}

const char* host_raised_kind(void) { return raised_kind; }
const char* host_raised_message(void) { return raised_message; }
