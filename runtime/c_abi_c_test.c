#include "runtime/c_abi.h"

/* As a generated library has it. */
__attribute__((weak, visibility("default")))
const IngotHostApi* __ingot_host_api = 0;

_Static_assert(sizeof(TVMFFIAny) == 16, "");
_Static_assert(sizeof(TVMFFIObject) == 24, "");
_Static_assert(sizeof(DLTensor) == 48, "");

int IngotCallableFromC(void* handle, const TVMFFIAny* args, int32_t num_args,
                       TVMFFIAny* result) {
  (void)handle;
  if (num_args != 2) {
    if (__ingot_host_api != 0) {
      __ingot_host_api->set_error("ValueError", "expected two arguments");
    }
    return -1;
  }
  result->type_index = kTVMFFIInt;
  result->v_int64 = args[0].v_int64 + args[1].v_int64;
  return 0;
}
