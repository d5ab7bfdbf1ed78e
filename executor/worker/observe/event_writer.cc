#include "executor/worker/observe/event_writer.h"

#include <unistd.h>

#include <cerrno>
#include <string>

namespace meshwright::worker {

void EventWriter::Write(nlohmann::json event) const {
  if (descriptor_ < 0) return;
  event["rank"] = rank_;
  // Error messages may contain invalid UTF-8.
  const std::string line =
      event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  size_t written = 0;
  while (written < line.size()) {
    const ssize_t n = ::write(descriptor_, line.data() + written, line.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    written += static_cast<size_t>(n);
  }
}

}  // namespace meshwright::worker
