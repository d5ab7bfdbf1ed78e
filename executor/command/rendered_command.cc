#include "executor/command/rendered_command.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "executor/command/placeholders.h"
#include "planner/interchange/export.h"
#include "planner/layout/keys.h"

namespace meshwright::command {
namespace {

// By which CUDA's and HIP's programs are told of their devices.
constexpr char kDeviceVariable[] = "CUDA_VISIBLE_DEVICES";

absl::StatusOr<WholeWords> FieldWords(const Runner& runner, const trial::TrialPlan& plan) {
  WholeWords words;
  for (const auto& [name, value] : plan.runner->fields) {
    const auto rule = runner.fields.find(name);
    const std::string path = absl::StrCat("runner.fields.", name);
    if (rule == runner.fields.end()) {
      return FieldError(path, value.substr(0, 80),
                        absl::StrCat("is no field of the runner ", runner.name));
    }
    ASSIGN_OR_RETURN(std::string checked, FieldValue(path, rule->second, value));
    words[name] = {std::move(checked)};
  }
  for (const auto& [name, rule] : runner.fields) {
    if (words.contains(name)) continue;
    return FieldError(absl::StrCat("runner.fields.", name), "",
                      absl::StrCat("must be ", AcceptedBy(rule)));
  }
  return words;
}

InnerWords InnerWordsOf(const Runner& runner, const trial::TrialPlan& plan,
                        const CommandPlace& place) {
  InnerWords words = {{"ranks", absl::StrCat(place.ranks)},
                      {"world_size", absl::StrCat(plan.layout.devices())},
                      {"nodes", absl::StrCat(place.nodes)},
                      {"node", absl::StrCat(place.node)},
                      {"address", place.address},
                      {"port", absl::StrCat(place.port)},
                      {"folder", place.folder},
                      {"runner_folder", runner.folder},
                      {"steps", absl::StrCat(StepsOfCommand(runner, plan))},
                      {"seed", absl::StrCat(plan.seed)},
                      {"seq_len", absl::StrCat(plan.training.seq_len)},
                      {"global_batch", absl::StrCat(plan.training.global_batch)}};
  words.emplace(kRankPlaceholder, absl::StrCat(plan.layout.devices() - 1));
  for (const planner::LayoutKey& key : planner::kLayoutKeys) {
    words[std::string(key.name)] = planner::ConditionText(key, plan.layout);
  }
  return words;
}

std::string DevicesFrom(int32_t first, int64_t count) {
  std::vector<int64_t> devices;
  for (int64_t i = 0; i < count; ++i) devices.push_back(first + i);
  return absl::StrJoin(devices, ",");
}

// Variables of the export come first, then those that the runner passes, sets, and the devices.
std::vector<std::string> EnvironmentOf(const Runner& runner, const trial::TrialPlan& plan,
                                       const CommandPlace& place, const CommandHost& host,
                                       const std::vector<planner::EnvironmentVariable>& exported,
                                       const InnerWords& inner) {
  std::map<std::string, std::string> variables;
  for (const std::string& name : runner.pass) {
    if (const std::optional<std::string> value = host.environment(name)) variables[name] = *value;
  }
  for (const planner::EnvironmentVariable& variable : exported) {
    variables.erase(variable.name);
    if (variable.value) variables[variable.name] = *variable.value;
  }
  for (const auto& [name, value] : runner.environment) {
    variables[name] = Substitute({value}, {}, inner).front();
  }
  if (plan.device == planner::DeviceKind::kCuda) {
    variables[kDeviceVariable] = DevicesFrom(place.first_device, place.ranks);
  }
  std::vector<std::string> lines;
  for (const auto& [name, value] : variables) lines.push_back(absl::StrCat(name, "=", value));
  return lines;
}

absl::StatusOr<planner::ExportedJob> ExportFor(const Runner& runner, const trial::TrialPlan& plan,
                                               const CommandPlace& place) {
  ASSIGN_OR_RETURN(const planner::ExportTarget target,
                   planner::ParseExportTarget(runner.export_to));
  planner::ExportJob job{.model = plan.model, .training = plan.training, .layout = plan.layout};
  // Of a rank that runs alone, all others are on its node.
  job.devices_per_node = static_cast<int32_t>(plan.layout.devices() / place.nodes);
  return planner::MakeExportedJob(target, job);
}

}  // namespace

int64_t StepsOfCommand(const Runner& runner, const trial::TrialPlan& plan) {
  return int64_t{plan.steps} + runner.warm_up_steps - 1;
}

absl::StatusOr<RenderedCommand> Render(const Runner& runner, const trial::TrialPlan& plan,
                                       const CommandPlace& place, const CommandHost& host) {
  RETURN_IF_ERROR(CheckLayout(runner, plan.layout));
  ASSIGN_OR_RETURN(WholeWords whole, FieldWords(runner, plan));
  const InnerWords inner = InnerWordsOf(runner, plan, place);
  RenderedCommand command;
  std::vector<planner::EnvironmentVariable> exported;
  if (!runner.export_to.empty()) {
    ASSIGN_OR_RETURN(planner::ExportedJob job, ExportFor(runner, plan, place));
    whole["args"] = job.Arguments();
    command.files = std::move(job.files);
    exported = std::move(job.environment);
  }
  command.files.push_back({kTrialFile, ToJson(plan).dump(2)});
  command.argv = Substitute(runner.argv, whole, inner);
  command.environment = EnvironmentOf(runner, plan, place, host, exported, inner);
  return command;
}

}  // namespace meshwright::command
