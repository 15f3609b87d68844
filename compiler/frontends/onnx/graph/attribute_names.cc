#include "compiler/frontends/onnx/graph/attribute_names.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/closest_names.h"

namespace ingot::onnx_frontend {
namespace {

struct Names {
  absl::string_view op;
  absl::string_view attributes;  // of any operator set
};

// The operators of ONNX's domains, in order, whose names differ. Those that
// came after operator set 17 are left out: of these any attribute will do.
constexpr Names kNames[] = {
    {"Abs", ""},
    {"Acos", ""},
    {"Acosh", ""},
    {"Add", "axis broadcast"},
    {"And", "axis broadcast"},
    {"ArgMax", "axis keepdims select_last_index"},
    {"ArgMin", "axis keepdims select_last_index"},
    {"ArrayFeatureExtractor", ""},
    {"Asin", ""},
    {"Asinh", ""},
    {"Atan", ""},
    {"Atanh", ""},
    {"AveragePool",
     "auto_pad ceil_mode count_include_pad dilations kernel_shape pads "
     "strides"},
    {"BatchNormalization", "epsilon is_test momentum spatial training_mode"},
    {"Bernoulli", "dtype seed"},
    {"Binarizer", "threshold"},
    {"BitShift", "direction"},
    {"BlackmanWindow", "output_datatype periodic"},
    {"Cast", "round_mode saturate to"},
    {"CastLike", "round_mode saturate"},
    {"CastMap", "cast_to map_form max_map"},
    {"CategoryMapper", "cats_int64s cats_strings default_int64 default_string"},
    {"Ceil", ""},
    {"Celu", "alpha"},
    {"Clip", "max min"},
    {"Compress", "axis"},
    {"Concat", "axis"},
    {"ConcatFromSequence", "axis new_axis"},
    {"Constant",
     "sparse_value value value_float value_floats value_int value_ints "
     "value_string value_strings"},
    {"ConstantOfShape", "value"},
    {"Conv", "auto_pad dilations group kernel_shape pads strides"},
    {"ConvInteger", "auto_pad dilations group kernel_shape pads strides"},
    {"ConvTranspose",
     "auto_pad dilations group kernel_shape output_padding output_shape pads "
     "strides"},
    {"Cos", ""},
    {"Cosh", ""},
    {"CumSum", "exclusive reverse"},
    {"DFT", "axis inverse onesided"},
    {"DepthToSpace", "blocksize mode"},
    {"DequantizeLinear", "axis block_size output_dtype"},
    {"Det", ""},
    {"DictVectorizer", "int64_vocabulary string_vocabulary"},
    {"Div", "axis broadcast"},
    {"Dropout", "is_test ratio seed"},
    {"DynamicQuantizeLinear", ""},
    {"Einsum", "equation"},
    {"Elu", "alpha"},
    {"Equal", "axis broadcast"},
    {"Erf", ""},
    {"Exp", ""},
    {"Expand", ""},
    {"EyeLike", "dtype k"},
    {"FeatureVectorizer", "inputdimensions"},
    {"Flatten", "axis"},
    {"Floor", ""},
    {"GRU",
     "activation_alpha activation_beta activations clip direction hidden_size "
     "layout linear_before_reset output_sequence"},
    {"Gather", "axis"},
    {"GatherElements", "axis"},
    {"GatherND", "batch_dims"},
    {"Gemm", "alpha beta broadcast transA transB"},
    {"GlobalAveragePool", ""},
    {"GlobalLpPool", "p"},
    {"GlobalMaxPool", ""},
    {"Greater", "axis broadcast"},
    {"GreaterOrEqual", ""},
    {"GridSample", "align_corners mode padding_mode"},
    {"HammingWindow", "output_datatype periodic"},
    {"HannWindow", "output_datatype periodic"},
    {"HardSigmoid", "alpha beta"},
    {"HardSwish", ""},
    {"Hardmax", "axis"},
    {"Identity", ""},
    {"If", "else_branch then_branch"},
    {"Imputer",
     "imputed_value_floats imputed_value_int64s replaced_value_float "
     "replaced_value_int64"},
    {"InstanceNormalization", "epsilon"},
    {"IsInf", "detect_negative detect_positive"},
    {"IsNaN", ""},
    {"LRN", "alpha beta bias size"},
    {"LSTM",
     "activation_alpha activation_beta activations clip direction hidden_size "
     "input_forget layout output_sequence"},
    {"LabelEncoder",
     "classes_strings default_float default_int64 default_string "
     "default_tensor keys_floats keys_int64s keys_strings keys_tensor "
     "values_floats values_int64s values_strings values_tensor"},
    {"LayerNormalization", "axis epsilon stash_type"},
    {"LeakyRelu", "alpha"},
    {"Less", "axis broadcast"},
    {"LessOrEqual", ""},
    {"LinearClassifier",
     "classlabels_ints classlabels_strings coefficients intercepts multi_class "
     "post_transform"},
    {"LinearRegressor", "coefficients intercepts post_transform targets"},
    {"Log", ""},
    {"LogSoftmax", "axis"},
    {"Loop", "body"},
    {"LpNormalization", "axis p"},
    {"LpPool", "auto_pad ceil_mode dilations kernel_shape p pads strides"},
    {"MatMul", ""},
    {"MatMulInteger", ""},
    {"Max", ""},
    {"MaxPool",
     "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"},
    {"MaxRoiPool", "pooled_shape spatial_scale"},
    {"MaxUnpool", "kernel_shape pads strides"},
    {"Mean", ""},
    {"MeanVarianceNormalization", "axes"},
    {"MelWeightMatrix", "output_datatype"},
    {"Min", ""},
    {"Mod", "fmod"},
    {"Mul", "axis broadcast"},
    {"Multinomial", "dtype sample_size seed"},
    {"Neg", ""},
    {"NegativeLogLikelihoodLoss", "ignore_index reduction"},
    {"NonMaxSuppression", "center_point_box"},
    {"NonZero", ""},
    {"Normalizer", "norm"},
    {"Not", ""},
    {"OneHot", "axis"},
    {"OneHotEncoder", "cats_int64s cats_strings zeros"},
    {"Optional", "type"},
    {"OptionalGetElement", ""},
    {"OptionalHasElement", ""},
    {"Or", "axis broadcast"},
    {"PRelu", ""},
    {"Pad", "mode paddings pads value"},
    {"Pow", "axis broadcast"},
    {"QLinearConv", "auto_pad dilations group kernel_shape pads strides"},
    {"QLinearMatMul", ""},
    {"QuantizeLinear", "axis block_size output_dtype precision saturate"},
    {"RNN",
     "activation_alpha activation_beta activations clip direction hidden_size "
     "layout output_sequence"},
    {"RandomNormal", "dtype mean scale seed shape"},
    {"RandomNormalLike", "dtype mean scale seed"},
    {"RandomUniform", "dtype high low seed shape"},
    {"RandomUniformLike", "dtype high low seed"},
    {"Range", "stash_type"},
    {"Reciprocal", ""},
    {"ReduceL1", "axes keepdims noop_with_empty_axes"},
    {"ReduceL2", "axes keepdims noop_with_empty_axes"},
    {"ReduceLogSum", "axes keepdims noop_with_empty_axes"},
    {"ReduceLogSumExp", "axes keepdims noop_with_empty_axes"},
    {"ReduceMax", "axes keepdims noop_with_empty_axes"},
    {"ReduceMean", "axes keepdims noop_with_empty_axes"},
    {"ReduceMin", "axes keepdims noop_with_empty_axes"},
    {"ReduceProd", "axes keepdims noop_with_empty_axes"},
    {"ReduceSum", "axes keepdims noop_with_empty_axes"},
    {"ReduceSumSquare", "axes keepdims noop_with_empty_axes"},
    {"Relu", ""},
    {"Reshape", "allowzero shape"},
    {"Resize",
     "antialias axes coordinate_transformation_mode cubic_coeff_a "
     "exclude_outside extrapolation_value keep_aspect_ratio_policy mode "
     "nearest_mode"},
    {"ReverseSequence", "batch_axis time_axis"},
    {"RoiAlign",
     "coordinate_transformation_mode mode output_height output_width "
     "sampling_ratio spatial_scale"},
    {"Round", ""},
    {"STFT", "onesided"},
    {"SVMClassifier",
     "classlabels_ints classlabels_strings coefficients kernel_params "
     "kernel_type post_transform prob_a prob_b rho support_vectors "
     "vectors_per_class"},
    {"SVMRegressor",
     "coefficients kernel_params kernel_type n_supports one_class "
     "post_transform rho support_vectors"},
    {"Scaler", "offset scale"},
    {"Scan",
     "body directions num_scan_inputs scan_input_axes scan_input_directions "
     "scan_output_axes scan_output_directions"},
    {"Scatter", "axis"},
    {"ScatterElements", "axis reduction"},
    {"ScatterND", "reduction"},
    {"Selu", "alpha gamma"},
    {"SequenceAt", ""},
    {"SequenceConstruct", ""},
    {"SequenceEmpty", "dtype"},
    {"SequenceErase", ""},
    {"SequenceInsert", ""},
    {"SequenceLength", ""},
    {"SequenceMap", "body"},
    {"Shape", "end start"},
    {"Shrink", "bias lambd"},
    {"Sigmoid", ""},
    {"Sign", ""},
    {"Sin", ""},
    {"Sinh", ""},
    {"Size", ""},
    {"Slice", "axes ends starts"},
    {"Softmax", "axis"},
    {"SoftmaxCrossEntropyLoss", "ignore_index reduction"},
    {"Softplus", ""},
    {"Softsign", ""},
    {"SpaceToDepth", "blocksize"},
    {"Split", "axis num_outputs split"},
    {"SplitToSequence", "axis keepdims"},
    {"Sqrt", ""},
    {"Squeeze", "axes"},
    {"StringNormalizer",
     "case_change_action is_case_sensitive locale stopwords"},
    {"Sub", "axis broadcast"},
    {"Sum", ""},
    {"Tan", ""},
    {"Tanh", ""},
    {"TfIdfVectorizer",
     "max_gram_length max_skip_count min_gram_length mode ngram_counts "
     "ngram_indexes pool_int64s pool_strings weights"},
    {"ThresholdedRelu", "alpha"},
    {"Tile", ""},
    {"TopK", "axis k largest sorted"},
    {"Transpose", "perm"},
    {"TreeEnsembleClassifier",
     "base_values base_values_as_tensor class_ids class_nodeids class_treeids "
     "class_weights class_weights_as_tensor classlabels_int64s "
     "classlabels_strings nodes_falsenodeids nodes_featureids nodes_hitrates "
     "nodes_hitrates_as_tensor nodes_missing_value_tracks_true nodes_modes "
     "nodes_nodeids nodes_treeids nodes_truenodeids nodes_values "
     "nodes_values_as_tensor post_transform"},
    {"TreeEnsembleRegressor",
     "aggregate_function base_values base_values_as_tensor n_targets "
     "nodes_falsenodeids nodes_featureids nodes_hitrates "
     "nodes_hitrates_as_tensor nodes_missing_value_tracks_true nodes_modes "
     "nodes_nodeids nodes_treeids nodes_truenodeids nodes_values "
     "nodes_values_as_tensor post_transform target_ids target_nodeids "
     "target_treeids target_weights target_weights_as_tensor"},
    {"Trilu", "upper"},
    {"Unique", "axis sorted"},
    {"Unsqueeze", "axes"},
    {"Upsample", "height_scale mode scales width_scale"},
    {"Where", ""},
    {"Xor", "axis broadcast"},
    {"ZipMap", "classlabels_int64s classlabels_strings"},
};

}  // namespace

absl::Status CheckAttributeNames(const onnx::NodeProto& node,
                                 const std::set<std::string>& asked) {
  if (node.attribute_size() == 0) return absl::OkStatus();
  const auto found = std::lower_bound(
      std::begin(kNames), std::end(kNames), node.op_type(),
      [](const Names& names, const std::string& op) { return names.op < op; });
  if (found == std::end(kNames) || found->op != node.op_type()) {
    return absl::OkStatus();
  }
  std::set<std::string> known = asked;
  for (absl::string_view name :
       absl::StrSplit(found->attributes, ' ', absl::SkipEmpty())) {
    known.emplace(name);
  }
  // Operators said so once which of their inputs they may overwrite.
  known.insert("consumed_inputs");
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    const std::string& name = attribute.name();
    // ONNX leaves names with a leading underscore to the programs that write
    // models.
    if (known.count(name) > 0 || absl::StartsWith(name, "_")) continue;
    const std::string meant =
        DidYouMean(name, std::vector<std::string>(known.begin(), known.end()));
    return absl::InvalidArgumentError(
        absl::StrCat("there is no attribute '", name, "'",
                     meant.empty() ? "" : "; ", meant));
  }
  return absl::OkStatus();
}

}  // namespace ingot::onnx_frontend
