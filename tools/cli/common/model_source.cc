#include "tools/cli/common/model_source.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "planner/catalog/adapter_config.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/model_names.h"
#include "planner/catalog/params_config.h"
#include "planner/catalog/spec_kind.h"
#include "tools/cli/common/hub_cache.h"
#include "tools/cli/common/model_place.h"
#include "tools/cli/common/spec_source.h"
#include "tools/cli/io/input_error.h"

namespace meshwright::cli {
namespace {

constexpr std::string_view kModelFlag = "model";
// Adapters on adapters; more of them is a circle.
constexpr int kMostAdapters = 4;

absl::StatusOr<planner::SpecSource> ReadModel(CommandContext& context, const std::string& value,
                                              int64_t seq_len, int adapters);

// A base that is no folder here may stand beside the adapter.
std::string BaseOf(const planner::AdapterConfig& adapter, const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path beside = fs::path(path).parent_path() / adapter.base;
  std::error_code error;
  // A path that leaves the adapter's folder is relative to that folder, wherever the command runs.
  const bool from_there = adapter.base.starts_with("./") || adapter.base.starts_with("../");
  const bool is_beside =
      (from_there || !fs::exists(adapter.base, error)) && fs::exists(beside, error);
  return is_beside ? beside.string() : adapter.base;
}

// A problem with the base model is reported about the adapter's key.
absl::Status OfBase(const absl::Status& problem) {
  absl::string_view message = problem.message();
  const bool names_value = absl::ConsumePrefix(&message, "model = ");
  return WithField(absl::InvalidArgumentError(absl::StrCat("base_model_name_or_path",
                                                           names_value ? " = " : ": ", message)),
                   kModelFlag);
}

// Returns the preset of the base's shape if the base is a model of the Hub that is not here, and
// otherwise nullopt.
std::optional<planner::SpecSource> PresetOfBase(const CommandContext& context,
                                                const std::string& base) {
  const auto hub = ParseHubModel(kModelFlag, base);
  if (!hub.ok() || !hub->has_value()) return std::nullopt;
  if (FindModelPlace(kModelFlag, base, context.environment).ok()) return std::nullopt;
  const auto named = planner::ModelNamed((*hub)->name());
  if (!named) return std::nullopt;
  return planner::SpecSource{named->name,
                             "",
                             {absl::StrCat("the file of ", (*hub)->id,
                                           " is not in the Hub's cache; its "
                                           "sizes are those of the preset ",
                                           named->name)}};
}

absl::StatusOr<planner::SpecSource> ReadBase(CommandContext& context, const std::string& path,
                                             const std::string& text, int64_t seq_len,
                                             int adapters) {
  const auto adapter = planner::ReadAdapterConfig(text);
  if (!adapter.ok()) return InFile(kModelFlag, path, adapter.status());
  if (adapters >= kMostAdapters) {
    return FieldError(
        kModelFlag, path,
        "is an adapter whose base model is an adapter, and so on without end; must name its "
        "model");
  }
  const std::string base_model = BaseOf(*adapter, path);
  const auto preset = PresetOfBase(context, base_model);
  auto base = preset ? absl::StatusOr<planner::SpecSource>(*preset)
                     : ReadModel(context, base_model, seq_len, adapters + 1);
  if (base.ok() && base->json.empty()) {
    // A name that no preset has is refused here, where the file is known.
    const absl::Status known = planner::ModelText(base->name).status();
    if (!known.ok()) base = known;
  }
  if (!base.ok() && adapters > 0) return base.status();  // said once, of the first adapter
  if (!base.ok()) return InFile(kModelFlag, path, OfBase(base.status()));
  base->notes.insert(base->notes.begin(), planner::NoteOn(*adapter));
  base->train = planner::TrainTextOf(*adapter);
  return base;
}

absl::StatusOr<planner::SpecSource> ReadText(CommandContext& context, const ModelPlace& place,
                                             int64_t seq_len, int adapters) {
  ASSIGN_OR_RETURN(std::string text, ReadSpecText(context.files, kModelFlag, place.path));
  RETURN_IF_ERROR(CheckKind(kModelFlag, place.path, text));
  if (planner::IsAdapter(text)) return ReadBase(context, place.path, text, seq_len, adapters);
  planner::SpecSource source{EscapeControls(place.name), "", place.notes};
  if (planner::IsParams(text)) {
    auto params = planner::ConfigOfParams(text);
    if (!params.ok()) return InFile(kModelFlag, place.path, params.status());
    text = std::move(params->config_json);
    source.notes.insert(source.notes.end(), params->notes.begin(), params->notes.end());
  }
  RETURN_IF_ERROR(
      InFile(kModelFlag, place.path, planner::ModelFromConfig("", text, seq_len).status()));
  source.json = std::move(text);
  if (!place.adapter_path.empty()) {
    ASSIGN_OR_RETURN(const std::string beside,
                     ReadSpecText(context.files, kModelFlag, place.adapter_path));
    const auto adapter = planner::ReadAdapterConfig(beside);
    if (!adapter.ok()) return InFile(kModelFlag, place.adapter_path, adapter.status());
    source.notes.push_back(planner::NoteOn(*adapter));
    source.train = planner::TrainTextOf(*adapter);
  }
  return source;
}

absl::StatusOr<planner::SpecSource> ReadModel(CommandContext& context, const std::string& value,
                                              int64_t seq_len, int adapters) {
  if (const std::string preset = planner::PresetNamed(kModelFlag, value); !preset.empty()) {
    return planner::SpecSource{preset, ""};
  }
  if (value == kStandardInput) {
    return ReadText(context, {.path = value, .name = context.files.InputName(kModelFlag)}, seq_len,
                    adapters);
  }
  const auto named = planner::ModelNamed(value);
  ASSIGN_OR_RETURN(const std::optional<ModelPlace> place,
                   FindModelPlace(kModelFlag, value, context.environment));
  if (place) return ReadText(context, *place, seq_len, adapters);
  if (named) return planner::SpecSource{named->name, ""};
  RETURN_IF_ERROR(CheckKindOfPreset(kModelFlag, value));
  return planner::SpecSource{value, ""};
}

}  // namespace

absl::StatusOr<planner::SpecSource> ReadModelSource(CommandContext& context,
                                                    const std::string& value, int64_t seq_len) {
  if (value.empty()) return FieldError(kModelFlag, value, "must name a file, a folder or a preset");
  return ReadModel(context, value, seq_len, 0);
}

}  // namespace meshwright::cli
