// Recurrent layers, what makes tensors from nothing, what searches and sorts,
// and formats of few bits.
#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/fuzz/op_samplers.h"

namespace ingot::fuzz {
namespace {

using relay::Attrs;
using relay::MakeShape;
using Ints = std::vector<int64_t>;

const DataType kF32 = DataType::Float(32);
const DataType kI64 = DataType::Int(64);
const DataType kBool = DataType::Bool();

Ints Lengths(ModelBuilder* m, int64_t count, int64_t most) {
  Ints lengths;
  for (int64_t i = 0; i < count; ++i) lengths.push_back(1 + m->Next(most));
  return lengths;
}

bool AddRecurrent(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(m->FloatType(), [](const Known& k) {
    return k.rank() == 3 && k.is_static();
  });
  if (!x) return false;
  const DataType t = x->type().dtype;
  const int64_t steps = x->dim(0), batch = x->dim(1), hidden = 1 + m->Next(5);
  const int64_t gates = op == "lstm" ? 4 : op == "gru" ? 3 : 1;
  // The product of the inputs for all gates, as the frontend makes it.
  const Known w = m->Constant(t, {x->dim(2), gates * hidden}, false);
  if (!m->Add("matmul", {*x, w}, {}, false, x->bound * x->dim(2))) return false;
  Known lengths;
  if (m->Chance(40)) {
    lengths = m->Integers(Lengths(m, batch, steps), kI64, {batch});
  }
  std::vector<Known> inputs = {m->values().back(),
                               m->Constant(t, {hidden, gates * hidden}, false),
                               m->Constant(t, {batch, hidden}, false), lengths};
  Attrs attrs;
  attrs.Set("reverse", m->Next(2));
  if (m->Chance(20)) attrs.Set("clip", 0.8);
  if (op == "lstm") {
    inputs.push_back(m->Constant(t, {batch, hidden}, false));
    if (m->Chance(40)) inputs.push_back(m->Constant(t, {3 * hidden}, false));
    if (m->Chance(20)) attrs.Set("input_forget", int64_t{1});
  }
  if (op == "gru") {
    if (m->Chance(40)) inputs.push_back(m->Constant(t, {hidden}, false));
    attrs.Set("linear_before_reset", m->Next(2));
  }
  return m->Add(op, inputs, attrs, false, static_cast<double>(steps) + 2);
}

// ------------------------------------------------------------- made of nothing

bool AddRandom(ModelBuilder* m, const std::string& op) {
  if (!m->Add("random_state", {}, {}, true, 1)) return false;
  if (op == "random_state") return true;
  Attrs attrs;
  attrs.Set("shape", MakeShape({1 + m->Next(4), 1 + m->Next(9)}));
  attrs.Set("dtype", m->FloatType());
  attrs.Set("distribution", m->Chance(50) ? "uniform" : "normal");
  attrs.Set("stream", m->Next(3));
  if (m->Chance(30)) attrs.Set("seed", m->Next(1000));
  return m->Add(op, {m->values().back()}, attrs, false, 9);
}

bool AddGenerator(ModelBuilder* m, const std::string& op) {
  const DataType kTypes[] = {kF32, kF32, kI64, DataType::Int(32),
                             DataType::Float(64)};
  const DataType t = kTypes[m->Next(5)];
  Attrs attrs;
  if (op == "dims") {
    attrs.Set("values", MakeShape({m->Next(9), m->Next(9), m->Next(9)}));
    return m->Add(op, {}, attrs, true, 8);
  }
  attrs.Set("dtype", t);
  if (op == "full") {
    attrs.Set("shape", MakeShape({1 + m->Next(4), 1 + m->Next(9)}));
    attrs.Set("value", 3.0);
    return m->Add(op, {}, attrs, true, 3);
  }
  attrs.Set("count", MakeShape({1 + m->Next(40)}));
  attrs.Set("start", -2.0);
  attrs.Set("step", 3.0);
  return m->Add(op, {}, attrs, true, 120);
}

bool AddEyeLike(ModelBuilder* m, const std::string& op) {
  const auto x =
      m->Pick(m->FloatType(), [](const Known& k) { return k.rank() == 2; });
  if (!x) return false;
  Attrs attrs;
  attrs.Set("k", m->Next(5) - 2);
  if (m->Chance(50)) attrs.Set("dtype", kI64);
  return m->Add(op, {*x}, attrs, true, 1);
}

bool AddIdentity(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(m->FloatType());
  return x && m->Add(op, {*x}, {}, x->exact, x->bound);
}

// ------------------------------------------------------- searching and sorting

bool AddOneHot(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kI64);
  if (!x || x->rank() > 3) return false;
  Attrs attrs;
  attrs.Set("depth", MakeShape({1 + m->Next(6)}));
  attrs.Set("axis", m->Next(x->rank() + 1));
  return m->Add(op, {*x, m->Integers({-1, 2}, kF32, {2})}, attrs, true, 2);
}

// All elements of a tensor are true where nothing is left to chance: the count
// is part of the type.
bool AddNonZero(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(kBool, [](const Known& k) { return k.is_static(); });
  if (!x || !m->Add("logical_not", {*x}, {}, true, 1)) return false;
  const Known inverse = m->values().back();
  if (!m->Add("logical_or", {*x, inverse}, {}, true, 1)) return false;
  Attrs attrs;
  attrs.Set("count", MakeShape({static_cast<int64_t>(x->elements())}));
  return m->Add(op, {m->values().back()}, attrs, true, 16);
}

bool AddUnique(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(m->FloatType(), [](const Known& k) {
    return k.rank() == 2 && k.exact && k.is_static();
  });
  if (!x) return false;
  Attrs attrs;
  attrs.Set("sorted", m->Next(2));
  // Beyond the number of different rows, which is the last result, the others
  // are not defined: only which row each is, is.
  return m->Add(op, {*x}, attrs, true, x->elements(), {1, 3});
}

bool AddNonMaxSuppression(ModelBuilder* m, const std::string& op) {
  const auto scores = m->Pick(kF32, [](const Known& k) {
    return k.rank() == 3 && k.exact && k.is_static();
  });
  if (!scores) return false;
  const Known boxes =
      m->Constant(kF32, {scores->dim(0), scores->dim(2), 4}, true);
  const int64_t most = 1 + m->Next(3);
  Attrs attrs;
  attrs.Set("most", MakeShape({most}));
  return m->Add(op,
                {boxes, *scores, m->Integers({most}, kI64, {}),
                 m->Integers({1}, kF32, {}), m->Integers({-1}, kF32, {})},
                attrs, true, 4096, {1});
}

bool AddReverseSequence(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(m->FloatType(), [](const Known& k) {
    return k.rank() >= 2 && k.is_static();
  });
  if (!x) return false;
  const int64_t batch = m->Next(2);
  Attrs attrs;
  attrs.Set("batch_axis", batch);
  attrs.Set("time_axis", 1 - batch);
  const Known lengths = m->Integers(
      Lengths(m, x->dim(batch), x->dim(1 - batch)), kI64, {x->dim(batch)});
  return m->Add(op, {*x, lengths}, attrs, x->exact, x->bound);
}

// ----------------------------------------------------------------------- other

bool AddLpNorm(ModelBuilder* m, const std::string& op) {
  // Tiny differences would be made large.
  const auto x = m->Pick(
      m->FloatType(), [](const Known& k) { return k.rank() > 0 && k.exact; });
  if (!x) return false;
  Attrs attrs;
  attrs.Set("axis", m->Next(x->rank()));
  attrs.Set("p", 1 + m->Next(2));
  return m->Add(op, {*x}, attrs, false, 1);
}

bool AddDet(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(m->FloatType(), [](const Known& k) {
    return k.rank() >= 2 && k.exact && k.bound <= 4 && k.is_static();
  });
  if (!x) return false;
  const int r = x->rank();
  const int64_t n =
      std::min<int64_t>({x->dim(r - 2), x->dim(r - 1), 1 + m->Next(3)});
  Attrs part;
  part.Set("axes", Ints{r - 2, r - 1});
  part.Set("starts", MakeShape({0, 0}));
  part.Set("ends", MakeShape({n, n}));
  part.Set("steps", Ints{1, 1});
  return m->Add("slice", {*x}, part, true, x->bound) &&
         m->Add(op, {m->values().back()}, {}, false, 384);
}

bool AddFloat8(ModelBuilder* m, const std::string& op) {
  static const char* const kFormats[] = {"e4m3fn",   "e4m3fnuz", "e5m2",
                                         "e5m2fnuz", "e8m0",     "e2m1"};
  static const char* const kRoundings[] = {"up", "down", "nearest"};
  Attrs attrs;
  attrs.Set("format", kFormats[m->Next(6)]);
  if (op == "float8_decode") {
    // Bytes that are small are small numbers in every format.
    const auto bytes =
        m->Pick(DataType::UInt(8), [](const Known& k) { return k.bound < 40; });
    return bytes && m->Add(op, {*bytes}, attrs, true, 6);
  }
  const auto x = m->Pick(kF32, [](const Known& k) { return k.exact; });
  if (!x) return false;
  attrs.Set("saturate", m->Next(2));
  attrs.Set("rounding", kRoundings[m->Next(3)]);
  return m->Add(op, {*x}, attrs, true, 255);
}

bool AddFewBits(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(m->FloatType(), [](const Known& k) {
    return k.rank() > 1 && k.dim(k.rank() - 1) > 0;
  });
  if (!x) return false;
  const int64_t depth = x->dim(x->rank() - 1);
  const int64_t bits = int64_t{2} << m->Next(3);
  const int64_t bytes = int64_t{4} << m->Next(7);
  const int64_t blocks = (depth - 1) / (bytes * 8 / bits) + 1;
  const int64_t columns = 1 + m->Next(9);
  Ints packed(columns * blocks * bytes);
  for (int64_t& byte : packed) byte = m->Next(256);
  const DataType t = x->type().dtype;
  std::vector<Known> operands = {
      *x, m->Integers(packed, DataType::UInt(8), {columns, blocks, bytes}),
      m->Constant(t, {columns, blocks}, false)};
  if (m->Chance(50)) {
    operands.push_back(m->Constant(t, {columns, blocks}, false));
  }
  Attrs attrs;
  attrs.Set("bits", bits);
  return m->Add(op, operands, attrs, false,
                x->bound * 256 * static_cast<double>(depth));
}

// The scales of the data are what other operators compute.
bool AddFewBitsPacked(ModelBuilder* m, const std::string& op) {
  const auto scales = m->Pick(kF32, [](const Known& k) {
    return k.rank() > 1 && k.is_static() && k.elements() > 0;
  });
  if (!scales) return false;
  const int64_t groups = scales->dim(scales->rank() - 1);
  const int64_t bits = int64_t{2} << m->Next(3);
  const int64_t numbers = 32 / bits;  // of a word
  int64_t words = int64_t{1} << m->Next(5);
  if (groups % std::max<int64_t>(1, words * numbers / 32) != 0) words = 1;
  const int64_t block = words * numbers;
  const int64_t blocks = groups / std::max<int64_t>(1, block / 32);
  const int64_t columns = int64_t{1} << m->Next(5), units = 1 + m->Next(40);
  const int64_t panels = (units - 1) / columns + 1;
  const auto integers = [m](const Ints& shape, DataType type, int64_t most) {
    int64_t count = 1;
    for (int64_t d : shape) count *= d;
    Ints values(count);
    for (int64_t& value : values) value = m->Next(most);
    return m->Integers(values, type, shape);
  };
  Ints shape = *relay::ConstShape(scales->type().shape);
  // Small bytes, so that more can be made of the result.
  constexpr int64_t kBytes = 4, kSums = 32 * kBytes;
  const Known sums = integers(shape, DataType::Int(32), kSums);
  shape.back() = blocks * block;
  std::vector<Known> operands = {
      integers(shape, DataType::UInt(8), kBytes), *scales, sums,
      integers({panels, blocks, words, columns}, DataType::Int(32),
               int64_t{1} << 31),
      m->Constant(kF32, {panels, blocks, columns}, false)};
  if (m->Chance(50)) {
    operands.push_back(m->Constant(kF32, {panels, blocks, columns}, false));
  }
  Attrs attrs;
  attrs.Set("bits", bits);
  attrs.Set("units", units);
  attrs.Set("tile_rows", m->Next(4));
  const double group_bound = static_cast<double>(kSums << bits);
  return m->Add(op, operands, attrs, false,
                scales->bound * group_bound * static_cast<double>(groups));
}

bool AddUpdateSlice(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(m->FloatType(), [](const Known& k) {
    return k.rank() > 1 && k.is_static() && k.dim(0) > 0 && k.dim(1) > 0;
  });
  if (!x) return false;
  Ints shape = *relay::ConstShape(x->type().shape);
  const int64_t room = shape[1];
  shape[1] = 1 + m->Next(room);
  Attrs attrs;
  attrs.Set("axis", int64_t{1});
  const bool circular = m->Chance(40);
  if (circular) attrs.Set("circular", int64_t{1});
  Ints starts(m->Chance(50) ? 1 : shape[0]);
  for (int64_t& start : starts) {
    start = m->Next(circular ? room : room - shape[1] + 1);
  }
  const Known update = m->Constant(x->type().dtype, shape, x->exact);
  const auto count = static_cast<int64_t>(starts.size());
  return m->Add(op, {*x, update, m->Integers(starts, kI64, {count})}, attrs,
                x->exact, x->bound + update.bound);
}

bool AddBitCast(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(DataType::UInt(8));
  if (!x) return false;
  Attrs attrs;
  attrs.Set("dtype", DataType::Int(8));
  return m->Add(op, {*x}, attrs, true, 128);
}

bool AddLinearAttention(ModelBuilder* m, const std::string& op) {
  const auto keys = m->Pick(m->FloatType(), [](const Known& k) {
    return k.rank() == 3 && k.is_static() && k.bound <= 2;
  });
  if (!keys) return false;
  const DataType t = keys->type().dtype;
  const int64_t batch = keys->dim(0), steps = keys->dim(1);
  const int64_t heads = keys->dim(2) % 2 == 0 ? 1 + m->Next(2) : 1;
  const int64_t key = keys->dim(2) / heads, value = 1 + m->Next(4);
  const int64_t q_heads = heads * (1 + m->Next(2));
  const bool decays = m->Chance(50), betas = m->Chance(50);
  // A step multiplies the state by so much, and adds so much, at most.
  double grows = decays ? std::exp(1.0) : 1;
  if (betas) grows *= 1 + static_cast<double>(key) * keys->bound * keys->bound;
  const double bound = (1 + static_cast<double>(steps) * keys->bound) *
                       std::pow(grows, static_cast<double>(steps)) *
                       static_cast<double>(key);
  if (key < 1 || bound > 1e6) return false;
  auto constant = [&](const std::vector<int64_t>& shape) {
    return m->Constant(t, shape, false);
  };
  const int64_t decay = m->Chance(50) ? heads : heads * key;
  std::vector<Known> inputs = {constant({batch, steps, q_heads * key}), *keys,
                               constant({batch, steps, heads * value}),
                               constant({batch, heads, key, value})};
  inputs.push_back(decays ? constant({batch, steps, decay}) : Known());
  if (betas) {
    inputs.push_back(constant({batch, steps, m->Chance(30) ? 1 : heads}));
  }
  Attrs attrs;
  attrs.Set("query_heads", q_heads);
  attrs.Set("heads", heads);
  attrs.Set("scale", 0.5);
  return m->Add(op, inputs, attrs, false, bound);
}

bool AddAttention(ModelBuilder* m, const std::string& op) {
  const auto q = m->Pick(m->FloatType(), [](const Known& k) {
    return k.rank() == 4 && k.is_static() && k.elements() > 0;
  });
  if (!q) return false;
  const DataType t = q->type().dtype;
  const int64_t batch = q->dim(0), heads = q->dim(1), queries = q->dim(2);
  const int64_t kept = heads % 2 == 0 && m->Chance(40) ? heads / 2 : heads;
  const int64_t keys = m->Chance(30) ? 90 + m->Next(20) : 1 + m->Next(20);
  std::vector<Known> inputs = {
      *q, m->Constant(t, {batch, kept, keys, q->dim(3)}, false),
      m->Constant(t, {batch, kept, keys, 1 + m->Next(9)}, false)};
  inputs.resize(7);
  if (m->Chance(30)) {
    inputs[3] = m->Constant(t, {queries, keys}, false);
  } else if (m->Chance(30)) {
    Ints allowed;
    for (int64_t i = 0; i < batch * keys; ++i) allowed.push_back(m->Next(3));
    inputs[3] = m->Integers(allowed, kBool, {batch, 1, 1, keys});
  }
  if (m->Chance(40)) inputs[4] = m->Integers({m->Next(keys)}, kI64, {1});
  if (m->Chance(20)) {
    inputs[5] = m->Integers(Lengths(m, batch, keys), kI64, {batch});
  }
  if (m->Chance(20)) inputs[6] = m->Constant(t, {heads}, false);
  while (inputs.back().value.node == nullptr) inputs.pop_back();
  Attrs attrs;
  attrs.Set("scale", 0.5);
  attrs.Set("masked_zero", int64_t{1});
  if (m->Chance(40)) attrs.Set("right", m->Next(3));
  if (m->Chance(20)) attrs.Set("left", m->Next(9));
  if (m->Chance(20)) attrs.Set("softcap", 2.0);
  return m->Add(op, inputs, attrs, false, 1);
}

bool AddExpertDense(ModelBuilder* m, const std::string& op) {
  const auto x = m->Pick(m->FloatType(), [](const Known& k) {
    return k.rank() == 2 && k.is_static();
  });
  if (!x) return false;
  const int64_t experts = 1 + m->Next(4);
  Ints chosen;
  for (int64_t row = 0; row < x->dim(0); ++row) {
    chosen.push_back(m->Next(experts));
  }
  const Known w =
      m->Constant(x->type().dtype, {experts, 1 + m->Next(9), x->dim(1)}, false);
  return m->Add(op, {*x, w, m->Integers(chosen, kI64, {x->dim(0)})}, {}, false,
                x->bound * static_cast<double>(x->dim(1)));
}

}  // namespace

