// SnapshotIn() finds a model of the Hugging Face Hub in the cache that the Hub's programs keep on
// this machine.
//
// The cache has a folder models--ORG--NAME for each model. In this folder, refs/main names the
// newest commit that was fetched, and snapshots/COMMIT has links to the files. No function here
// uses a network.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/command_line/defaults.h"

namespace meshwright::cli {

struct HubModel {
  std::string id;        // "Qwen/Qwen3-8B"; old models have no organisation: "gpt2"
  std::string revision;  // a branch, a tag or a commit; if empty, main

  // Returns the id without the organisation.
  std::string name() const { return id.substr(id.find('/') + 1); }
};

// Parses a Hub id (ORG/NAME) or the URL of a model on huggingface.co. Returns nullopt if the text
// is neither an id nor a URL. Returns InvalidArgument, which names `flag`, for any other URL.
absl::StatusOr<std::optional<HubModel>> ParseHubModel(std::string_view flag, std::string_view text);

// Returns the model to which a cache folder of this name belongs, or nullopt if no model's folder
// has such a name.
std::optional<HubModel> HubModelOfFolder(std::string_view folder_name);

// Returns the folder of the cache: HF_HUB_CACHE, else HF_HOME/hub, else huggingface/hub below
// XDG_CACHE_HOME or ~/.cache. Returns an empty text if the environment sets none of these variables
// and no HOME.
std::string HubCacheFolder(const command_line::Environment& environment);

// Returns the path of the folder of `model` in a cache. The folder need not exist.
std::string FolderInCache(const std::string& cache, const HubModel& model);

// Returns the command that fetches the model's config.json into the cache.
std::string FetchCommand(const HubModel& model);

// Returns the path of the snapshot of the model's revision in the model's folder `folder`. If the
// model names no revision and refs/main is missing, returns the only snapshot. If there is no such
// snapshot, returns InvalidArgument, which names `flag`, `folder` and the command that fetches the
// file.
absl::StatusOr<std::string> SnapshotIn(std::string_view flag, const std::string& folder,
                                       const HubModel& model);

}  // namespace meshwright::cli
