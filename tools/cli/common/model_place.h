// Finds the file that describes a model, from what people hand in: a file, a folder that a training
// run or a download left, or a model of the Hugging Face Hub.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/command_line/defaults.h"

namespace meshwright::cli {

struct ModelPlace {
  std::string path;  // of a config.json, a params.json or an adapter_config.json
  std::string name;  // what answers call the model
  // The adapter_config.json beside a config.json, if there is one.
  std::string adapter_path = {};
  std::vector<std::string> notes = {};  // which of several files it is
};

// Returns where the model is described that `value` names:
// - a file;
// - a folder with config.json, params.json or adapter_config.json, such as a snapshot;
// - a folder with checkpoint-N folders: the one with the highest N that has such a file;
// - a folder models--ORG--NAME of the Hub's cache: its snapshot of main;
// - a Hub id ORG/NAME, or a URL of the Hub: the snapshot in the cache.
// What exists as a file or folder is that; anything else with a slash is a Hub id if it can be one.
//
// Returns nullopt if `value` is none of these. Returns InvalidArgument about `flag` if the place
// has no such file; if it is fetched with a command, the message has the command.
absl::StatusOr<std::optional<ModelPlace>> FindModelPlace(
    std::string_view flag, const std::string& value, const command_line::Environment& environment);

}  // namespace meshwright::cli
