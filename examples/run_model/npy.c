#include "examples/run_model/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file with a header that is longer is none that NumPy wrote. */
enum { kMostHeaderBytes = 1 << 16 };

/* NumPy's letter for a type; 0 where it has none. */
static char KindOf(DLDataType dtype) {
  switch (dtype.code) {
    case kDLInt:
      return 'i';
    case kDLUInt:
      return 'u';
    case kDLFloat:
      return 'f';
    case kDLBool:
      return 'b';
    default:
      return 0;
  }
}

/* What follows `key` in the header, a dictionary as Python prints it. */
static const char* ValueOf(const char* header, const char* key) {
  const char* at = strstr(header, key);
  if (at == NULL) return "";
  at += strlen(key);
  while (*at == ':' || *at == ' ') ++at;
  return at;
}

/* Reads "(2, 3)" into shape. Whether there are ndim dimensions, and how many
 * bytes an array with elements of `width` bytes then has. */
static int ReadShape(const char* text, int32_t ndim, int64_t width,
                     int64_t* shape, int64_t* bytes) {
  *bytes = width;
  if (*text++ != '(') return 0;
  for (int32_t d = 0; d < ndim; ++d) {
    char* end = NULL;
    shape[d] = strtoll(text, &end, 10);
    if (end == text || shape[d] < 0 ||
        __builtin_mul_overflow(*bytes, shape[d], bytes)) {
      return 0;
    }
    text = end;
    if (*text == ',') ++text;
  }
  while (*text == ' ') ++text;
  return *text == ')';
}

static char* ReadHeader(FILE* file) {
  unsigned char start[12];
  if (fread(start, 1, 10, file) != 10 || memcmp(start, "\x93NUMPY", 6) != 0) {
    return NULL;
  }
  size_t bytes = start[8] | (size_t)start[9] << 8;
  if (start[6] > 1) { /* four bytes of length, where version 1 has two */
    if (fread(start + 10, 1, 2, file) != 2) return NULL;
    bytes |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
  }
  if (bytes > kMostHeaderBytes) return NULL;
  char* header = calloc(1, bytes + 1);
  if (header != NULL && fread(header, 1, bytes, file) == bytes) return header;
  free(header);
  return NULL;
}

/* The elements after the header; NULL, and *why, where there are none. */
static void* ReadElements(FILE* file, const char* header, DLDataType dtype,
                          int32_t ndim, int64_t* shape, const char** why) {
  const char kind = KindOf(dtype);
  const int width = dtype.bits / 8;
  const char* descr = ValueOf(header, "'descr'");
  if (kind == 0 || descr[0] != '\'' || (descr[1] != '<' && descr[1] != '|') ||
      descr[2] != kind || atoi(descr + 3) != width) {
    *why = "has another type than the input";
    return NULL;
  }
  if (strncmp(ValueOf(header, "'fortran_order'"), "False", 5) != 0) {
    *why = "is not row-major";
    return NULL;
  }
  int64_t bytes;
  if (!ReadShape(ValueOf(header, "'shape'"), ndim, width, shape, &bytes)) {
    *why = "has another rank than the input";
    return NULL;
  }
  void* data = malloc(bytes + 1); /* never nothing */
  if (data != NULL && fread(data, 1, bytes, file) == (size_t)bytes) return data;
  *why = data == NULL ? "is larger than the memory" : "is cut off";
  free(data);
  return NULL;
}

void* ReadNpy(const char* path, DLDataType dtype, int32_t ndim,
              int64_t* shape) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    return NULL;
  }
  const char* why = "is no .npy file";
  void* data = NULL;
  char* header = ReadHeader(file);
  if (header != NULL) {
    data = ReadElements(file, header, dtype, ndim, shape, &why);
  }
  free(header);
  fclose(file);
  if (data == NULL) fprintf(stderr, "%s %s\n", path, why);
  return data;
}

/* The header of version 1: its fixed start, then the dictionary, padded with
 * spaces so that the elements begin at a multiple of 64. */
static size_t WriteHeader(const DLTensor* tensor, char kind, int width,
                          char* header, size_t room) {
  const size_t start = 10;
  size_t at = start;
  at += snprintf(header + at, room - at,
                 "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (",
                 width == 1 ? '|' : '<', kind, width);
  for (int32_t d = 0; d < tensor->ndim && at < room; ++d) {
    at +=
        snprintf(header + at, room - at, "%lld, ", (long long)tensor->shape[d]);
  }
  if (at < room) at += snprintf(header + at, room - at, "), }");
  const size_t bytes = (at + 1 + 63) / 64 * 64;
  if (at >= room || bytes > room) return 0;
  memset(header + at, ' ', bytes - at);
  header[bytes - 1] = '\n';
  memcpy(header, "\x93NUMPY\x01", 8);
  header[8] = (char)((bytes - start) & 0xff);
  header[9] = (char)((bytes - start) >> 8);
  return bytes;
}

int WriteNpy(const char* path, const DLTensor* tensor) {
  const char kind = KindOf(tensor->dtype);
  const int width = tensor->dtype.bits / 8;
  int64_t bytes = width;
  for (int32_t d = 0; d < tensor->ndim; ++d) bytes *= tensor->shape[d];
  char header[1024] = {0};
  const size_t header_bytes =
      kind == 0 ? 0 : WriteHeader(tensor, kind, width, header, sizeof(header));
  if (header_bytes == 0) {
    fprintf(stderr, "%s: NumPy has no such array\n", path);
    return 0;
  }
  FILE* file = fopen(path, "wb");
  int done = file != NULL &&
             fwrite(header, 1, header_bytes, file) == header_bytes &&
             fwrite(tensor->data, 1, bytes, file) == (size_t)bytes;
  if (file != NULL && fclose(file) != 0) done = 0;
  if (!done) perror(path);
  return done;
}
