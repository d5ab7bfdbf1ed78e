// Finds a model of the Hugging Face Hub in the cache that the Hub's programs keep on this machine.
//
// The cache has a folder models--ORG--NAME for each model. In it, refs/main names the newest commit
// that was fetched, and snapshots/COMMIT has links to the files. Nothing here uses a network.
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

// Returns the model that a Hub id, ORG/NAME, or a URL of huggingface.co means. Returns nullopt if
// the text has neither form. Returns InvalidArgument about `flag` for other URLs.
absl::StatusOr<std::optional<HubModel>> ParseHubModel(std::string_view flag, std::string_view text);

// Returns the model whose folder in the cache has this name, or nullopt if it is no such name.
std::optional<HubModel> HubModelOfFolder(std::string_view folder_name);

// Returns the folder of the cache: HF_HUB_CACHE, else HF_HOME/hub, else huggingface/hub below
// XDG_CACHE_HOME or ~/.cache. Returns an empty text if the environment sets none of these nor HOME.
std::string HubCacheFolder(const command_line::Environment& environment);

// Returns the folder of `model` in a cache, existing or not.
std::string FolderInCache(const std::string& cache, const HubModel& model);

// Returns the command that fetches the model's config.json into the cache.
std::string FetchCommand(const HubModel& model);

// Returns the snapshot of the model's revision in its folder models--ORG--NAME. Without refs/main
// that is the only snapshot. Returns InvalidArgument about `flag` and `folder`, with the command
// that fetches the file, if there is none or if there are several.
absl::StatusOr<std::string> SnapshotIn(std::string_view flag, const std::string& folder,
                                       const HubModel& model);

}  // namespace meshwright::cli
