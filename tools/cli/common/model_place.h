// FindModelPlace() finds the file that describes a model. Users may name a file, a folder of a
// training run or a download, or a model of the Hugging Face Hub.
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
  std::string name;  // the model's name in answers
  // The adapter_config.json beside a config.json, if there is one.
  std::string adapter_path = {};
  std::vector<std::string> notes = {};  // says which file was chosen if there are several
};

// Returns the place of the model that `value` names. An existing file or folder takes precedence
// over a Hub id. `value` is one of:
// - a file;
// - a folder with config.json, params.json or adapter_config.json, such as a snapshot;
// - a folder with checkpoint-N folders: the one with the highest N that has such a file;
// - a folder models--ORG--NAME of the Hub's cache: its snapshot of main;
// - a Hub id ORG/NAME, or a URL of the Hub: the snapshot in the cache.
//
// Returns nullopt if `value` has none of these forms. Returns InvalidArgument, which names `flag`,
// if the place has no file that describes a model; if a command can fetch the file, the message has
// the command.
absl::StatusOr<std::optional<ModelPlace>> FindModelPlace(
    std::string_view flag, const std::string& value, const command_line::Environment& environment);

}  // namespace meshwright::cli
