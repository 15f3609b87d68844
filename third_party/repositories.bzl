"""Declares every outside repository. All of them come from Debian's packages or from npm."""

load("//third_party:abseil.bzl", "abseil_repository")
load("//third_party:rules_cc.bzl", "patched_rules_cc_repository")
load("//third_party:system.bzl", "system_repository")
load("//third_party/models:models.bzl", "model_repositories")
load("//third_party/onnxruntime:onnxruntime.bzl", "onnxruntime_repository")

_BAZEL_SHARE = "/usr/share/bazel"

def ingot_repositories():
    """Declares the repositories that BUILD files of this project may name.

    Workspaces that depend on Ingot call it, too, so labels here are Label()s.
    """
    _bazel_repositories()
    _library_repositories()
    model_repositories()
    onnxruntime_repository()

def _bazel_repositories():
    # Bazel downloads these when nobody declares them. Debian ships them beside Bazel.
    patched_rules_cc_repository(
        name = "rules_cc",
        path = _BAZEL_SHARE + "/rules/cc",
    )
    native.local_repository(
        name = "rules_java",
        path = _BAZEL_SHARE + "/rules/java",
    )
    native.local_repository(
        name = "rules_proto",
        path = _BAZEL_SHARE + "/rules/proto",
    )
    native.local_repository(
        name = "bazel_skylib",
        path = _BAZEL_SHARE + "/tools/skylib",
    )
    native.local_repository(
        name = "platforms",
        path = _BAZEL_SHARE + "/platforms",
    )

    # `bazel test` asks for this one even when no coverage is collected.
    system_repository(
        name = "remote_coverage_tools",
        build_file = Label("//third_party:remote_coverage_tools.BUILD"),
    )

def _library_repositories():
    abseil_repository(name = "com_google_absl")
    system_repository(
        name = "com_google_protobuf",
        build_file = Label("//third_party:protobuf.BUILD"),
        links = {"bin/protoc": "/usr/bin/protoc"},
        package = "protobuf-compiler",
    )
    system_repository(
        name = "com_google_googletest",
        build_file = Label("//third_party:googletest.BUILD"),
    )
    system_repository(
        name = "com_github_google_benchmark",
        build_file = Label("//third_party:benchmark.BUILD"),
    )
    system_repository(
        name = "image_codecs",
        build_file = Label("//third_party:image_codecs.BUILD"),
    )
    system_repository(
        name = "llvm",
        build_file = Label("//third_party:llvm.BUILD"),
        links = {
            "bin": "/usr/lib/llvm-19/bin",
            "include": "/usr/lib/llvm-19/include",
        },
        package = "llvm-19-dev",
    )
    system_repository(
        name = "python",
        build_file = Label("//third_party:python.BUILD"),
        links = {"include": "/usr/include/python3.11"},
        package = "python3-dev and pybind11-dev",
    )
    native.register_toolchains("@python//:toolchain")
    system_repository(
        name = "onnx",
        build_file = Label("//third_party:onnx.BUILD"),
        links = {"onnx/onnx.proto": "/usr/include/onnx/onnx.proto"},
        package = "libonnx-dev",
    )
    system_repository(
        name = "onnx_testdata",
        build_file = Label("//third_party:onnx_testdata.BUILD"),
        links = {"data": "/usr/share/libonnx-testdata/data"},
        package = "libonnx-testdata",
    )
    system_repository(
        name = "nlohmann_json",
        build_file = Label("//third_party:nlohmann_json.BUILD"),
    )
    system_repository(
        name = "onednn",
        build_file = Label("//third_party:onednn.BUILD"),
    )
    system_repository(
        name = "opencl",
        build_file = Label("//third_party:opencl.BUILD"),
        links = {"CL": "/usr/include/CL"},
        package = "opencl-c-headers",
    )
    system_repository(
        name = "re2",
        build_file = Label("//third_party:re2.BUILD"),
    )
    system_repository(
        name = "openssl",
        build_file = Label("//third_party:openssl.BUILD"),
    )
