// Parses JSON text from outside (a user's file, the wire, a database, a worker). No other code
// does.
//
// A parsed value is at most kMaxJsonDepth containers deep, so that walking, copying or printing it
// may recurse.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace meshwright {

// The files that are read here are 6 deep.
inline constexpr int kMaxJsonDepth = 64;

// For the text of a model, a cluster or a framework, in a file or in a request. The largest known
// config.json of a model takes 4 KiB.
inline constexpr size_t kMaxSpecBytes = size_t{1} << 20;

// For any other text: a worker's trace of a long step takes some MiB.
inline constexpr size_t kMaxJsonBytes = size_t{64} << 20;

// InvalidArgument about `what`, with the position, when `text` is larger than `max_bytes`, nested
// deeper than kMaxJsonDepth, or not JSON.
absl::StatusOr<nlohmann::json> ParseJson(std::string_view what, std::string_view text,
                                         size_t max_bytes = kMaxJsonBytes);
// Returns the same with the keys in the order of the text.
absl::StatusOr<nlohmann::ordered_json> ParseOrderedJson(std::string_view what,
                                                        std::string_view text,
                                                        size_t max_bytes = kMaxJsonBytes);

// Returns `value` for a message: a container by its type, such as "an object", anything else as it
// is, shortened.
std::string ShowJson(const nlohmann::json& value);

}  // namespace meshwright
