"""ONNX Runtime's library, which its package for Node.js carries."""

load("//third_party:npm.bzl", "npm_package")

def onnxruntime_repository():
    npm_package(
        name = "npm_onnxruntime",
        build_file_content = """
cc_import(
    name = "library",
    shared_library = select({
        "@platforms//cpu:aarch64": "bin/napi-v6/linux/arm64/libonnxruntime.so.1",
        "//conditions:default": "bin/napi-v6/linux/x64/libonnxruntime.so.1",
    }),
    visibility = ["//visibility:public"],
)
""",
        package = "onnxruntime-node",
        sha256 = "6e3390d6b783e7be946fad629292799da28d0b42f84856e50d2c1b0383291e75",
        unused = [
            "bin/napi-v6/darwin",
            "bin/napi-v6/win32",
        ],
        version = "1.30.0",
    )
