#include "executor/wire/runner_offer.h"

#include "base/text/field_error.h"
#include "executor/wire/wire.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace meshwright::wire {
namespace {

using ::testing::HasSubstr;

RunnerOffer SomeOffer() {
  return {.name = "r",
          .hash = std::string(64, 'a'),
          .framework = "megatron",
          .export_to = "megatron",
          .where = "tp = 1",
          .fields = {{"data", "one of a, b"}}};
}

TEST(RunnerOfferTest, AnOfferIsTheSameOnTheOtherSide) {
  const absl::StatusOr<RunnerOffer> read = FromWire(ToWire(SomeOffer()));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, SomeOffer());
}

TEST(RunnerOfferTest, NamesAndHashesHaveTheirForm) {
  for (const char* name : {"", "a b", "../x", "a\nb", "-x"}) {
    v1::RunnerOffer message = ToWire(SomeOffer());
    message.set_name(name);
    EXPECT_FALSE(FromWire(message).ok()) << name;
  }
  for (const std::string& hash : {std::string(), std::string(63, 'a'), std::string(64, 'g')}) {
    v1::RunnerOffer message = ToWire(SomeOffer());
    message.set_hash(hash);
    EXPECT_EQ(FieldOf(FromWire(message).status()), "runners.hash");
  }
}

TEST(RunnerOfferTest, AChoiceHasEveryFieldAndNoOther) {
  const auto chosen = Choose(SomeOffer(), {{"data", "a"}});
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(VersionOf(*chosen), "runner r aaaaaaaaaaaaaaaa data=a");
  EXPECT_THAT(Choose(SomeOffer(), {}).status().message(), HasSubstr("must have data, one of a, b"));
  EXPECT_THAT(Choose(SomeOffer(), {{"data", "a"}, {"x", "1"}}).status().message(),
              HasSubstr("is no field of the runner r"));
}

}  // namespace
}  // namespace meshwright::wire
