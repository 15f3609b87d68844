#include "tests/fuzz/onnx/rounding.h"

#include <map>
#include <set>
#include <string>

namespace ingot::fuzz {

Rounding RoundingOf(absl::string_view op) {
  static const auto* const kTable = [] {
    auto* table = new std::map<std::string, Rounding>;
    for (const char* name : {"Abs",
                             "Neg",
                             "Relu",
                             "Max",
                             "Min",
                             "Floor",
                             "Ceil",
                             "Round",
                             "Sign",
                             "Identity",
                             "Clip",
                             "And",
                             "Or",
                             "Xor",
                             "Not",
                             "Equal",
                             "Greater",
                             "GreaterOrEqual",
                             "Less",
                             "LessOrEqual",
                             "IsInf",
                             "IsNaN",
                             "BitShift",
                             "BitwiseAnd",
                             "BitwiseOr",
                             "BitwiseXor",
                             "BitwiseNot",
                             "Where",
                             "Concat",
                             "Split",
                             "Slice",
                             "Transpose",
                             "Reshape",
                             "Flatten",
                             "Squeeze",
                             "Unsqueeze",
                             "Expand",
                             "Tile",
                             "Gather",
                             "GatherElements",
                             "GatherND",
                             "Scatter",
                             "Pad",
                             "Trilu",
                             "DepthToSpace",
                             "SpaceToDepth",
                             "ReverseSequence",
                             "TensorScatter",
                             "BitCast",
                             "Compress",
                             "NonZero",
                             "Unique",
                             "Shape",
                             "Size",
                             "EyeLike",
                             "OneHot",
                             "ConstantOfShape",
                             "Constant",
                             "CenterCropPad",
                             "ArgMax",
                             "ArgMin",
                             "ReduceMax",
                             "ReduceMin",
                             "MaxPool",
                             "GlobalMaxPool",
                             "MaxUnpool",
                             "TopK",
                             "Hardmax",
                             "Dropout",
                             "NonMaxSuppression",
                             "MaxRoiPool",
                             "QuantizeLinear",
                             "QLinearMatMul",
                             "QLinearConv",
                             "ArrayFeatureExtractor",
                             "Binarizer",
                             "FeatureVectorizer",
                             "Imputer",
                             "LabelEncoder",
                             "OneHotEncoder"}) {
      (*table)[name] = Rounding::kNone;
    }
    for (const char* name : {
             "Sub",
             "Mod",
             "Gelu",
             "LogSoftmax",
             "ReduceLogSum",
             "ReduceLogSumExp",
             "LayerNormalization",
             "InstanceNormalization",
             "GroupNormalization",
             "MeanVarianceNormalization",
             "BatchNormalization",
             "Sin",
             "Cos",
             "AffineGrid",
             "Scaler",
         }) {
      (*table)[name] = Rounding::kOperands;
    }
    for (const char* name : {"Resize", "Upsample", "GridSample", "RoiAlign"}) {
      (*table)[name] = Rounding::kPlaces;
    }
    for (const char* name : {"Add",
                             "Mul",
                             "Sum",
                             "MatMul",
                             "Gemm",
                             "Einsum",
                             "ReduceSum",
                             "ReduceSumSquare",
                             "ReduceL1",
                             "CumSum",
                             "Col2Im",
                             "Cast",
                             "CastLike",
                             "Range",
                             "ScatterElements",
                             "ScatterND",
                             "DeformConv",
                             "RotaryEmbedding",
                             "ReduceProd",
                             "CausalConvWithState",
                             "LinearClassifier",
                             "LinearRegressor",
                             "Normalizer",
                             "TreeEnsembleClassifier",
                             "TreeEnsembleRegressor"}) {
      (*table)[name] = Rounding::kSums;
    }
    for (const char* name : {"LSTM", "GRU", "RNN", "If", "Loop", "Scan", "Det",
                             "DFT", "STFT", "Attention", "LinearAttention",
                             "CumProd", "SVMClassifier", "SVMRegressor"}) {
      (*table)[name] = Rounding::kIterates;
    }
    for (const char* name : {"Conv", "ConvTranspose"}) {
      (*table)[name] = Rounding::kTiles;
    }
    for (const char* name :
         {"ReduceMean", "AveragePool", "GlobalAveragePool", "Mean"}) {
      (*table)[name] = Rounding::kMeans;
    }
    return table;
  }();
  const auto it = kTable->find(std::string(op));
  return it == kTable->end() ? Rounding::kEach : it->second;
}

bool Amplifies(absl::string_view op) {
  static const auto* const kOperators = new std::set<absl::string_view>{
      "BatchNormalization",
      "Det",
      "GRU",
      "GroupNormalization",
      "InstanceNormalization",
      "LSTM",
      "LayerNormalization",
      "LogSoftmax",
      "MeanVarianceNormalization",
      "RMSNormalization",
      "RNN",
      "ReduceLogSum",
      "ReduceLogSumExp",
  };
  return kOperators->count(op) != 0;
}

double UnitOf(DataType t) {
  if (t == DataType::Float(64)) return 1e-13;
  if (t == DataType::Float(32)) return 2e-6;
  if (t == DataType::Float(16)) return 2e-3;
  if (t == DataType::BFloat16()) return 1.6e-2;
  return 0;
}

double UnitOf(absl::string_view op, DataType t) {
  const bool in_f32 = op == "LayerNormalization" ||
                      op == "GroupNormalization" || op == "RMSNormalization";
  return in_f32 && t == DataType::Float(64) ? UnitOf(DataType::Float(32))
                                            : UnitOf(t);
}

double WholeLimit(DataType t) {
  if (t == DataType::Float(64)) return 0x1p50;
  if (t == DataType::Float(32)) return 0x1p22;
  if (t == DataType::Float(16)) return 0x1p10;
  return 0x1p7;
}

}  // namespace ingot::fuzz
