// CheckLimits() limits the size of wire messages and their fields, with one table for all messages
// and senders.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace meshwright::wire {

// Largest message that a server accepts. It exceeds the sum of the field limits, so that the error
// for a field that is too long can name the field.
inline constexpr int kMaxMessageBytes = 32 << 20;

// Most entries of one list or map. The longest lists have an entry per step, and a trial has at
// most 100,000 steps.
inline constexpr int kMaxListEntries = 100'000;

// Largest message of every method except Agents/Connect, which also carries workers' results.
inline constexpr int kMaxRequestBytes = 8 << 20;

// Returns InvalidArgument if a string or list in `message`, at any depth, exceeds its limit, or if
// a name (any text but free text) has control characters, which a terminal would obey. The error
// has the path of the first such field, such as "plan.model.config_json", the field's length and
// the limit. Also returns InvalidArgument if the whole message is too large, which unknown fields
// of another version can cause.
absl::Status CheckLimits(const google::protobuf::Message& message);

}  // namespace meshwright::wire
