// The module ingot._native: Ingot's C API for Python.
//
// It adds nothing but what Python needs: exceptions, NumPy's arrays and
// capsules of DLPack as tensors, and a free lock while work is done.

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "loaders/c_api/ingot.h"
#include "pybind11/numpy.h"
#include "pybind11/pybind11.h"
#include "pybind11/stl.h"
#include "python/ingot/native_common.h"
#include "python/ingot/native_loaders.h"

namespace py = pybind11;

namespace ingot::python {
namespace {

// The type of an array. TypeError for those that no tensor has.
DLDataType DtypeOf(const py::array& array) {
  const char order =
      py::detail::array_descriptor_proxy(array.dtype().ptr())->byteorder;
  if (order == '>') {
    throw py::type_error("the array's bytes are not in this machine's order");
  }
  const auto bits = static_cast<uint8_t>(array.itemsize() * 8);
  // The longest have no type of DLPack.
  switch (array.itemsize() * 8 == bits ? array.dtype().kind() : '-') {
    case 'i':
      return {kDLInt, bits, 1};
    case 'u':
      return {kDLUInt, bits, 1};
    case 'f':
      return {kDLFloat, bits, 1};
    case 'c':
      return {kDLComplex, bits, 1};
    case 'b':
      return {kDLBool, 8, 1};
    default:
      throw py::type_error("an array of " +
                           py::str(array.dtype()).cast<std::string>() +
                           " cannot be an input");
  }
}

// The path as the system has it: names of files need not be UTF-8. Raises what
// Python's own functions raise for what is no path, and for zeros in one.
std::string ToPath(const py::object& path) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), &bytes) == 0) {
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::bytes>(bytes);
}

class Model {
 public:
  Model(const py::object& given, int32_t threads, bool check_digests,
        const std::string& variant, const OwnLoaders& own) {
    const std::string path = ToPath(given);
    const std::vector<IngotLoader> loaders = ToLoaders(own);
    IngotLoadOptions options = {};
    options.size = sizeof(options);
    options.threads = threads;
    options.check_digests = check_digests ? 1 : 0;
    options.variant = variant.c_str();
    options.loaders = loaders.data();
    options.num_loaders = static_cast<int32_t>(loaders.size());
    IngotModel* model = nullptr;
    CheckUnlocked([&] { return ingot_load(path.c_str(), &options, &model); });
    model_.reset(model);
  }

  using Info = std::tuple<std::string, py::tuple, std::string, std::string>;

  std::vector<Info> Inputs() const {
    int32_t count = 0;
    const IngotTensorInfo* infos = ingot_inputs(get(), &count);
    return Infos(infos, count, ingot_input_type);
  }
  std::vector<Info> Outputs() const {
    int32_t count = 0;
    const IngotTensorInfo* infos = ingot_outputs(get(), &count);
    return Infos(infos, count, ingot_output_type);
  }
  std::string Variant() const { return ingot_variant(get()); }

  const IngotModel* get() const { return model_.get(); }

 private:
  struct Free {
    void operator()(IngotModel* model) const { ingot_free_model(model); }
  };

  std::vector<Info> Infos(const IngotTensorInfo* infos, int32_t count,
                          const char* (*type_of)(const IngotModel*,
                                                 int32_t)) const {
    std::vector<Info> result;
    for (int32_t i = 0; i < count; ++i) {
      py::list shape;
      for (int32_t d = 0; d < infos[i].ndim; ++d) {
        const int64_t extent = infos[i].shape[d];
        shape.append(extent < 0 ? py::object(py::none())
                                : py::object(py::int_(extent)));
      }
      result.emplace_back(infos[i].name, py::tuple(shape),
                          DtypeName(infos[i].dtype), type_of(get(), i));
    }
    return result;
  }

  std::unique_ptr<IngotModel, Free> model_;
};

// An output for another library; each capsule owns the tensor on its own.
class Exported {
 public:
  Exported(py::object executor, IngotExecutor* native, int32_t index)
      : executor_(std::move(executor)), native_(native), index_(index) {}

  py::capsule Dlpack(const py::object& stream) const {
    DLManagedTensor* tensor = nullptr;
    Check(ingot_export_output(native_, index_, &tensor));
    return ToCapsule(tensor);
  }

