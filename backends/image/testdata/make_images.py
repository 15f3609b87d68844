#!/usr/bin/env python3
"""Writes images.txt: files as Pillow writes them, and their pixels as it reads them.

Usage: make_images.py > images.txt
Lines: `pixels NAME HEIGHT WIDTH HEX`, then `file NAME PIXELS' NAME HEX`.
"""

import io
import random
import struct
import zlib

from PIL import Image

random.seed(3)
_SEEN = {}


def picture(mode, width, height):
    """Ramps with some noise."""
    image = Image.new("RGB", (width, height))
    for y in range(height):
        for x in range(width):
            image.putpixel((x, y), tuple(
                max(0, min(255, v + random.randint(-9, 9)))
                for v in (255 * x // width, 255 * y // height, 120 + 9 * x - 13 * y)))
    return image.convert(mode)


def emit(name, data, pixels=None):
    """One file; `pixels` where Pillow would read others than are meant."""
    image = pixels or Image.open(io.BytesIO(data))
    key = (image.size, image.convert("RGB").tobytes())
    if key not in _SEEN:
        _SEEN[key] = name
        print("pixels", name, image.height, image.width, key[1].hex())
    print("file", name, _SEEN[key], data.hex())


def save(name, image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    emit(name, out.getvalue())


def main():
    rgb, gray, bits = (picture(mode, 7, 5) for mode in ("RGB", "L", "1"))
    palette = rgb.quantize(11)
    rgba = rgb.copy()
    rgba.putalpha(gray)

    save("bmp_rgb", rgb, "BMP")
    save("bmp_1bit", bits, "BMP")
    save("bmp_palette", palette, "BMP")
    save("bmp_32", rgba, "BMP")
    # Pillow reads these forms but does not write them: runs, 16 bits, the old
    # header, rows from the top.

    def bmp(info, rest, data, old=False):
        offset = 14 + len(info) + len(rest)
        return b"BM" + struct.pack("<IHHI", offset + len(data), 0, 0, offset) + info + rest + data

    def info(width, height, depth, compression):
        return struct.pack("<IiiHHIIiiII", 40, width, height, 1, depth, compression, 0, 1, 1, 0, 0)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    colors = b"".join(bytes((i * 9 % 256, i * 5 % 256, i * 3 % 256, 0)) for i in range(256))
    emit("bmp_runs8", bmp(info(5, 3, 8, 1), colors,
                          b"\x05\x11\0\0\0\x03abc\0\x02d\0\0\x02e\x03f\0\1"))
    emit("bmp_runs4", bmp(info(6, 3, 4, 2), colors[:64],
                          b"\x06\x12\0\0\0\x04\x34\x56\x02\x70\0\0\x06\xab\0\1"))
    sixteen = b"".join(struct.pack("<4H", *(random.randrange(1 << 16) for _ in range(4))) for _ in range(3))
    emit("bmp_555", bmp(info(3, -3, 16, 0), b"", sixteen))
    emit("bmp_565", bmp(info(4, 3, 16, 3), struct.pack("<III", 0xF800, 0x7E0, 0x1F), sixteen))
    emit("bmp_old", bmp(struct.pack("<IHHHH", 12, 3, 2, 1, 24), b"", bytes(range(24))))

    save("png_rgb", rgb, "PNG")
    save("png_gray", gray, "PNG")
    save("png_1bit", bits, "PNG")
    save("png_palette", palette, "PNG", transparency=3)
    save("png_rgba", rgba, "PNG")
    save("png_gray_alpha", rgba.convert("LA"), "PNG")

    # 16 bits, interlaced.
    rows = b""
    for x0, y0, dx, dy in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)):
        for y in range(y0, 5, dy):
            line = [v << 8 | random.randrange(256) for x in range(x0, 7, dx) for v in rgb.getpixel((x, y))]
            rows += (b"\0" + struct.pack(">%dH" % len(line), *line)) if line else b""
    emit("png_interlaced", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 7, 5, 16, 2, 0, 0, 1)) +
         chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))

    photo = picture("RGB", 19, 13)
    save("jpeg_420", photo, "JPEG", quality=60, optimize=True)
    save("jpeg_progressive", photo, "JPEG", quality=60, progressive=True, subsampling=1)
    save("jpeg_444", rgb, "JPEG", quality=90, subsampling=0, optimize=True)
    save("jpeg_gray", gray, "JPEG", quality=80, optimize=True)
    save("jpeg_cmyk", rgb.convert("CMYK"), "JPEG", quality=90, optimize=True)

    save("jpeg2000", rgb, "JPEG2000")
    save("jpeg2000_gray", gray, "JPEG2000")
    save("jpeg2000_rgba", rgba, "JPEG2000")
    save("jpeg2000_lossy", rgb, "JPEG2000", irreversible=True, quality_layers=[8], no_jp2=True)

    save("tiff_rgb", rgb, "TIFF")
    save("tiff_gray", gray, "TIFF", compression="tiff_lzw")
    save("tiff_1bit", bits, "TIFF", compression="group4")
    save("tiff_palette", palette, "TIFF", compression="packbits")
    save("tiff_rgba", rgba, "TIFF", compression="tiff_adobe_deflate")

    save("webp_lossless", rgb, "WEBP", lossless=True)
    save("webp_lossy", photo, "WEBP", quality=60)
    save("webp_rgba", rgba, "WEBP", lossless=True, exact=True)

    save("pnm_p4", bits, "PPM")
    save("pnm_p5", gray, "PPM")
    save("pnm_p6", rgb, "PPM")
    emit("pnm_p1", b"P1 # bits\n7 2\n0110100\n1 0 0 1 1 0 1\n")
    emit("pnm_p2", b"P2\n3 2 # gray\n15\n0 1 2\n# more\n7 14 15\n")
    emit("pnm_p3", b"P3 2 1 255 1 20 30 255 0 99")


main()
