// JSON text from outside (a user's file, the wire, a database, a worker) becomes a value here and
// nowhere else.
//
// A value that was read is at most kMaxJsonDepth containers deep, so that whoever walks, copies or
// prints it may recurse.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace meshwright {

// The files that are read here are 6 deep.
inline constexpr int kMaxJsonDepth = 64;

// Of the text of a model, a cluster or a framework, in a file or in a request. The largest
// config.json of the models that are known takes 4 KiB.
inline constexpr size_t kMaxSpecBytes = size_t{1} << 20;

// Of any other text: a worker's trace of a long step takes some MiB.
inline constexpr size_t kMaxJsonBytes = size_t{64} << 20;

// InvalidArgument about `what` when `text` is larger than `max_bytes`, nested deeper than
// kMaxJsonDepth, or not JSON; it says where.
absl::StatusOr<nlohmann::json> ParseJson(std::string_view what, std::string_view text,
                                         size_t max_bytes = kMaxJsonBytes);
// The same with the keys in the order of the text.
absl::StatusOr<nlohmann::ordered_json> ParseOrderedJson(std::string_view what,
                                                        std::string_view text,
                                                        size_t max_bytes = kMaxJsonBytes);

// `value` as a message shows it: a container by its type, such as "an object", anything else as it
// stands, shortened.
std::string ShowJson(const nlohmann::json& value);

}  // namespace meshwright
