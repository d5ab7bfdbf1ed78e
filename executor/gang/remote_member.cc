#include "executor/gang/remote_member.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace meshwright::gang {
namespace {

// The first pings follow each other at once, so that even a short trial has one fast exchange.
constexpr int kFirstPings = 8;

double SecondsOf(MonotonicTime time) { return absl::ToDoubleSeconds(time.since_start); }

}  // namespace

RemoteMember::RemoteMember(Member member, Link link, const Timing& timing)
    : member_(std::move(member)), timing_(timing), link_(std::move(link)) {
  for (const int32_t rank : RanksOf(member_)) news_[rank] = {};
  link_.Send(AdmitFrame());
}

void RemoteMember::End() {
  if (!std::exchange(told_end_, true)) link_.Send(EndFrame());
}

void RemoteMember::Pump() {
  for (Frame& frame : link_.Receive()) Take(std::move(frame));
  Ping();
  NoticeLoss();
}

void RemoteMember::Take(Frame frame) {
  if (auto* event = std::get_if<EventFrame>(&frame)) {
    const auto news = news_.find(event->rank);
    if (news != news_.end()) news->second.lines.push_back(std::move(event->line));
  } else if (auto* exit = std::get_if<ExitFrame>(&frame)) {
    const auto news = news_.find(exit->rank);
    if (news != news_.end()) news->second.exit = std::move(*exit);
  } else if (auto* fail = std::get_if<FailFrame>(&frame)) {
    if (!failure_) failure_ = std::move(*fail);
  } else if (const auto* pong = std::get_if<PongFrame>(&frame)) {
    clock_.Take(pong->sent_s, pong->clock_s, SecondsOf(timing_.clock()));
  }
}

void RemoteMember::Ping() {
  const MonotonicTime now = timing_.clock();
  const bool is_first = pings_ < kFirstPings && clock_.answers() == pings_;
  if (!is_first && now < pinged_ + absl::Seconds(timing_.ping_s)) return;
  ++pings_;
  pinged_ = now;
  link_.Send(PingFrame{.sent_s = SecondsOf(now)});
}

void RemoteMember::NoticeLoss() {
  if (failure_) return;
  std::string why;
  if (!link_.status().ok()) {
    why = std::string(link_.status().message());
  } else if (link_.silence_s() > timing_.silence_s) {
    why = absl::StrCat("nothing was heard from it for ", timing_.silence_s, " s");
  } else {
    return;
  }
  failure_ = FailFrame{.message = absl::StrCat("agent ", member_.agent, " was lost: ", why),
                       .fault = trial::Fault::kNetwork};
}

}  // namespace meshwright::gang
