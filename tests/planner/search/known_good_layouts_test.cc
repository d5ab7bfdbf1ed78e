// Layouts that teams with large clusters trained in, beside what a search puts first. A layout that
// was tuned on the machine may be as good as the search's, never much better: the estimate is off
// where it is many points below.
#include <gtest/gtest.h>

#include <string>

#include "planner/search/search.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

struct KnownGood {
  const char* name;
  const char* model;
  const char* cluster;
  int64_t devices;
  int64_t global_batch;
  const char* framework;
  Precision precision;
  const char* layout;
};

// NVIDIA's published recipes: DeepSeek-V3 on 1,024 H100 (NeMo 25.05 and later; recomputed modules
// as in Megatron-LM's GB200 guide), GPT-OSS 120B on 64 H100 and 64 GB200 (NeMo 26.02).
constexpr KnownGood kLayouts[] = {
    {"DeepSeekV3", "deepseek-v3", "h100", 1024, 8192, "megatron-deepep", Precision::kBf16,
     "tp2.pp8.dp64.ep64.vpp4.zero1.sp1.rc=mla_up_proj+mlp.stages=1+30x2+0"},
    {"DeepSeekV3InFp8", "deepseek-v3", "h100", 1024, 8192, "megatron-deepep",
     Precision::kFp8Blockwise,
     "tp2.pp8.dp64.ep64.vpp4.zero1.sp1.rc=mla_up_proj+mlp.stages=1+30x2+0"},
    {"GptOss", "gpt-oss-120b", "h100", 64, 1280, "megatron", Precision::kBf16,
     "tp1.pp4.dp16.ep8.zero1"},
    {"GptOssOnOneDomain", "gpt-oss-120b", "gb200", 64, 1280, "nemo-graphs", Precision::kMxfp8,
     "tp1.pp1.dp64.ep64.mb4.zero1"},
};

class KnownGoodLayouts : public testing::TestWithParam<KnownGood> {};

TEST_P(KnownGoodLayouts, AreWithinFivePointsOfTheFirst) {
  const KnownGood& known = GetParam();
  TestContext test =
      MakeContext(known.model, known.cluster, 4096, known.global_batch, known.framework);
  test.training.precision = known.precision;
  SearchRequest request = MakeRequest(test, known.devices);
  request.top = 1;
  request.mine = MakeLayout(known.layout);
  const SearchResult result = Search(request).value();
  ASSERT_TRUE(result.mine.has_value());
  ASSERT_FALSE(result.mine->violation.has_value()) << Describe(*result.mine->violation);
  ASSERT_FALSE(result.layouts.empty());
  const RankedLayout& first = result.layouts.front();
  EXPECT_LE(first.estimate.mfu - result.mine->estimate.mfu, 0.05) << FormatLayout(first.layout);
  // They ran, so that they can't be sure to run out.
  EXPECT_LT(result.mine->estimate.oom_probability, 0.5);
}

INSTANTIATE_TEST_SUITE_P(Published, KnownGoodLayouts, testing::ValuesIn(kLayouts),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace meshwright::planner