void AddSpecialSamplers(std::vector<OpSampler>* samplers) {
  const std::vector<OpSampler> added = {
      {{"lstm", "gru", "rnn"}, AddRecurrent},
      {{"full", "range", "dims"}, AddGenerator},
      {{"random_state", "random"}, AddRandom},
      {{"eye_like"}, AddEyeLike},
      {{"identity"}, AddIdentity},
      {{"one_hot"}, AddOneHot},
      {{"nonzero"}, AddNonZero},
      {{"unique_rows"}, AddUnique},
      {{"non_max_suppression"}, AddNonMaxSuppression},
      {{"reverse_sequence"}, AddReverseSequence},
      {{"lp_norm"}, AddLpNorm},
      {{"det"}, AddDet},
      {{"float8_encode", "float8_decode"}, AddFloat8},
      {{"bit_cast"}, AddBitCast},
      {{"update_slice"}, AddUpdateSlice},
      {{"dense_bits"}, AddFewBits},
      {{"dense_bits_packed"}, AddFewBitsPacked},
      {{"linear_attention"}, AddLinearAttention},
      {{"attention"}, AddAttention},
      {{"expert_dense"}, AddExpertDense},
  };
  samplers->insert(samplers->end(), added.begin(), added.end());
}

}  // namespace ingot::fuzz
