// ParseJson() parses JSON text from outside: a user's file, the wire, a database or a worker. No
// other code parses such text.
//
// A parsed value is at most kMaxJsonDepth containers deep, so that code may recurse over it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace meshwright {

// Largest nesting depth of containers. The files that this project reads are at most 6 deep.
inline constexpr int kMaxJsonDepth = 64;

// The limit for the text of a model, a cluster or a framework, in a file or in a request. A
// config.json usually takes a few KiB; one that lists quantised layers takes up to 3 MB.
inline constexpr size_t kMaxSpecBytes = size_t{4} << 20;

// The limit for any other text. A worker's trace of a long step takes some MiB.
inline constexpr size_t kMaxJsonBytes = size_t{64} << 20;

// Parses `text`. Returns InvalidArgument naming `what`, with the position of the error if it is
// known, if `text` is larger than `max_bytes`, nested deeper than kMaxJsonDepth, or not JSON.
absl::StatusOr<nlohmann::json> ParseJson(std::string_view what, std::string_view text,
                                         size_t max_bytes = kMaxJsonBytes);
// Does what ParseJson() does, and keeps the keys in the order of the text.
absl::StatusOr<nlohmann::ordered_json> ParseOrderedJson(std::string_view what,
                                                        std::string_view text,
                                                        size_t max_bytes = kMaxJsonBytes);

// Returns a text for `value` in a message: a container's type, such as "an object", and the
// shortened JSON text of any other value.
std::string ShowJson(const nlohmann::json& value);

}  // namespace meshwright
