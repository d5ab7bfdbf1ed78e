#include "planner/spec/number_formats.h"

#include "gtest/gtest.h"

namespace meshwright::planner {
namespace {

TEST(NumberFormats, OfBf16KeepSumsAndStatesInFp32) {
  const NumberFormats formats = NumberFormatsOf(Precision::kBf16);
  for (const NumberFormat format :
       {formats.weights, formats.activations, formats.matmul_inputs.forward,
        formats.matmul_inputs.input_gradient, formats.matmul_inputs.weight_gradient,
        formats.wire}) {
    EXPECT_EQ(BytesOf(format), 2);
  }
  for (const NumberFormat format :
       {formats.gradients, formats.accumulator, formats.optimizer_states}) {
    EXPECT_EQ(BytesOf(format), 4);
  }
  EXPECT_TRUE(formats.HasMasterWeights());
  EXPECT_EQ(formats, NumberFormats());
}

TEST(NumberFormats, OfTheOtherPrecisionsAreOneThroughout) {
  for (const auto& [precision, format] : {std::pair(Precision::kFp32, NumberFormat::kFp32),
                                          std::pair(Precision::kFp64, NumberFormat::kFp64)}) {
    const NumberFormats formats = NumberFormatsOf(precision);
    EXPECT_EQ(formats.weights, format);
    EXPECT_EQ(formats.matmul_inputs, (MatmulInputs{format, format, format}));
    EXPECT_EQ(formats.gradients, format);
    EXPECT_EQ(formats.optimizer_states, format);
    EXPECT_FALSE(formats.HasMasterWeights());
  }
}

TEST(Precision, IsReadByItsName) {
  for (const Precision precision :
       {Precision::kBf16, Precision::kFp32, Precision::kFp64, Precision::kFp8Delayed,
        Precision::kFp8Current, Precision::kFp8Blockwise, Precision::kMxfp8, Precision::kNvfp4}) {
    EXPECT_EQ(ParsePrecision(PrecisionName(precision)).value(), precision);
  }
  EXPECT_EQ(ParsePrecision("fp8").status().message(),
            "dtype = fp8: must be bf16, fp16, fp32, fp64, fp8-delayed, fp8-current, fp8-blockwise, "
            "mxfp8 or "
            "nvfp4");
}

}  // namespace
}  // namespace meshwright::planner
