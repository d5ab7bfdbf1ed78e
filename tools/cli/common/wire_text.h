// Formats the times and names of messages as every command shows them.
#pragma once

#include <string>

#include "google/protobuf/timestamp.pb.h"

namespace meshwright::cli {

// Returns the time in its JSON form.
std::string TimeText(const google::protobuf::Timestamp& time);

// Returns "NAME" of "sweeps/NAME".
std::string ShortName(const std::string& name);

}  // namespace meshwright::cli
