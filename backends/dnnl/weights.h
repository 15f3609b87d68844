// Constants of a model, and their copies in the layouts that primitives chose.
#ifndef INGOT_BACKENDS_DNNL_WEIGHTS_H_
#define INGOT_BACKENDS_DNNL_WEIGHTS_H_

#include <map>
#include <string>
#include <vector>

#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/tensor.h"

namespace ingot::dnnl_backend {

// The weights of the graphs of one set. Those that two graphs read are laid out
// once.
// Used by one thread at a time. Throws what oneDNN throws.
class Weights {
 public:
  Weights(dnnl::engine engine, std::map<std::string, Tensor> constants)
      : engine_(std::move(engine)), constants_(std::move(constants)) {}

  // Null when there is no such constant.
  const Tensor* Find(const std::string& key) const;

  // The elements of a constant that exists, seen as `from`, in the layout `to`:
  // the constant itself where both are the same. It lives as long as this.
  dnnl::memory Get(const std::string& key, const dnnl::memory::desc& from,
                   const dnnl::memory::desc& to);

 private:
  struct Copy {
    dnnl::memory::desc from;
    dnnl::memory memory;
  };

  const dnnl::engine engine_;
  const std::map<std::string, Tensor> constants_;
  std::map<std::string, std::vector<Copy>> copies_;
};

}  // namespace ingot::dnnl_backend

#endif  // INGOT_BACKENDS_DNNL_WEIGHTS_H_
