#include <csetjmp>
#include <cstdio>  // jpeglib.h needs it

// After it.
#include <jerror.h>
#include <jpeglib.h>

#include "backends/image/formats.h"

namespace ingot::image {
namespace {

// A progressive file of a few bytes can ask for any number of passes over its
// pixels.
constexpr int kMostScans = 500;

struct Errors {
  jpeg_error_mgr manager;  // first: libjpeg knows no more of it
  jmp_buf jump;
};

void Fail(j_common_ptr jpeg) {
  longjmp(reinterpret_cast<Errors*>(jpeg->err)->jump, 1);
}

// libjpeg invents what is missing. Other warnings are of no consequence.
void Warn(j_common_ptr jpeg, int level) {
  const int code = jpeg->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) {
    Fail(jpeg);
  }
}

void CountScans(j_common_ptr jpeg) {
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number >
      kMostScans) {
    Fail(jpeg);
  }
}

uint8_t Multiply(int a, int b) {
  const int product = a * b + 128;
  return static_cast<uint8_t>((product + (product >> 8)) >> 8);
}

// May be left by longjmp: nothing in here has a destructor.
bool ReadPixels(j_decompress_ptr jpeg, Bytes file, Image* image) {
  jpeg_mem_src(jpeg, file.data(), file.size());
  jpeg_read_header(jpeg, TRUE);
  if (!image->Allocate(jpeg->image_height, jpeg->image_width)) return false;
  const bool is_cmyk = jpeg->num_components == 4;
  jpeg->out_color_space = is_cmyk ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(jpeg);
  const auto buffer = static_cast<uint8_t*>((*jpeg->mem->alloc_large)(
      reinterpret_cast<j_common_ptr>(jpeg), JPOOL_IMAGE, 4 * image->width));
  while (jpeg->output_scanline < jpeg->output_height) {
    uint8_t* const row = image->Row(jpeg->output_scanline);
    JSAMPROW to = is_cmyk ? buffer : row;
    jpeg_read_scanlines(jpeg, &to, 1);
    // Four inks come as what they leave of the light.
    for (int64_t i = 0; is_cmyk && i < 3 * image->width; ++i) {
      const uint8_t* inks = buffer + i / 3 * 4;
      row[i] = Multiply(inks[i % 3], inks[3]);
    }
  }
  return true;
}

}  // namespace

bool DecodeJpeg(Bytes file, Image* image) {
  jpeg_decompress_struct jpeg = {};
  Errors errors;
  jpeg.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = Fail;
  errors.manager.emit_message = Warn;
  jpeg_progress_mgr progress = {};
  progress.progress_monitor = CountScans;
  bool ok = false;
  if (setjmp(errors.jump) == 0) {
    jpeg_create_decompress(&jpeg);
    jpeg.progress = &progress;
    // A progressive file's coefficients are larger than its pixels.
    jpeg.mem->max_memory_to_use = 4 * kMostPixels;
    ok = ReadPixels(&jpeg, file, image);
  }
  jpeg_destroy_decompress(&jpeg);
  return ok;
}

}  // namespace ingot::image
