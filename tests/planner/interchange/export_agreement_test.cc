// What recommend ranks for a framework, export writes for it.
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "base/text/string_view.h"
#include "planner/catalog/plan_query.h"
#include "planner/interchange/export.h"
#include "planner/search/search.h"

namespace meshwright::planner {
namespace {

struct ExportAsked {
  ExportTarget target;
  const char* framework;
  const char* model;
  int64_t devices;
};

class ExportAgreement : public testing::TestWithParam<ExportAsked> {};

TEST_P(ExportAgreement, WritesEveryLayoutThatIsRanked) {
  const ExportAsked& asked = GetParam();
  const PlanQuery query = {.model = {asked.model, ""},
                           .cluster = {"h100", ""},
                           .framework = {asked.framework, ""},
                           .devices = asked.devices,
                           .training = {.seq_len = 4096, .global_batch = 240},
                           .top = 1000};
  const SearchRequest request = Resolve(query, /*host_cores=*/1).value();
  const SearchResult result = Search(request).value();
  ASSERT_FALSE(result.layouts.empty());
  for (const RankedLayout& ranked : result.layouts) {
    const auto text = Export(asked.target, {.model = request.model,
                                            .training = request.training,
                                            .layout = ranked.layout,
                                            .devices_per_node = request.cluster.devices_per_node});
    EXPECT_TRUE(text.ok()) << text.status();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Frameworks, ExportAgreement,
    testing::Values(ExportAsked{ExportTarget::kMegatron, "megatron", "llama-3-8b", 12},
                    ExportAsked{ExportTarget::kMegatron, "megatron", "llama-3.2-3b", 20},
                    ExportAsked{ExportTarget::kMegatron, "megatron", "qwen2.5-7b", 6},
                    ExportAsked{ExportTarget::kMegatron, "megatron", "llama-3-70b", 240},
                    ExportAsked{ExportTarget::kMegatron, "megatron", "mixtral-8x7b", 48},
                    ExportAsked{ExportTarget::kMegatron, "megatron", "deepseek-v2-lite", 32},
                    ExportAsked{ExportTarget::kTorchtitan, "torchtitan-fsdp", "llama-3-8b", 12},
                    ExportAsked{ExportTarget::kTorchtitan, "torchtitan-fsdp", "llama-3-8b", 16},
                    ExportAsked{ExportTarget::kDeepspeed, "deepspeed", "llama-3-8b", 12},
                    ExportAsked{ExportTarget::kDeepspeed, "deepspeed", "mixtral-8x7b", 48},
                    ExportAsked{ExportTarget::kLlamaFactory, "llamafactory", "llama-3-8b", 12},
                    ExportAsked{ExportTarget::kSwift, "ms-swift", "llama-3-8b", 12},
                    ExportAsked{ExportTarget::kVerl, "verl", "llama-3-8b", 16},
                    ExportAsked{ExportTarget::kVerl, "verl", "mixtral-8x7b", 48},
                    ExportAsked{ExportTarget::kNanotron, "nanotron", "llama-3-8b", 12}),
    [](const auto& test) {
      return absl::StrReplaceAll(AbslView(ExportTargetName(test.param.target)), {{"-", ""}}) + "_" +
             std::to_string(test.index);
    });

}  // namespace
}  // namespace meshwright::planner
