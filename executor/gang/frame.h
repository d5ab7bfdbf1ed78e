// Frames are the messages between members of a gang. On the stream each is a length of four bytes,
// big-endian, followed by that many bytes of JSON.
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

// From the leader: "admit" accepts the follower, "start" has it start its workers, "end" has it end
// them.
struct AdmitFrame {};
struct StartFrame {};
struct EndFrame {};

// "ping" from the leader, answered at once by "pong".
struct PingFrame {
  double sent_s = 0.0;  // on the leader's clock
};
struct PongFrame {
  double sent_s = 0.0;   // the ping's
  double clock_s = 0.0;  // on the follower's clock
};

// From a follower: "event", one line written by a rank's worker.
struct EventFrame {
  int32_t rank = 0;
  std::string line = {};
};

// From a follower: "exit", how a rank's worker ended.
struct ExitFrame {
  int32_t rank = 0;
  int32_t wait_status = 0;  // as returned by waitpid()
  std::string output_tail = {};
  // Set where the worker could not be ended and was left running.
  std::optional<int32_t> left_pid = std::nullopt;
};

// From a follower: "fail", none of its ranks runs any more or ever will. kNone as fault means that
// the follower was told to end by its own agent.
struct FailFrame {
  std::string message = {};
  trial::Fault fault = trial::Fault::kInfrastructure;
};

// std::monostate stands for a frame of unknown kind.
using Frame = std::variant<std::monostate, JoinFrame, RefuseFrame, AdmitFrame, StartFrame, EndFrame,
                           PingFrame, PongFrame, EventFrame, ExitFrame, FailFrame>;

// An event frame may be as long as the longest JSON that is read.
inline constexpr size_t kMostFrameBytes = kMaxJsonBytes;

// Encodes a frame. An event line that would exceed kMostFrameBytes is cut, after which it no longer
// parses as an event. Strings are made valid UTF-8.
std::string EncodeFrame(Frame frame);

// FrameReader splits a byte stream into frames.
class FrameReader {
 public:
  explicit FrameReader(size_t most_bytes = kMostFrameBytes) : most_bytes_(most_bytes) {}

  // Appends bytes and returns the frames that are now complete. InvalidArgument where a frame is
  // too long or can't be parsed; the stream is unusable from then on.
  absl::StatusOr<std::vector<Frame>> TakeIn(std::string_view bytes);

 private:
  size_t most_bytes_;
  std::string held_;
};

}  // namespace meshwright::gang
