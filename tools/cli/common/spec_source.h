// ReadSpecSource() reads the spec that a flag names: a preset, a file or standard input. Models
// have more forms (tools/cli/common/model_source.h).
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "planner/catalog/plan_query.h"
#include "tools/cli/io/command_files.h"

namespace meshwright::cli {

// The value of a flag that stands for standard input.
inline constexpr std::string_view kStandardInput = "-";

// Returns the spec that `value` names. `flag` is `cluster`, `framework`, or `base`, which also
// names a cluster. `value` may be a preset's name, in upper or lower case, or "-" for standard
// input. Otherwise `value` is a file if a file exists at this path, if it ends in .json or if it
// has a slash. Any other text is returned as a name; resolving the name fails later. A cluster may
// also be given in words (planner/catalog/cluster_words.h). A spec from a file has the name that
// the file states, or the file's own name if the stated one belongs to a preset.
//
// Returns InvalidArgument, which names `flag` and the path, if the file can't be read or does not
// describe such a spec.
absl::StatusOr<planner::SpecSource> ReadSpecSource(CommandFiles& files, std::string_view flag,
                                                   const std::string& value);

// Returns the text of a spec's file, or of standard input, for the flag that names it.
absl::StatusOr<std::string> ReadSpecText(CommandFiles& files, std::string_view flag,
                                         const std::string& path);

// Returns InvalidArgument, which names `flag`, if the text, read from `path`, is a spec of another
// kind than the flag takes.
absl::Status CheckKind(std::string_view flag, const std::string& path, std::string_view text);
// Returns InvalidArgument, which names `flag`, if `value` is the name of a preset of another kind
// than the flag takes.
absl::Status CheckKindOfPreset(std::string_view flag, const std::string& value);

}  // namespace meshwright::cli
