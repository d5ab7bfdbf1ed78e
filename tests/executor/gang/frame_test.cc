#include "executor/gang/frame.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace meshwright::gang {
namespace {

// The one frame that is left of `frame` on its way.
template <typename Kind>
Kind Sent(const Kind& frame) {
  const auto read = FrameReader().TakeIn(EncodeFrame(frame));
  EXPECT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->size(), 1u);
  return std::get<Kind>(read->front());
}

TEST(FrameTest, EachKindArrivesAsItWas) {
  EXPECT_EQ(Sent(JoinFrame{.member = 2, .version = "1.2"}).member, 2);
  EXPECT_EQ(Sent(JoinFrame{.member = 2, .version = "1.2"}).version, "1.2");
  EXPECT_EQ(Sent(RefuseFrame{.message = "no"}).message, "no");
  Sent(AdmitFrame());
  Sent(StartFrame());
  Sent(EndFrame());
  EXPECT_EQ(Sent(PingFrame{.sent_s = 0.1}).sent_s, 0.1);
  const auto pong = Sent(PongFrame{.sent_s = 0.1, .clock_s = 123456789.123456789});
  EXPECT_EQ(pong.sent_s, 0.1);
  EXPECT_EQ(pong.clock_s, 123456789.123456789);
  const auto event = Sent(EventFrame{.rank = 3, .line = R"({"event":"begin","step":0})"});
  EXPECT_EQ(event.rank, 3);
  EXPECT_EQ(event.line, R"({"event":"begin","step":0})");
  const auto exit = Sent(ExitFrame{.rank = 1, .wait_status = 9, .output_tail = "x\n"});
  EXPECT_EQ(exit.wait_status, 9);
  EXPECT_EQ(exit.output_tail, "x\n");
  EXPECT_FALSE(exit.left_pid.has_value());
  EXPECT_EQ(Sent(ExitFrame{.left_pid = 77}).left_pid, 77);
  const auto fail = Sent(FailFrame{.message = "why", .fault = trial::Fault::kLayout});
  EXPECT_EQ(fail.message, "why");
  EXPECT_EQ(fail.fault, trial::Fault::kLayout);
}

TEST(FrameTest, AStreamComesInAnyPieces) {
  const std::string stream = EncodeFrame(PingFrame{.sent_s = 1.0}) + EncodeFrame(EndFrame()) +
                             EncodeFrame(EventFrame{.rank = 1, .line = "l"});
  for (const size_t piece : {size_t{1}, size_t{7}, stream.size()}) {
    FrameReader reader;
    std::vector<Frame> frames;
    for (size_t begin = 0; begin < stream.size(); begin += piece) {
      const auto come = reader.TakeIn(std::string_view(stream).substr(begin, piece));
      ASSERT_TRUE(come.ok()) << come.status();
      frames.insert(frames.end(), come->begin(), come->end());
    }
    ASSERT_EQ(frames.size(), 3u) << piece;
    EXPECT_EQ(std::get<PingFrame>(frames[0]).sent_s, 1.0);
    EXPECT_TRUE(std::holds_alternative<EndFrame>(frames[1]));
    EXPECT_EQ(std::get<EventFrame>(frames[2]).line, "l");
  }
}

TEST(FrameTest, ALengthBeyondTheBoundIsRefusedBeforeItIsRead) {
  EXPECT_FALSE(FrameReader(10).TakeIn(std::string_view("\0\0\0\13xy", 6)).ok());
  EXPECT_FALSE(FrameReader().TakeIn(std::string_view("\xff\xff\xff\xff", 4)).ok());
}

TEST(FrameTest, GarbageIsRefused) {
  EXPECT_FALSE(FrameReader().TakeIn(std::string_view("\0\0\0\3{x}", 7)).ok());
  // JSON, but not of a frame's form.
  EXPECT_FALSE(FrameReader()
                   .TakeIn(std::string_view("\0\0\0\1"
                                            "3",
                                            5))
                   .ok());
  EXPECT_FALSE(FrameReader().TakeIn(std::string_view("\0\0\0\20{\"event\":\"join\"}", 20)).ok());
}

TEST(FrameTest, AKindThatIsNotKnownIsPassedOver) {
  const auto frames = FrameReader().TakeIn(std::string_view("\0\0\0\17{\"event\":\"new\"}", 19));
  ASSERT_TRUE(frames.ok()) << frames.status();
  ASSERT_EQ(frames->size(), 1u);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(frames->front()));
}

TEST(FrameTest, TextsOfWorkersAreMadeValid) {
  EXPECT_EQ(Sent(EventFrame{.line = "a\xff"}).line, "a\xEF\xBF\xBD");
  EXPECT_EQ(Sent(ExitFrame{.output_tail = "\x82"}).output_tail, "\xEF\xBF\xBD");
}

TEST(FrameTest, ALineThatIsTooLongIsCut) {
  constexpr size_t kMost = 10'000;
  const EventFrame event{.rank = 1, .line = std::string(kMost, 'x')};
  const auto read = FrameReader(kMost).TakeIn(EncodeFrame(event, kMost));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 1u);
  EXPECT_EQ(std::get<EventFrame>(read->front()).rank, 1);
  EXPECT_LT(std::get<EventFrame>(read->front()).line.size(), 2000u);
  EXPECT_FALSE(FrameReader(kMost).TakeIn(EncodeFrame(event)).ok());
}

}  // namespace
}  // namespace meshwright::gang
