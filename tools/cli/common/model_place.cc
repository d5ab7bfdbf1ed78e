#include "tools/cli/common/model_place.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "planner/catalog/model_names.h"
#include "tools/cli/common/hub_cache.h"

namespace meshwright::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAdapterFile = "adapter_config.json";
// The files that describe a model, the one that says most first.
constexpr std::array<const char*, 3> kModelFiles = {"config.json", "params.json", kAdapterFile};
constexpr std::string_view kCheckpointPrefix = "checkpoint-";

bool Exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool IsFolder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// The last part of a folder's path, whatever "." and slashes are at its end.
std::string FolderName(const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::absolute(folder, error).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

// Returns the model whose snapshot the folder is, or nullopt if it is none.
std::optional<HubModel> ModelOfSnapshot(const fs::path& folder) {
  std::error_code error;
  fs::path whole = fs::absolute(folder, error).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  if (whole.parent_path().filename() != "snapshots") return std::nullopt;
  return HubModelOfFolder(whole.parent_path().parent_path().filename().string());
}

// Returns the name of the model in a folder.
std::string NameOfFolder(const fs::path& folder) {
  const std::optional<HubModel> hub = ModelOfSnapshot(folder);
  return hub ? hub->name() : FolderName(folder);
}

// Links of the cache may point to a file that was removed.
absl::StatusOr<std::optional<fs::path>> ModelFileIn(std::string_view flag, const fs::path& folder) {
  for (const char* name : kModelFiles) {
    const fs::path file = folder / name;
    if (Exists(file)) return file;
    std::error_code error;
    if (!fs::is_symlink(fs::symlink_status(file, error))) continue;
    std::string problem = absl::StrCat("is a link to ", fs::read_symlink(file, error).string(),
                                       ", which does not exist");
    if (const auto hub = ModelOfSnapshot(folder)) {
      absl::StrAppend(&problem, "; fetch it with: ", FetchCommand(*hub));
    }
    return FieldError(flag, file.string(), EscapeControls(problem));
  }
  return std::nullopt;
}

ModelPlace PlaceOf(const fs::path& file) {
  ModelPlace place{.path = file.string(), .name = NameOfFolder(file.parent_path())};
  const fs::path adapter = file.parent_path() / kAdapterFile;
  if (file.filename() != kAdapterFile && Exists(adapter)) place.adapter_path = adapter.string();
  return place;
}

struct Checkpoint {
  int64_t step = 0;
  fs::path folder;
};

// Returns the folders checkpoint-N in `folder`, the highest N first.
std::vector<Checkpoint> CheckpointsIn(const fs::path& folder) {
  std::vector<Checkpoint> checkpoints;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(kCheckpointPrefix) || !IsFolder(entry->path())) continue;
    Checkpoint checkpoint{.folder = entry->path()};
    const char* const begin = name.data() + kCheckpointPrefix.size();
    const char* const last = name.data() + name.size();
    const auto [stop, problem] = std::from_chars(begin, last, checkpoint.step);
    if (problem == std::errc() && stop == last) checkpoints.push_back(std::move(checkpoint));
  }
  std::sort(checkpoints.begin(), checkpoints.end(),
            [](const auto& a, const auto& b) { return a.step > b.step; });
  return checkpoints;
}

absl::StatusOr<ModelPlace> InCheckpoints(std::string_view flag, const std::string& value,
                                         const std::vector<Checkpoint>& checkpoints) {
  for (const Checkpoint& checkpoint : checkpoints) {
    ASSIGN_OR_RETURN(const std::optional<fs::path> file, ModelFileIn(flag, checkpoint.folder));
    if (!file) continue;
    ModelPlace place = PlaceOf(*file);
    place.name = NameOfFolder(value);
    if (checkpoints.size() > 1) {
      place.notes.push_back(absl::StrCat("of ", checkpoints.size(), " checkpoints, the model is ",
                                         "that of checkpoint-", checkpoint.step));
    }
    return place;
  }
  return FieldError(flag, value,
                    absl::StrCat("none of its ", checkpoints.size(),
                                 " checkpoints has a config.json, params.json or "
                                 "adapter_config.json; must be the folder of one of these"));
}

absl::StatusOr<ModelPlace> InHubFolder(std::string_view flag, const std::string& folder,
                                       const HubModel& model) {
  ASSIGN_OR_RETURN(const std::string snapshot, SnapshotIn(flag, folder, model));
  ASSIGN_OR_RETURN(const std::optional<fs::path> file, ModelFileIn(flag, snapshot));
  if (!file) {
    return FieldError(flag, snapshot,
                      absl::StrCat("has no config.json; fetch it with: ", FetchCommand(model)));
  }
  ModelPlace place = PlaceOf(*file);
  place.name = model.name();
  return place;
}

absl::StatusOr<ModelPlace> InFolder(std::string_view flag, const std::string& value) {
  ASSIGN_OR_RETURN(const std::optional<fs::path> file, ModelFileIn(flag, value));
  if (file) return PlaceOf(*file);
  const std::vector<Checkpoint> checkpoints = CheckpointsIn(value);
  if (!checkpoints.empty()) return InCheckpoints(flag, value, checkpoints);
  const auto hub = HubModelOfFolder(FolderName(value));
  if (hub) return InHubFolder(flag, value, *hub);
  return FieldError(flag, value,
                    "has no config.json; must be the folder of a config.json, a params.json or an "
                    "adapter_config.json, or of checkpoint-N folders with one of these");
}

absl::Status NotFetched(std::string_view flag, const std::string& value, const std::string& cache,
                        const HubModel& model) {
  const bool is_url = value.find("//") != std::string::npos;
  std::string problem =
      absl::StrCat(is_url ? "is" : "is no file here, and is", " not in the Hub's cache ",
                   cache.empty() ? "(neither HF_HUB_CACHE nor HOME is set)" : cache, "; ");
  if (const auto named = planner::ModelNamed(model.name())) {
    absl::StrAppend(&problem, "take the preset of this shape, --model ", named->name, ", or ");
  }
  absl::StrAppend(&problem, "fetch the file with: ", FetchCommand(model));
  return FieldError(flag, EscapeControls(value), EscapeControls(problem));
}

}  // namespace

absl::StatusOr<std::optional<ModelPlace>> FindModelPlace(
    std::string_view flag, const std::string& value, const command_line::Environment& environment) {
  if (IsFolder(value)) return InFolder(flag, value);
  const fs::path file = value;
  if (Exists(file)) {
    ModelPlace place = PlaceOf(file);
    const std::string stem = file.stem().string();
    const bool tells_nothing =
        std::find(kModelFiles.begin(), kModelFiles.end(), file.filename()) != kModelFiles.end();
    if (!tells_nothing) place = {.path = value, .name = stem};
    return place;
  }
  ASSIGN_OR_RETURN(const std::optional<HubModel> named, ParseHubModel(flag, value));
  const std::string cache = HubCacheFolder(environment);
  // Old models of the Hub have no organisation, so their names count only where they are cached.
  const HubModel model = named.value_or(HubModel{value, ""});
  const std::string folder = FolderInCache(cache, model);
  const bool may_be_cached = named || HubModelOfFolder(FolderName(folder)).has_value();
  if (!cache.empty() && may_be_cached && IsFolder(folder)) return InHubFolder(flag, folder, model);
  if (named) return NotFetched(flag, value, cache, model);
  const bool is_path = value.find('/') != std::string::npos || value.ends_with(".json");
  if (is_path) return ModelPlace{.path = value, .name = file.stem().string()};
  return std::nullopt;
}

}  // namespace meshwright::cli
