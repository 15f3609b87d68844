#include "bench/compare/summary.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/ingot/output.h"

namespace ingot::compare {
namespace {

struct Means {
  int models = 0, slower = 0;
  double speed_up = 0, load = 0, memory = 0;  // geometric
};

// Over the models that take the peer at least `seconds`.
Means MeansOf(const std::vector<ModelResult>& results, double seconds) {
  Means means;
  for (const ModelResult& r : results) {
    if (!r.problem.empty() || r.onnxruntime.latency < seconds) continue;
    ++means.models;
    means.slower += r.SpeedUp() < 1;
    means.speed_up += std::log(r.SpeedUp());
    means.load += std::log(r.onnxruntime.load / r.ingot.load);
    means.memory += std::log(r.ingot.peak_mib / r.onnxruntime.peak_mib);
  }
  if (means.models == 0) return means;
  for (double* mean : {&means.speed_up, &means.load, &means.memory}) {
    *mean = std::exp(*mean / means.models);
  }
  return means;
}

std::string Line(const Means& means, absl::string_view which) {
  return absl::StrFormat(
      "%d models%s: %.2f times as fast (geometric mean), %d slower; loads "
      "%.1f times as fast, in %.2f of the memory\n",
      means.models, which, means.speed_up, means.slower, means.load,
      means.memory);
}

nlohmann::ordered_json JsonOf(const PeerResult& peer) {
  nlohmann::ordered_json medians = nlohmann::ordered_json::array();
  for (double median : peer.medians) medians.push_back(median * 1e3);
  return {{"load_ms", peer.load * 1e3},
          {"latency_ms", peer.latency * 1e3},
          {"medians_ms", medians},
          {"peak_mib", peer.peak_mib}};
}

}  // namespace

std::string TableOf(const std::vector<ModelResult>& results, double peak) {
  Table table({"MODEL", ">INGOT", ">ONNX RUNTIME", ">SPEED-UP", ">GFLOP/S",
               ">OF PEAK", ">LOAD", ">THEIRS", ">MEMORY", ">THEIRS", ">COMPILE",
               ">DIFFERENCE"});
  std::string problems;
  for (const ModelResult& r : results) {
    if (!r.problem.empty()) {
      absl::StrAppend(&problems, r.name, ": ", OneLine(r.problem), "\n");
      continue;
    }
    const double rate = r.operations / r.ingot.latency;
    const bool is_known = r.operations > 0;
    table.Add({r.name, HumanTime(r.ingot.latency),
               HumanTime(r.onnxruntime.latency),
               absl::StrFormat("%.2f", r.SpeedUp()),
               is_known ? absl::StrFormat("%.1f", rate * 1e-9) : "",
               is_known ? absl::StrFormat("%.0f %%", 100 * rate / peak) : "",
               HumanTime(r.ingot.load), HumanTime(r.onnxruntime.load),
               absl::StrFormat("%.1f MiB", r.ingot.peak_mib),
               absl::StrFormat("%.1f MiB", r.onnxruntime.peak_mib),
               HumanTime(r.compile), absl::StrFormat("%.1e", r.difference)});
  }
  return absl::StrCat(table.ToString(), problems, Line(MeansOf(results, 0), ""),
                      Line(MeansOf(results, 1e-3), " above 1 ms"));
}

std::string TableOfOther(const std::string& name,
                         const std::vector<ModelResult>& results,
                         size_t other) {
  Table table({"MODEL", ">INGOT", ">" + absl::AsciiStrToUpper(name),
               ">SPEED-UP", ">THEIR LOAD", ">THEIR MEMORY", ">DIFFERENCE"});
  std::map<std::string, std::vector<std::string>> problems;
  int models = 0, slower = 0;
  double speed_up = 0;
  for (const ModelResult& r : results) {
    if (!r.problem.empty()) continue;  // said of the first peer
    const OtherResult& theirs = r.others[other];
    if (!theirs.problem.empty()) {
      problems[OneLine(theirs.problem)].push_back(r.name);
      continue;
    }
    const double times = theirs.measured.latency / r.ingot.latency;
    ++models;
    slower += times < 1;
    speed_up += std::log(times);
    table.Add({r.name, HumanTime(r.ingot.latency),
               HumanTime(theirs.measured.latency),
               absl::StrFormat("%.2f", times), HumanTime(theirs.measured.load),
               absl::StrFormat("%.1f MiB", theirs.measured.peak_mib),
               absl::StrFormat("%.1e", theirs.difference)});
  }
  std::string text = models == 0 ? "" : table.ToString();
  for (const auto& [problem, names] : problems) {
    absl::StrAppend(&text, absl::StrJoin(names, ", "), ": ", problem, "\n");
  }
  if (models == 0) return text;
  return absl::StrCat(
      text,
      absl::StrFormat("%d models on %s: Ingot is %.2f times as fast (geometric "
                      "mean), %d slower\n",
                      models, name, std::exp(speed_up / models), slower));
}

nlohmann::ordered_json JsonOf(const Plan& plan,
                              const std::vector<ModelResult>& results) {
  nlohmann::ordered_json models = nlohmann::ordered_json::array();
  for (const ModelResult& r : results) {
    if (!r.problem.empty()) {
      models.push_back({{"name", r.name}, {"problem", r.problem}});
      continue;
    }
    models.push_back({{"name", r.name},
                      {"speed_up", r.SpeedUp()},
                      {"ingot", JsonOf(r.ingot)},
                      {"onnxruntime", JsonOf(r.onnxruntime)},
                      {"compile_s", r.compile},
                      {"compile_peak_mib", r.compile_peak_mib},
                      {"link_s", r.link},
                      {"operations", r.operations},
                      {"difference", r.difference}});
    for (size_t i = 0; i < plan.others.size(); ++i) {
      const OtherResult& other = r.others[i];
      nlohmann::ordered_json* const json =
          &models.back()["others"][plan.others[i].name];
      if (!other.problem.empty()) {
        *json = {{"problem", other.problem}};
        continue;
      }
      *json = JsonOf(other.measured);
      (*json)["difference"] = other.difference;
    }
  }
  const Means all = MeansOf(results, 0), slow = MeansOf(results, 1e-3);
  return {{"threads", plan.threads},
          {"speed_up", all.speed_up},
          {"speed_up_above_1_ms", slow.speed_up},
          {"slower", all.slower},
          {"models", models}};
}

std::string ChartOf(const std::vector<ModelResult>& results) {
  std::vector<ModelResult> sorted;
  for (const ModelResult& r : results) {
    if (r.problem.empty()) sorted.push_back(r);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const ModelResult& a, const ModelResult& b) {
              return a.SpeedUp() < b.SpeedUp();
            });
  constexpr int kRow = 18, kLeft = 220, kWidth = 640, kTop = 40;
  constexpr double kLow = 1.0 / 16, kHigh = 16;
  const auto place = [&](double speed_up) {
    const double x = std::log(std::clamp(speed_up, kLow, kHigh) / kLow) /
                     std::log(kHigh / kLow);
    return kLeft + x * kWidth;
  };
  const int height = kTop + kRow * static_cast<int>(sorted.size()) + 10;
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
      "<text x=\"%d\" y=\"16\">times as fast as ONNX Runtime</text>\n",
      kLeft + kWidth + 60, height, kLeft);
  for (const double tick : {0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0}) {
    absl::StrAppendFormat(
        &svg,
        "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"%s\"/>"
        "<text x=\"%.1f\" y=\"34\" text-anchor=\"middle\">%g</text>\n",
        place(tick), place(tick), kTop, height, tick == 1 ? "black" : "#ddd",
        place(tick), tick);
  }
  for (size_t i = 0; i < sorted.size(); ++i) {
    const int y = kTop + kRow * static_cast<int>(i);
    const double speed_up = sorted[i].SpeedUp();
    const double from = std::min(place(1), place(speed_up));
    const double to = std::max(place(1), place(speed_up));
    absl::StrAppendFormat(
        &svg,
        "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>"
        "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>"
        "<text x=\"%.1f\" y=\"%d\">%.2f</text>\n",
        kLeft - 8, y + 13, sorted[i].name, from, y + 3, to - from, kRow - 5,
        speed_up < 1 ? "#c0504d" : "#4f81bd", to + 4, y + 13, speed_up);
  }
  return svg + "</svg>\n";
}

}  // namespace ingot::compare
