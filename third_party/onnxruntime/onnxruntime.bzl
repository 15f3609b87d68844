"""ONNX Runtime's library, which its package for Node.js carries, and its WebAssembly."""

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
    for name, package, sha256, unused in [
        (
            "npm_onnxruntime_common",
            "onnxruntime-common",
            "7906c439e0d3e0f4048caa23b64cdfadc0f455c377f579ce1ab2a4b778f07d5f",
            [],
        ),
        (
            "npm_onnxruntime_web",
            "onnxruntime-web",
            "d2228df7e4616bc3348bf504ee888f3bec43789a273f0a63f3e68d203ce3bf71",
            ["docs", "lib"],
        ),
    ]:
        npm_package(
            name = name,
            # Programs find the package's files by where this one is.
            build_file_content = """
exports_files(["package.json"])

filegroup(
    name = "package",
    srcs = ["package.json"],
    data = glob(["dist/**"]),
    visibility = ["//visibility:public"],
)
""",
            package = package,
            sha256 = sha256,
            unused = unused,
            version = "1.30.0",
        )
