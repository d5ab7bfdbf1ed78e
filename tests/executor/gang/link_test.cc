#include "executor/gang/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/executor/gang/tls_pair.h"

namespace meshwright::gang {
namespace {

using testing::HasSubstr;

// Receives until `count` frames have come or the link has broken.
std::vector<Frame> Received(Link& link, size_t count) {
  std::vector<Frame> frames;
  EXPECT_TRUE(Eventually([&] {
    for (Frame& frame : link.Receive()) frames.push_back(std::move(frame));
    return frames.size() >= count || !link.status().ok();
  }));
  return frames;
}

TEST(LinkTest, AFrameOfManyRecordsArrivesWhole) {
  TlsPair pair = MakeTlsPair();
  Link from(std::move(pair.dialer), MonotonicNow);
  Link to(std::move(pair.listener), MonotonicNow);
  const std::string line(size_t{5} << 20, 'x');
  from.Send(EventFrame{.rank = 1, .line = line});
  EXPECT_GT(from.unsent_bytes(), 0u);
  std::vector<Frame> frames;
  ASSERT_TRUE(Eventually([&] {
    from.Receive();
    for (Frame& frame : to.Receive()) frames.push_back(std::move(frame));
    return !frames.empty();
  }));
  EXPECT_EQ(std::get<EventFrame>(frames.front()).line, line);
  EXPECT_EQ(from.unsent_bytes(), 0u);
}

TEST(LinkTest, AFrameThatIsTooLongEndsTheLinkBeforeItIsRead) {
  TlsPair pair = MakeTlsPair();
  Link link(std::move(pair.listener), MonotonicNow);
  Write(pair.dialer, "\xff\xff\xff\xff");
  EXPECT_TRUE(Received(link, 1).empty());
  EXPECT_THAT(std::string(link.status().message()), HasSubstr("a frame of 4294967295 bytes"));
}

TEST(LinkTest, WhatWasSentBeforeAnOrdinaryEndArrives) {
  TlsPair pair = MakeTlsPair();
  Link from(std::move(pair.dialer), MonotonicNow);
  from.Send(FailFrame{.message = "why"});
  from.Close(/*limit_s=*/0.0);
  Link to(std::move(pair.listener), MonotonicNow);
  const std::vector<Frame> frames = Received(to, 1);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(std::get<FailFrame>(frames.front()).message, "why");
}

TEST(LinkTest, WhoCanNoLongerSendStillReadsWhatTheOtherEndSaidLast) {
  TlsPair pair = MakeTlsPair();
  Link from(std::move(pair.dialer), MonotonicNow);
  Link to(std::move(pair.listener), MonotonicNow);
  from.Send(FailFrame{.message = "why"});
  from.Close(/*limit_s=*/0.0);
  // The other host resets the connection when the first of these arrives.
  for (int i = 0; i < 3; ++i) {
    to.Send(PingFrame());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ASSERT_EQ(to.status(), absl::OkStatus());
  const std::vector<Frame> frames = Received(to, 1);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(std::get<FailFrame>(frames.front()).message, "why");
  Received(to, 1);
  EXPECT_TRUE(absl::IsUnavailable(to.status())) << to.status();
}

TEST(LinkTest, AnEndThatClosesWaitsUntilTheOtherHasItsFrames) {
  TlsPair pair = MakeTlsPair();
  Link from(std::move(pair.dialer), MonotonicNow);
  const std::string line(size_t{1} << 20, 'x');
  from.Send(EventFrame{.rank = 1, .line = line});
  std::vector<Frame> frames;
  std::thread reader([&] {
    Link to(std::move(pair.listener), MonotonicNow);
    frames = Received(to, 2);
  });
  from.Close(/*limit_s=*/30.0);
  reader.join();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(std::get<EventFrame>(frames.front()).line, line);
}

}  // namespace
}  // namespace meshwright::gang