 private:
  const py::object executor_;
  IngotExecutor* const native_;
  const int32_t index_;
};

class Executor {
 public:
  explicit Executor(const Model& model) {
    IngotExecutor* executor = nullptr;
    CheckUnlocked(
        [&] { return ingot_create_executor(model.get(), &executor); });
    executor_.reset(executor);
    int32_t count = 0;
    ingot_inputs(model.get(), &count);
    inputs_.resize(count);
    ingot_outputs(model.get(), &num_outputs_);
  }

  void SetInput(int32_t index, const py::object& tensor) {
    if (py::isinstance<py::array>(tensor)) {
      SetArray(index, py::reinterpret_borrow<py::array>(tensor));
    } else if (py::hasattr(tensor, "__dlpack__")) {
      SetDlpack(index, tensor);
    } else {
      throw py::type_error(
          "an input is a NumPy array or has __dlpack__, and a " +
          py::str(py::type::of(tensor).attr("__name__")).cast<std::string>() +
          " has not");
    }
  }

  void ClearInputs() {
    for (py::object& input : inputs_) input = py::none();
  }

  void Run() {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      // Those that were set once and let go must not be read.
      if (!inputs_[i] || inputs_[i].is_none()) {
        Raise("input " + std::to_string(i) + " is not set",
              NameOf(INGOT_FAILED_PRECONDITION));
      }
    }
    CheckUnlocked([this] { return ingot_run(get()); });
  }

  py::array Output(int32_t index) {
    DLManagedTensor* tensor = nullptr;
    Check(ingot_export_output(get(), index, &tensor));
    return ToArray(tensor, kNoNumpy);
  }

  // Returns all outputs as the caller's own.
  py::tuple Copies() {
    py::tuple copies(num_outputs_);
    for (int32_t i = 0; i < num_outputs_; ++i) {
      DLTensor t;
      Check(ingot_get_output(get(), i, &t));
      py::array copy(NumpyDtype(t.dtype, kNoNumpy),
                     std::vector<py::ssize_t>(t.shape, t.shape + t.ndim));
      Copy(static_cast<const char*>(t.data) + t.byte_offset,
           copy.mutable_data(), static_cast<size_t>(copy.nbytes()));
      copies[i] = std::move(copy);
    }
    return copies;
  }

  IngotExecutor* get() const { return executor_.get(); }

 private:
  static constexpr char kNoNumpy[] = "take the output by export()";

  struct Free {
    void operator()(IngotExecutor* executor) const {
      ingot_free_executor(executor);
    }
  };

  // Much memory is copied without Python's lock, since others may wait for it.
  static void Copy(const void* from, void* to, size_t bytes) {
    constexpr size_t kMuch = 1 << 16;
    if (bytes == 0) return;
    if (bytes < kMuch) {
      std::memcpy(to, from, bytes);
      return;
    }
    const py::gil_scoped_release unlocked;
    std::memcpy(to, from, bytes);
  }

  // `owner` keeps the memory that `tensor` shows.
  void Set(int32_t index, const DLTensor& tensor, py::object owner) {
    Check(ingot_set_input(get(), index, &tensor));
    inputs_[index] = std::move(owner);
  }

  void SetArray(int32_t index, py::array array) {
    constexpr int kReadable =
        py::array::c_style | py::detail::npy_api::NPY_ARRAY_ALIGNED_;
    if ((array.flags() & kReadable) != kReadable) {
      array = py::module_::import("numpy").attr("require")(
          array, py::none(), py::make_tuple("C", "A"));
    }
    std::vector<int64_t> shape(array.shape(), array.shape() + array.ndim());
    DLTensor tensor = {};
    tensor.data = const_cast<void*>(array.data());
    tensor.device = {kDLCPU, 0};
    tensor.ndim = static_cast<int32_t>(array.ndim());
    tensor.dtype = DtypeOf(array);
    tensor.shape = shape.data();
    Set(index, tensor, std::move(array));
  }

  void SetDlpack(int32_t index, const py::object& tensor) {
    const auto device =
        tensor.attr("__dlpack_device__")().cast<std::pair<int, int>>();
    if (device.first != kDLCPU) {
      throw py::type_error("the tensor is not in memory of a CPU");
    }
    py::capsule capsule = tensor.attr("__dlpack__")();
    const auto* managed = static_cast<DLManagedTensor*>(
        PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
    if (managed == nullptr) throw py::error_already_set();
    // The capsule keeps its name, and with it the tensor, which it frees.
    Set(index, managed->dl_tensor, std::move(capsule));
  }

  std::unique_ptr<IngotExecutor, Free> executor_;
  std::vector<py::object> inputs_;  // what keeps the memory of each
  int32_t num_outputs_ = 0;
};

