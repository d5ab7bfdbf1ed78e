#include "executor/gang/frame.h"

#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "base/text/utf8.h"
#include "executor/trial/event_json.h"
#include "planner/codec/fields.h"

namespace meshwright::gang {
namespace {

constexpr trial::EventKinds<Frame> kKinds = {"",     "join", "refuse", "admit", "start", "end",
                                             "ping", "pong", "event",  "exit",  "fail"};
constexpr size_t kLengthBytes = 4;
constexpr size_t kShownBytes = 1000;

std::string WithLength(const std::string& text) {
  const auto size = static_cast<uint32_t>(text.size());
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift);
  return out + text;
}

uint32_t LengthAt(std::string_view bytes) {
  uint32_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return length;
}

struct MakeTextsValid {
  template <typename Struct>
  void operator()(Struct& frame) const {
    if constexpr (std::is_same_v<Struct, EventFrame>) {
      frame.line = ValidUtf8(frame.line);
    } else if constexpr (std::is_same_v<Struct, ExitFrame>) {
      frame.output_tail = ValidUtf8(frame.output_tail);
    } else if constexpr (std::is_same_v<Struct, FailFrame> || std::is_same_v<Struct, RefuseFrame>) {
      frame.message = ValidUtf8(frame.message);
    }
  }
};

}  // namespace

template <planner::ConstOr<JoinFrame> T, typename Visitor>
void VisitFields(T& frame, Visitor& visit) {
  visit(planner::Needed("member"), frame.member);
  visit(planner::Needed("version"), frame.version);
}

template <planner::ConstOr<RefuseFrame> T, typename Visitor>
void VisitFields(T& frame, Visitor& visit) {
  visit(planner::Needed("message"), frame.message);
}

template <typename T, typename Visitor>
requires planner::ConstOr<T, AdmitFrame> || planner::ConstOr<T, EndFrame>
void VisitFields(T&, Visitor&) {}

template <planner::ConstOr<StartFrame> T, typename Visitor>
void VisitFields(T& frame, Visitor& visit) {
  visit(planner::Needed("store_port"), frame.store_port);
}

template <planner::ConstOr<PingFrame> T, typename Visitor>
void VisitFields(T& frame, Visitor& visit) {
  visit(planner::Needed("sent_s"), frame.sent_s);
}

template <planner::ConstOr<PongFrame> T, typename Visitor>
void VisitFields(T& frame, Visitor& visit) {
  visit(planner::Needed("sent_s"), frame.sent_s);
  visit(planner::Needed("clock_s"), frame.clock_s);
}

template <planner::ConstOr<EventFrame> T, typename Visitor>
void VisitFields(T& frame, Visitor& visit) {
  visit(planner::Needed("rank"), frame.rank);
  visit(planner::Needed("line"), frame.line);
}

template <planner::ConstOr<ExitFrame> T, typename Visitor>
void VisitFields(T& frame, Visitor& visit) {
  visit(planner::Needed("rank"), frame.rank);
  visit(planner::Needed("wait_status"), frame.wait_status);
  visit("output_tail", frame.output_tail);
  visit("left_pid", frame.left_pid);
}

template <planner::ConstOr<FailFrame> T, typename Visitor>
void VisitFields(T& frame, Visitor& visit) {
  visit(planner::Needed("message"), frame.message);
  visit(planner::Needed("fault"), frame.fault, trial::kFaultNames);
}

std::string EncodeFrame(Frame frame, size_t most_bytes) {
  std::visit(MakeTextsValid(), frame);
  std::string text = trial::EventToJson(kKinds, frame).dump();
  if (auto* event = std::get_if<EventFrame>(&frame); event != nullptr && text.size() > most_bytes) {
    event->line = ShortText(event->line, kShownBytes);
    text = trial::EventToJson(kKinds, frame).dump();
  }
  return WithLength(text);
}

absl::StatusOr<std::vector<Frame>> FrameReader::TakeIn(std::string_view bytes) {
  held_.append(bytes);
  std::vector<Frame> frames;
  size_t begin = 0;
  while (held_.size() - begin >= kLengthBytes) {
    const std::string_view rest = std::string_view(held_).substr(begin);
    const size_t length = LengthAt(rest);
    if (length > most_bytes_) {
      return absl::InvalidArgumentError(absl::StrCat("a frame of ", length, " bytes"));
    }
    if (rest.size() < kLengthBytes + length) break;
    ASSIGN_OR_RETURN(const nlohmann::json json,
                     ParseJson("frame", rest.substr(kLengthBytes, length)));
    ASSIGN_OR_RETURN(Frame frame, trial::EventFromJson<Frame>(kKinds, json));
    frames.push_back(std::move(frame));
    begin += kLengthBytes + length;
  }
  held_.erase(0, begin);
  return frames;
}

}  // namespace meshwright::gang
