// Summaries of a comparison of many models: a table, JSON and a chart.
#ifndef INGOT_BENCH_COMPARE_SUMMARY_H_
#define INGOT_BENCH_COMPARE_SUMMARY_H_

#include <string>
#include <vector>

#include "bench/compare/measure.h"
#include "nlohmann/json.hpp"

namespace ingot::compare {

// One row a model, then the geometric means, and how many models are slower.
// `peak` is the most operations that the machine makes in a second.
std::string TableOf(const std::vector<ModelResult>& results, double peak);

// The same for the other peer that is number `other`, in fewer columns.
std::string TableOfOther(const std::string& name,
                         const std::vector<ModelResult>& results, size_t other);

nlohmann::ordered_json JsonOf(const Plan& plan,
                              const std::vector<ModelResult>& results);

// An SVG picture: a bar a model, from slowest to fastest against the peer, on a
// logarithmic axis.
std::string ChartOf(const std::vector<ModelResult>& results);

}  // namespace ingot::compare

#endif  // INGOT_BENCH_COMPARE_SUMMARY_H_