class Set {
 public:
  explicit Set(const py::object& given) {
    const std::string path = ToPath(given);
    IngotSet* set = nullptr;
    CheckUnlocked([&] { return ingot_open_set(path.c_str(), &set); });
    set_.reset(set, ingot_free_set);
  }

  int32_t Size() const { return ingot_set_size(set_.get()); }

  py::tuple Names(int32_t index) const {
    const IngotArtifact a = Get(index);
    return py::make_tuple(a.target_key, a.codegen_id, a.loader, a.file_name);
  }

  // Shows the bytes for as long as somebody looks.
  py::memoryview Content(int32_t index) const;

  void Replace(int32_t index, const py::bytes& content) {
    Check(ingot_replace_artifact(
        set_.get(), index, PyBytes_AS_STRING(content.ptr()),
        static_cast<size_t>(PyBytes_GET_SIZE(content.ptr()))));
  }

  void Write(const py::object& given) const {
    const std::string path = ToPath(given);
    CheckUnlocked([&] { return ingot_write_set(set_.get(), path.c_str()); });
  }

  IngotArtifact Get(int32_t index) const {
    IngotArtifact artifact;
    Check(ingot_get_artifact(set_.get(), index, &artifact));
    return artifact;
  }

 private:
  std::shared_ptr<IngotSet> set_;
};

// The bytes of an artifact, which live as long as its set.
struct Bytes {
  std::shared_ptr<IngotSet> set;
  const void* data;
  size_t size;
};

py::memoryview Set::Content(int32_t index) const {
  const IngotArtifact a = Get(index);
  return py::memoryview(py::cast(Bytes{set_, a.bytes, a.size}));
}

}  // namespace
}  // namespace ingot::python

PYBIND11_MODULE(_native, m) {
  using namespace ingot::python;  // NOLINT
  DefineTensor(m);

  py::class_<Model>(m, "Model")
      .def(py::init<const py::object&, int32_t, bool, const std::string&,
                    const OwnLoaders&>(),
           py::arg("path"), py::arg("threads"), py::arg("check_digests"),
           py::arg("variant"), py::arg("loaders"))
      .def("inputs", &Model::Inputs)
      .def("outputs", &Model::Outputs)
      .def("variant", &Model::Variant);

  py::class_<Exported>(m, "Exported")
      .def("__dlpack__", &Exported::Dlpack, py::arg("stream") = py::none())
      .def("__dlpack_device__",
           [](const Exported&) { return py::make_tuple(int{kDLCPU}, 0); });

  py::class_<Executor>(m, "Executor")
      .def(py::init<const Model&>(), py::arg("model"))
      .def("set_input", &Executor::SetInput, py::arg("index"),
           py::arg("tensor"))
      .def("clear_inputs", &Executor::ClearInputs)
      .def("run", &Executor::Run)
      .def("output", &Executor::Output, py::arg("index"))
      .def("copies", &Executor::Copies)
      .def(
          "export",
          [](const py::object& self, int32_t index) {
            return Exported(self, self.cast<Executor&>().get(), index);
          },
          py::arg("index"));

  py::class_<Bytes>(m, "Bytes", py::buffer_protocol())
      .def_buffer([](const Bytes& bytes) {
        return py::buffer_info(
            static_cast<uint8_t*>(const_cast<void*>(bytes.data)),
            static_cast<py::ssize_t>(bytes.size), /*readonly=*/true);
      });

  py::class_<Set>(m, "Set")
      .def(py::init<const py::object&>(), py::arg("path"))
      .def("__len__", &Set::Size)
      .def("names", &Set::Names, py::arg("index"))
      .def("content", &Set::Content, py::arg("index"))
      .def("replace", &Set::Replace, py::arg("index"), py::arg("content"))
      .def("write", &Set::Write, py::arg("path"));
}
