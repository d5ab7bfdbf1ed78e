#include "planner/policy/related_sweeps.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"

namespace meshwright::planner {
namespace {

// Chosen values; docs/accuracy.md says how the results on published sweeps depend on them.
constexpr double kAnotherSweep = 0.3;
constexpr double kSize = 0.1;  // per factor of e
constexpr double kWord = 0.5;
constexpr double kDevice = 1.0;

double Apart(int64_t a, int64_t b) {
  return kSize * std::abs(std::log(static_cast<double>(a) / static_cast<double>(b)));
}

double Apart(const std::string& a, const std::string& b, double jump) {
  return a == b ? 0.0 : jump;
}

// The value of an option; empty for its default.
std::string ValueIn(const OptionValues& options, std::string_view name) {
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const auto& option) { return option.first == name; });
  return found == options.end() ? std::string() : found->second;
}

double Apart(const OptionValues& a, const OptionValues& b) {
  double apart = 0.0;
  for (const std::string_view name : OptionNames()) {
    apart += Apart(ValueIn(a, name), ValueIn(b, name), kWord);
  }
  return apart;
}

}  // namespace

double SweepDistance(const SweepTraits& a, const SweepTraits& b) {
  return kAnotherSweep + Apart(a.hidden, b.hidden) + Apart(a.layers, b.layers) +
         Apart(a.experts, b.experts) + ((a.experts > 1) == (b.experts > 1) ? 0.0 : kWord) +
         Apart(a.seq_len, b.seq_len) + Apart(a.global_batch, b.global_batch) +
         Apart(a.devices, b.devices) + Apart(a.device, b.device, kDevice) +
         Apart(a.cluster, b.cluster, kWord) + Apart(a.framework, b.framework, kWord) +
         Apart(a.precision, b.precision, kWord) + Apart(a.options, b.options);
}

int64_t RelatedSweeps::results() const {
  int64_t count = 0;
  for (const RelatedSweep& sweep : sweeps) count += static_cast<int64_t>(sweep.results.size());
  return count;
}

RelatedSweeps NearestRelatedSweeps(const SweepTraits& own, std::vector<RelatedSweep> sweeps) {
  RelatedSweeps relatives{.own = own, .sweeps = {}};
  std::stable_sort(sweeps.begin(), sweeps.end(), [&](const auto& a, const auto& b) {
    return SweepDistance(own, a.traits) < SweepDistance(own, b.traits);
  });
  size_t left = kMostRelatedResults;
  for (RelatedSweep& sweep : sweeps) {
    std::stable_sort(sweep.results.begin(), sweep.results.end(),
                     [](const auto& a, const auto& b) { return a.step_s < b.step_s; });
    const size_t count = std::min({sweep.results.size(), kMostResultsOfARelative, left});
    if (count == 0) continue;
    sweep.results.resize(count);
    left -= count;
    relatives.sweeps.push_back(std::move(sweep));
  }
  return relatives;
}

std::string Describe(const RelatedSweeps& relatives) {
  if (relatives.sweeps.empty()) return "";
  const auto count = [](size_t number, const char* thing) {
    return absl::StrCat(number, " ", thing, number == 1 ? "" : "s");
  };
  const bool one = relatives.sweeps.size() == 1;
  return absl::StrCat(count(static_cast<size_t>(relatives.results()), "result"), " of ",
                      count(relatives.sweeps.size(), "related sweep"),
                      one ? ", " : ", the nearest of which is ", relatives.sweeps.front().name);
}

}  // namespace meshwright::planner
