// TimeText() and ShortName() format the times and names of messages in the same way for all
// commands.
#pragma once

#include <string>

#include "google/protobuf/timestamp.pb.h"

namespace meshwright::cli {

// Returns the time in RFC 3339, in UTC with milliseconds.
std::string TimeText(const google::protobuf::Timestamp& time);

// Returns a resource name without its first part: "NAME" for "sweeps/NAME".
std::string ShortName(const std::string& name);

}  // namespace meshwright::cli
