// What the members of a gang say to each other, and how it lies in a stream: four bytes of length,
// the highest first, and so many of JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/text/json_text.h"
#include "executor/trial/trial.h"

namespace meshwright::gang {

// From a follower, first of all: "join".
struct JoinFrame {
  int32_t member = 0;
  std::string version = {};  // of its workers
};

// To a follower that can't be one: "refuse".
struct RefuseFrame {
  std::string message = {};
};

// To a follower: "admit", it is one; "start" its workers; "end", end them.
struct AdmitFrame {};
struct StartFrame {};
struct EndFrame {};

// To a follower, and back at once: "ping", "pong".
struct PingFrame {
  double sent_s = 0.0;  // by the leader's clock
};
struct PongFrame {
  double sent_s = 0.0;   // the ping's
  double clock_s = 0.0;  // by the follower's clock
};

// From a follower: "event", a line that a rank's worker wrote.
struct EventFrame {
  int32_t rank = 0;
  std::string line = {};
};

// From a follower: "exit", the end of a rank's worker.
struct ExitFrame {
  int32_t rank = 0;
  int32_t wait_status = 0;  // as waitpid() has it
  std::string output_tail = {};
  std::optional<int32_t> left_pid = std::nullopt;  // it was left, since it can't be ended
};

// From a follower: "fail", none of its ranks runs, or will. Without a fault it was told to end.
struct FailFrame {
  std::string message = {};
  trial::Fault fault = trial::Fault::kInfrastructure;
};

// Nothing stands for a frame of a kind that is not known.
using Frame = std::variant<std::monostate, JoinFrame, RefuseFrame, AdmitFrame, StartFrame, EndFrame,
                           PingFrame, PongFrame, EventFrame, ExitFrame, FailFrame>;

// An event may be as long as JSON is read.
inline constexpr size_t kMostFrameBytes = kMaxJsonBytes;

// A line that would make too long a frame is cut, and then no event. Texts are made valid UTF-8.
std::string EncodeFrame(Frame frame);

// The frames of a stream.
class FrameReader {
 public:
  explicit FrameReader(size_t most_bytes = kMostFrameBytes) : most_bytes_(most_bytes) {}

  // Takes bytes in and gives the frames that are whole by now. InvalidArgument where one is too
  // long or can't be read: nothing of the stream is of use then.
  absl::StatusOr<std::vector<Frame>> TakeIn(std::string_view bytes);

 private:
  size_t most_bytes_;
  std::string held_;
};

}  // namespace meshwright::gang
