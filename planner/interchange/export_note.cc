#include "planner/interchange/export_note.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/text/message_text.h"
#include "base/text/string_view.h"
#include "planner/interchange/export.h"
#include "planner/interchange/framework.h"
#include "planner/spec/option_choice.h"

namespace meshwright::planner {
namespace {

// A layout that an export refuses, by its place in the answer from 0.
struct RefusedExport {
  size_t place = 0;
  std::string reason;
};

// Returns why a job is refused. Its number tells the layout, which the reason need not repeat.
std::string ReasonOf(const absl::Status& status, const Layout& layout) {
  absl::string_view text = status.message();
  if (absl::ConsumePrefix(&text, "layout = ")) {
    absl::ConsumePrefix(&text, absl::StrCat(FormatLayout(layout), ": "));
  }
  return std::string(text);
}

std::vector<RefusedExport> RefusedBy(const Framework& framework, ExportJob job,
                                     std::span<const RankedLayout> layouts) {
  std::vector<RefusedExport> refused;
  const absl::StatusOr<ExportTarget> target = ParseExportTarget(framework.name);
  const TrainingSpec own = job.training;
  for (size_t place = 0; place < layouts.size() && target.ok(); ++place) {
    job.layout = layouts[place].layout;
    job.training = own;
    for (const auto& [name, value] : layouts[place].options) {
      SetOption(name, name, value, job.training).IgnoreError();  // the search has read it
    }
    const absl::Status status = MakeExportedJob(*target, job).status();
    if (!status.ok()) refused.push_back({place, ReasonOf(status, job.layout)});
  }
  return refused;
}

std::string Sentence(std::string_view target, const std::vector<RefusedExport>& refused,
                     size_t tried) {
  const std::string& reason = refused.front().reason;
  std::vector<std::string> alike;
  std::vector<std::string> others;
  for (const RefusedExport& one : refused) {
    (one.reason == reason ? alike : others).push_back(std::to_string(one.place + 1));
  }
  std::string text = absl::StrCat("export --to ", AbslView(target), " refuses ");
  if (tried == 1) {
    text += "this layout";
  } else if (alike.size() == tried) {
    text += "these layouts";
  } else {
    absl::StrAppend(&text, alike.size() == 1 ? "layout " : "layouts ", ListInWords(alike, "and"));
  }
  absl::StrAppend(&text, ": ", reason);
  if (!others.empty()) {
    absl::StrAppend(&text, "; and ", ListInWords(others, "and"), " for other reasons");
  }
  return text;
}

}  // namespace

std::optional<std::string> NoteOnExports(std::string_view framework, const ModelSpec& model,
                                         const ClusterSpec& cluster, const TrainingSpec& training,
                                         const std::vector<RankedLayout>& layouts) {
  const std::span<const RankedLayout> tried(layouts.data(),
                                            std::min(layouts.size(), kMostTriedExports));
  if (tried.empty()) return std::nullopt;
  ExportJob job{.model = model,
                .training = training,
                .layout = {},
                .devices_per_node = std::min(cluster.devices_per_node, kMaxDevicesPerNode)};
  const Framework* best = nullptr;
  std::vector<RefusedExport> fewest;
  for (const Framework* named : FrameworksNamed(framework)) {
    std::vector<RefusedExport> refused = RefusedBy(*named, job, tried);
    if (best != nullptr && refused.size() >= fewest.size()) continue;
    best = named;
    fewest = std::move(refused);
    if (fewest.empty()) break;
  }
  if (fewest.empty()) return std::nullopt;
  return Sentence(best->name, fewest, tried.size());
}

}  // namespace meshwright::planner
