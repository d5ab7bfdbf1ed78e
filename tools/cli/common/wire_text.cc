#include "tools/cli/common/wire_text.h"

#include "absl/time/time.h"
#include "executor/wire/wire.h"

namespace meshwright::cli {

std::string TimeText(const google::protobuf::Timestamp& time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", wire::FromWire(time), absl::UTCTimeZone());
}

std::string ShortName(const std::string& name) { return name.substr(name.find('/') + 1); }

}  // namespace meshwright::cli
