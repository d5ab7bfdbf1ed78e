// How long a text on the wire may be: one table for all messages, whoever sends them.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace meshwright::wire {

// What a server takes in one message. Above the sum of what its fields may hold, so that a field
// that is too long is refused by its name.
inline constexpr int kMaxMessageBytes = 32 << 20;

// Entries of one list or map: a trial has at most 100,000 steps.
inline constexpr int kMaxListEntries = 100'000;

// InvalidArgument for the first text or list of `message`, however deep inside, that is longer than
// its limit: names the field by its path, such as "plan.model.config_json", with its length and
// what would be accepted.
absl::Status CheckLimits(const google::protobuf::Message& message);

}  // namespace meshwright::wire
