// Frames are the messages between members of a gang. On the stream, each frame is a big-endian
// length of four bytes, followed by that many bytes of JSON.
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

// "join": the first frame of a follower.
struct JoinFrame {
  int32_t member = 0;
  std::string version = {};  // of the follower's workers
};

// "refuse": the leader rejects a follower.
struct RefuseFrame {
  std::string message = {};
};

// "admit": the leader accepts a follower.
struct AdmitFrame {};
// "start": the leader tells a follower to start its part.
struct StartFrame {
  int32_t store_port = 0;  // of rank 0's store, on the leader's host
};
// "end": the leader tells a follower to end its part.
struct EndFrame {};

// "ping": a request of the leader, which the follower answers immediately.
struct PingFrame {
  double sent_s = 0.0;  // on the leader's clock
};
// "pong": a follower's answer to a ping.
struct PongFrame {
  double sent_s = 0.0;   // copied from the ping
  double clock_s = 0.0;  // time of the answer on the follower's clock
};

// "event": a follower forwards one line that a rank's worker wrote, or a piece of the output of the
// command that runs all of its ranks.
struct EventFrame {
  int32_t rank = 0;
  std::string line = {};
};

// "exit": a follower reports how a process ended, whose first rank is `rank`.
struct ExitFrame {
  int32_t rank = 0;
  int32_t wait_status = 0;  // as returned by waitpid()
  std::string output_tail = {};
  // Pid of a process that could not be ended and was left running.
  std::optional<int32_t> left_pid = std::nullopt;
};

// "fail": a follower reports that none of its ranks runs, now or later. The fault kNone means that
// the follower's own agent told it to end.
struct FailFrame {
  std::string message = {};
  trial::Fault fault = trial::Fault::kInfrastructure;
};

// std::monostate stands for a frame of unknown kind.
using Frame = std::variant<std::monostate, JoinFrame, RefuseFrame, AdmitFrame, StartFrame, EndFrame,
                           PingFrame, PongFrame, EventFrame, ExitFrame, FailFrame>;

// Longest frame. An event frame may be as long as the longest JSON text that any reader accepts.
inline constexpr size_t kMostFrameBytes = kMaxJsonBytes;

// Encodes a frame. An event line with which it would exceed `most_bytes` is cut, after which the
// line no longer parses as an event. Strings are made valid UTF-8.
std::string EncodeFrame(Frame frame, size_t most_bytes = kMostFrameBytes);

// FrameReader splits a byte stream into frames.
class FrameReader {
 public:
  explicit FrameReader(size_t most_bytes = kMostFrameBytes) : most_bytes_(most_bytes) {}

  // Appends bytes and returns the frames that are now complete. Returns InvalidArgument if a frame
  // is too long or can't be parsed; the stream is unusable from then on.
  absl::StatusOr<std::vector<Frame>> TakeIn(std::string_view bytes);

 private:
  size_t most_bytes_;
  std::string held_;
};

}  // namespace meshwright::gang
