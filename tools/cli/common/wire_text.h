// Times and names of the wire as every command shows them.
#pragma once

#include <string>

#include "google/protobuf/timestamp.pb.h"

namespace meshwright::cli {

// As the JSON forms have times.
std::string TimeText(const google::protobuf::Timestamp& time);

// "NAME" of "sweeps/NAME".
std::string ShortName(const std::string& name);

}  // namespace meshwright::cli
