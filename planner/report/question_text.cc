#include "planner/report/question_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/amounts.h"
#include "base/text/string_view.h"
#include "planner/spec/run_option_table.h"

namespace meshwright::planner {
namespace {

std::string OptionsText(const RunOptions& options) {
  std::string text;
  for (const RunOption& option : kRunOptions) {
    if (HasDefault(option, options)) continue;
    text += ", " + std::string(option.name) + " " + option.text(options);
  }
  return text;
}

}  // namespace

std::string BatchText(const PlanQuery& query) {
  return absl::StrCat("global batch ", Grouped(query.training.global_batch));
}

std::string BatchText(const ScaleQuery& query) {
  return absl::StrCat(BatchText(query.plan), query.weak ? " (a batch that grows with the devices)"
                                                        : " (the same batch for all)");
}

std::string DevicesText(const DeviceRange& devices) {
  return devices.is_one() ? Grouped(devices.low)
                          : absl::StrCat(Grouped(devices.low), " to ", Grouped(devices.high));
}

std::string TrainingText(const PlanQuery& query, std::string_view batch) {
  const TrainingSpec& training = query.training;
  return absl::StrCat(", sequence ", Grouped(training.seq_len), ", ", AbslView(batch), ", ",
                      AbslView(PrecisionName(training.precision)), OptionsText(training.options),
                      ", framework ", query.framework.name);
}

std::string QuestionText(const PlanQuery& query, std::string_view devices, std::string_view batch) {
  return absl::StrCat(query.model.name, " on ", AbslView(devices), " x ", query.cluster.name,
                      TrainingText(query, batch));
}

std::string QuestionText(const PlanQuery& query) {
  return QuestionText(query, Grouped(query.devices), BatchText(query));
}

std::string QuestionText(const ScaleQuery& query) {
  return QuestionText(query.plan, DevicesText(query.devices), BatchText(query));
}

std::string QuestionText(const FastestQuery& query) {
  return QuestionText(
      query.plan, DevicesText(query.devices),
      absl::StrFormat("any batch, %.4g B tokens in small batches", query.critical.tokens / 1e9));
}

}  // namespace meshwright::planner
