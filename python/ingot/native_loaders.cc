#include "python/ingot/native_loaders.h"

#include <exception>
#include <memory>
#include <utility>

#include "pybind11/numpy.h"
#include "pybind11/stl.h"
#include "python/ingot/native_common.h"

namespace py = pybind11;

namespace ingot::python {
namespace {

// A tensor of a run, for a function of the caller's own: it shows memory that
// is there while the function runs.
class Tensor {
 public:
  explicit Tensor(const DLTensor& tensor)
      : tensor_(tensor), shape_(tensor.shape, tensor.shape + tensor.ndim) {}

  py::tuple Shape() const { return py::tuple(py::cast(shape_)); }
  std::string Dtype() const { return DtypeName(tensor_.dtype); }

  py::array Array() const {
    const py::capsule no_owner(this, [](void*) {});
    return py::array(NumpyDtype(tensor_.dtype, "take it by __dlpack__"),
                     std::vector<py::ssize_t>(shape_.begin(), shape_.end()),
                     Data(), no_owner);
  }

  py::capsule Dlpack(const py::object& stream) const {
    struct Copy {
      DLManagedTensor managed;
      std::vector<int64_t> shape;
    };
    auto* copy = new Copy{{}, shape_};
    copy->managed.dl_tensor = tensor_;
    copy->managed.dl_tensor.shape = copy->shape.data();
    copy->managed.dl_tensor.strides = nullptr;  // it is dense
    copy->managed.manager_ctx = copy;
    copy->managed.deleter = [](DLManagedTensor* self) {
      delete static_cast<Copy*>(self->manager_ctx);
    };
    return ToCapsule(&copy->managed);
  }

 private:
  void* Data() const {
    return static_cast<char*>(tensor_.data) + tensor_.byte_offset;
  }

  DLTensor tensor_;
  std::vector<int64_t> shape_;
};

// The exception in one line: "ValueError: no rain today".
std::string OneLine(const py::object& exception) {
  const py::object name = py::type::of(exception).attr("__name__");
  try {
    const py::list words = py::str(exception).attr("split")();
    return py::str("{}: {}")
        .format(name, py::str(" ").attr("join")(words))
        .cast<std::string>();
  } catch (const py::error_already_set&) {
    return name.cast<std::string>();  // it has no text, or not one of UTF-8
  }
}

// Calls `call` with Python's lock; an exception becomes the C API's error.
template <typename Call>
IngotStatus WithLock(Call call) {
  const py::gil_scoped_acquire locked;
  try {
    call();
    return INGOT_OK;
  } catch (const py::error_already_set& error) {
    if (error.trace()) {
      PyException_SetTraceback(error.value().ptr(), error.trace().ptr());
    }
    ingot_set_error(OneLine(error.value()).c_str());
    SetCause(error.value());
  } catch (const std::exception& error) {
    ingot_set_error(error.what());
  }
  return INGOT_ABORTED;
}

IngotStatus CallPython(void* self, DLTensor* const* tensors, int32_t count) {
  return WithLock([&] {
    py::tuple arguments(count);
    for (int32_t i = 0; i < count; ++i) {
      arguments[i] = py::cast(Tensor(*tensors[i]));
    }
    (*static_cast<py::object*>(self))(*arguments);
  });
}

void FreePython(void* self) {
  const py::gil_scoped_acquire locked;
  delete static_cast<py::object*>(self);
}

// `self` is the function in OwnLoaders.
IngotStatus LoadByPython(void* self, const IngotArtifact* artifacts,
                         int32_t count, IngotModule* module) {
  return WithLock([&] {
    py::list group;
    for (int32_t i = 0; i < count; ++i) {
      const IngotArtifact& a = artifacts[i];
      group.append(
          py::make_tuple(a.target_key, a.codegen_id, a.loader, a.file_name,
                         py::bytes(static_cast<const char*>(a.bytes), a.size)));
    }
    // The module is there while the loader runs, and Python may keep the
    // function longer.
    const auto there = std::make_shared<const IngotModule*>(module);
    const py::cpp_function constant([there](const std::string& key) {
      if (*there == nullptr) {
        Raise("a loader asks for constants while it runs",
              NameOf(INGOT_FAILED_PRECONDITION));
      }
      DLManagedTensor* tensor = nullptr;
      Check(ingot_export_constant(*there, key.c_str(), &tensor));
      DLDataType& dtype = tensor->dl_tensor.dtype;
      const std::string name = DtypeName(dtype);
      if (dtype.code == kDLBfloat) dtype.code = kDLUInt;  // its bits
      return py::make_tuple(name, ToArray(tensor, "a loader cannot have it"));
    });
    const struct Ends {
      const std::shared_ptr<const IngotModule*>& there;
      ~Ends() { *there = nullptr; }
    } ends{there};
    const py::dict functions =
        (*static_cast<py::object*>(self))(group, constant);
    for (const auto& [symbol, callable] : functions) {
      const std::string name = py::cast<std::string>(symbol);
      auto owned = std::make_unique<py::object>(
          py::reinterpret_borrow<py::object>(callable));
      const IngotFunction function = {name.c_str(), CallPython, owned.get(),
                                      FreePython};
      Check(ingot_add_function(module, &function));
      owned.release();  // it is the module's now
    }
  });
}

}  // namespace

std::vector<IngotLoader> ToLoaders(const OwnLoaders& own) {
  std::vector<IngotLoader> loaders;
  for (const auto& [name, load] : own) {
    loaders.push_back(
        {name.c_str(), LoadByPython, const_cast<py::object*>(&load)});
  }
  return loaders;
}

void DefineTensor(py::module_& m) {
  py::class_<Tensor>(m, "Tensor",
                     "A tensor of a run. Its memory is there until the "
                     "function returns that was called with it.")
      .def_property_readonly("shape", &Tensor::Shape)
      .def_property_readonly("dtype", &Tensor::Dtype)
      .def("numpy", &Tensor::Array)
      .def("__dlpack__", &Tensor::Dlpack, py::arg("stream") = py::none())
      .def("__dlpack_device__",
           [](const Tensor&) { return py::make_tuple(int{kDLCPU}, 0); });
}

}  // namespace ingot::python
