/* Prints the layout that HEADER gives to values, tensors and functions. */
#include HEADER

#include <stddef.h>
#include <stdio.h>

#define SIZE(type) printf("sizeof %s %zu\n", #type, sizeof(type))
#define PLACE(type, field)                                                  \
  printf("%s.%s at %zu, %zu bytes\n", #type, #field, offsetof(type, field), \
         sizeof(((type*)NULL)->field))
#define NUMBER(name) printf("%s = %d\n", #name, (int)(name))

/* A call has these types, or this does not compile. */
static int Call(void* handle, const TVMFFIAny* args, int32_t num_args,
                TVMFFIAny* result) {
  (void)handle;
  (void)args;
  (void)num_args;
  (void)result;
  return 0;
}

int main(void) {
  TVMFFISafeCallType call = &Call;
  SIZE(DLDataType);
  PLACE(DLDataType, code);
  PLACE(DLDataType, bits);
  PLACE(DLDataType, lanes);
  SIZE(DLDevice);
  PLACE(DLDevice, device_type);
  PLACE(DLDevice, device_id);
  SIZE(DLTensor);
  PLACE(DLTensor, data);
  PLACE(DLTensor, device);
  PLACE(DLTensor, ndim);
  PLACE(DLTensor, dtype);
  PLACE(DLTensor, shape);
  PLACE(DLTensor, strides);
  PLACE(DLTensor, byte_offset);
  SIZE(TVMFFIObject);
  PLACE(TVMFFIObject, combined_ref_count);
  PLACE(TVMFFIObject, type_index);
  PLACE(TVMFFIObject, deleter);
  SIZE(TVMFFIAny);
  PLACE(TVMFFIAny, type_index);
  PLACE(TVMFFIAny, zero_padding);
  PLACE(TVMFFIAny, v_int64);
  PLACE(TVMFFIAny, v_float64);
  PLACE(TVMFFIAny, v_ptr);
  PLACE(TVMFFIAny, v_c_str);
  PLACE(TVMFFIAny, v_obj);
  PLACE(TVMFFIAny, v_dtype);
  PLACE(TVMFFIAny, v_device);
  PLACE(TVMFFIAny, v_bytes);
  NUMBER(kDLCPU);
  NUMBER(kDLCUDA);
  NUMBER(kDLROCM);
  NUMBER(kDLInt);
  NUMBER(kDLUInt);
  NUMBER(kDLFloat);
  NUMBER(kDLBfloat);
  NUMBER(kDLComplex);
  NUMBER(kDLBool);
  NUMBER(kTVMFFINone);
  NUMBER(kTVMFFIInt);
  NUMBER(kTVMFFIBool);
  NUMBER(kTVMFFIFloat);
  NUMBER(kTVMFFIOpaquePtr);
  NUMBER(kTVMFFIDataType);
  NUMBER(kTVMFFIDevice);
  NUMBER(kTVMFFIDLTensorPtr);
  NUMBER(kTVMFFIRawStr);
  NUMBER(kTVMFFIByteArrayPtr);
  NUMBER(kTVMFFIObjectRValueRef);
  NUMBER(kTVMFFISmallStr);
  NUMBER(kTVMFFISmallBytes);
  NUMBER(kTVMFFIStaticObjectBegin);
  NUMBER(kTVMFFIObject);
  NUMBER(kTVMFFIStr);
  NUMBER(kTVMFFIBytes);
  NUMBER(kTVMFFIError);
  NUMBER(kTVMFFIFunction);
  NUMBER(kTVMFFIShape);
  NUMBER(kTVMFFITensor);
  NUMBER(kTVMFFIArray);
  NUMBER(kTVMFFIMap);
  NUMBER(kTVMFFIModule);
  NUMBER(kTVMFFIDynObjectBegin);
  return call(NULL, NULL, 0, NULL);
}
