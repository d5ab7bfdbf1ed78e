#include "planner/spec/rope_scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/text/field_error.h"

namespace meshwright::planner {
namespace {

constexpr RopeScaling kLlama31 = {.kind = RopeScalingKind::kLlama3, .factor = 8.0};

// Of Llama 3.1: rope_theta 500,000, 128 dimensions a head.
double Frequency(int pair) { return std::pow(500000.0, -2.0 * pair / 128.0); }

// Computed apart, from wavelengths.
TEST(RopeScaling, Llama3KeepsHighFrequenciesAndDividesLowOnes) {
  struct Expected {
    int pair;
    double frequency;
  };
  for (const auto& [pair, frequency] :
       {Expected{0, 1.0}, Expected{28, 0.003211445994752591}, Expected{29, 0.002166570763503359},
        Expected{32, 0.0005248461609929547}, Expected{34, 0.0001785078127679964},
        Expected{35, 9.556212353964683e-05}, Expected{63, 3.068925988914511e-07}}) {
    EXPECT_NEAR(ScaledFrequency(kLlama31, Frequency(pair)) / frequency, 1.0, 1e-12) << pair;
  }
}

TEST(RopeScaling, Llama3TakesItsFactor) {
  RopeScaling scaling = kLlama31;
  scaling.factor = 32.0;
  EXPECT_NEAR(ScaledFrequency(scaling, Frequency(30)), 0.001290547928209264, 1e-15);
  EXPECT_NEAR(ScaledFrequency(scaling, Frequency(63)), 7.672314972286278e-08, 1e-20);
}

TEST(RopeScaling, LinearDividesEveryFrequency) {
  const RopeScaling linear = {.kind = RopeScalingKind::kLinear, .factor = 4.0};
  EXPECT_EQ(ScaledFrequency(linear, 1.0), 0.25);
  EXPECT_EQ(ScaledFrequency({}, 1.0), 1.0);
}

TEST(RopeScaling, NamesTheKeyThatIsOutOfRange) {
  const auto field = [](RopeScaling scaling) { return FieldOf(Validate(scaling)); };
  RopeScaling scaling = kLlama31;
  EXPECT_TRUE(Validate(scaling).ok());
  scaling.factor = 0.5;
  EXPECT_EQ(field(scaling), "rope_scaling.factor");
  scaling = kLlama31;
  scaling.high_freq_factor = 0.5;
  EXPECT_EQ(field(scaling), "rope_scaling.high_freq_factor");
  scaling = kLlama31;
  scaling.low_freq_factor = std::nan("");
  EXPECT_EQ(field(scaling), "rope_scaling.low_freq_factor");
  scaling = kLlama31;
  scaling.original_max_positions = 0;
  EXPECT_EQ(field(scaling), "rope_scaling.original_max_position_embeddings");
  EXPECT_EQ(FieldOf(ParseRopeScalingKind("rope_scaling.rope_type", "yarn").status()),
            "rope_scaling.rope_type");
}

// Llama 4 Scout: both bounds are one wavelength, so that frequencies are either kept or divided.
TEST(RopeScaling, MayHaveNoFrequenciesBetweenHighAndLow) {
  const RopeScaling scaling = {.kind = RopeScalingKind::kLlama3,
                               .factor = 16.0,
                               .low_freq_factor = 1.0,
                               .high_freq_factor = 1.0,
                               .original_max_positions = 8192};
  EXPECT_TRUE(Validate(scaling).ok());
  EXPECT_EQ(ScaledFrequency(scaling, 0.5), 0.5);
  EXPECT_EQ(ScaledFrequency(scaling, 1e-5), 1e-5 / 16.0);
}

}  // namespace
}  // namespace meshwright::planner
