#include "executor/wire/message_codec.h"

#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "executor/trial/result_fields.h"
#include "meshwright/v1/sweeps.pb.h"

namespace meshwright::wire {
namespace {

// As a Sweep's fields that no other struct has: a map, an enum of names that has no empty one,
// texts.
enum class State : uint8_t { kPending, kRunning, kFinished, kCancelled };
constexpr EnumNames<State, 4> kStateNames = {{{State::kPending, "pending"},
                                              {State::kRunning, "running"},
                                              {State::kFinished, "finished"},
                                              {State::kCancelled, "cancelled"}}};

struct SomeSweep {
  std::string name;
  State state = State::kPending;
  uint64_t seed = 0;
  std::map<std::string, int32_t> trials_by_state;

  friend bool operator==(const SomeSweep&, const SomeSweep&) = default;
};

template <planner::ConstOr<SomeSweep> Sweep, typename Visitor>
void VisitFields(Sweep& sweep, Visitor& visit) {
  visit("name", sweep.name);
  visit("state", sweep.state, kStateNames);
  visit("seed", sweep.seed);
  visit("trials_by_state", sweep.trials_by_state);
  visit.Derived("trials", int32_t{3});
}

TEST(MessageCodecTest, FieldsFillTheMessagesOfTheirNames) {
  const SomeSweep sweep{.name = "s\xFF",
                        .state = State::kFinished,
                        .seed = 0xffffffffffffffffu,
                        .trials_by_state = {{"ok", 2}, {"oom", 1}}};
  const auto message = WriteMessage<v1::Sweep>(sweep);
  EXPECT_EQ(message.name(), "s\xEF\xBF\xBD");
  EXPECT_EQ(message.state(), v1::SWEEP_STATE_FINISHED);
  EXPECT_EQ(message.seed(), 0xffffffffffffffffu);
  EXPECT_EQ(message.trials_by_state().at("oom"), 1);
  EXPECT_EQ(message.trials(), 3);
  const auto back = ReadMessage<SomeSweep>(message);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->state, sweep.state);
  EXPECT_EQ(back->seed, sweep.seed);
  EXPECT_EQ(back->trials_by_state, sweep.trials_by_state);
}

TEST(MessageCodecTest, AnEnumeratorThatHasNoNameHereIsRefused) {
  v1::Sweep message;
  EXPECT_EQ(ReadMessage<SomeSweep>(message).status().message(),
            "state = : must be one of pending, running, finished, cancelled");
  message.set_state(static_cast<v1::SweepState>(77));
  EXPECT_EQ(ReadMessage<SomeSweep>(message).status().message(),
            "state = 77: must be one of pending, running, finished, cancelled");
}

TEST(MessageCodecTest, AProblemNamesThePath) {
  trial::TrialResult result;
  result.ranks = {{.rank = 0}, {.rank = 1, .communication = {{.group = "tp"}}}};
  auto message = WriteMessage<v1::Measurement>(result);
  message.mutable_ranks(1)->mutable_communication(0)->clear_operation();
  EXPECT_EQ(FieldOf(ReadMessage<trial::TrialResult>(message).status()),
            "ranks[1].communication[0].operation");
}

TEST(MessageCodecTest, OptionalsAreAbsentWithoutAValue) {
  const auto message = WriteMessage<v1::Measurement>(trial::TrialResult());
  EXPECT_FALSE(message.has_peak_flops());
  EXPECT_FALSE(message.has_oom());
  EXPECT_FALSE(message.has_slice());
  EXPECT_EQ(ReadMessage<trial::TrialResult>(message).value(), trial::TrialResult());
}

}  // namespace
}  // namespace meshwright::wire
