#include "planner/rules/offload_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "planner/rules/rule_list.h"
#include "tests/planner/offload_context.h"

namespace meshwright::planner {
namespace {

std::string Sentence(const TestContext& test, const char* text) {
  const Layout layout = MakeLayout(text);
  const auto violation = CheckLayout(test.get(), layout.devices(), layout);
  return violation ? Describe(*violation) : "";
}

TEST(OffloadRules, NameTheFigureThatAClusterLacks) {
  TestContext test = OffloadContext("llama-2-7b", 4096, 64);
  EXPECT_EQ(Sentence(test, "tp1.pp1.dp8.offload=act:4+opt"), "");
  const HostProfile host = test.cluster.host;
  test.cluster.host = HostProfile();
  EXPECT_EQ(Sentence(test, "tp1.pp1.dp8"), "");
  EXPECT_EQ(Sentence(test, "tp1.pp1.dp8.offload=act:4"),
            "offload= needs the cluster's host.link_bytes_per_s, which is not given; must be what "
            "the data sheet of its nodes says");
  test.cluster.host.link_bytes_per_s = host.link_bytes_per_s;
  EXPECT_EQ(Sentence(test, "tp1.pp1.dp8.offload=opt"),
            "offload= needs the cluster's host.memory_bytes, which is not given; must be what "
            "the data sheet of its nodes says, such as --cluster NAME,ram=512GB");
  test.cluster.host.memory_bytes = host.memory_bytes;
  EXPECT_EQ(Sentence(test, "tp1.pp1.dp8.offload=act:4"), "");
  EXPECT_EQ(Sentence(test, "tp1.pp1.dp8.offload=act:4+opt"),
            "offload= needs the cluster's host.memory_bytes_per_s, which is not given; must be "
            "what the data sheet of its nodes says");
}

TEST(OffloadRules, APagedOptimizerNeedsTheHostAndItsMemory) {
  TestContext test = OffloadContext("llama-2-7b", 4096, 64);
  test.training.optimizer = kPagedAdamW;
  test.cluster.device.memory_bytes = int64_t{64} << 30;
  EXPECT_EQ(Sentence(test, "tp1.pp1.dp8.rc=full"), "");
  test.cluster.host.memory_bytes = int64_t{1} << 30;
  EXPECT_THAT(Sentence(test, "tp1.pp1.dp8.rc=full"),
              testing::HasSubstr("to their host, whose memory is 1.00 GiB"));
  test.cluster.host.memory_bytes = 0;
  EXPECT_THAT(Sentence(test, "tp1.pp1.dp8.rc=full"),
              testing::HasSubstr("a paged optimizer needs the cluster's host"));
}

TEST(OffloadRules, MoveNoMoreLayersThanTheFullestChunkHas) {
  TestContext test = OffloadContext("llama-2-7b", 4096, 64);
  EXPECT_EQ(Sentence(test, "tp1.pp4.dp2.offload=act:8"), "");
  EXPECT_EQ(Sentence(test, "tp1.pp4.dp2.offload=act:9"),
            "offload=act:9 moves the activations of more layers than the 8 of a chunk");
  EXPECT_EQ(Sentence(test, "tp1.pp4.dp2.vpp2.offload=act:5"),
            "offload=act:5 moves the activations of more layers than the 4 of a chunk");
  test.profile.supports.has_stages = true;
  EXPECT_EQ(Sentence(test, "tp1.pp2.dp4.stages=12+20.offload=act:20"), "");
  EXPECT_EQ(Sentence(test, "tp1.pp2.dp4.stages=12+20.offload=act:21"),
            "offload=act:21 moves the activations of more layers than the 20 of a chunk");
}

TEST(OffloadRules, MoveWhatLayersKeep) {
  const TestContext test = OffloadContext("llama-2-7b", 4096, 64);
  EXPECT_EQ(Sentence(test, "tp1.pp1.dp8.rc=selective.offload=act:4"), "");
  EXPECT_EQ(Sentence(test, "tp1.pp1.dp8.rc=full.offload=opt"), "");
  for (const char* recomputed :
       {"tp1.pp1.dp8.rc=full.offload=act:4", "tp1.pp1.dp8.rc=block:2.offload=act:4"}) {
    EXPECT_EQ(Sentence(test, recomputed),
              "offload=act:4 moves what layers keep, and under rc=full and rc=block they keep only "
              "their input, which stays on the device under this framework: it needs rc=none, "
              "selective or modules");
  }
}

TEST(OffloadRules, MoveTheInputsOfLayersUnderAFrameworkThatDoes) {
  TestContext test = OffloadContext("llama-2-7b", 4096, 64);
  test.profile.supports.offloads_layer_inputs = true;
  EXPECT_EQ(Sentence(test, "tp1.pp1.dp8.rc=full.offload=act:4"), "");
  EXPECT_NE(Sentence(test, "tp1.pp1.dp8.rc=block:2.offload=act:4"), "");
}

TEST(OffloadRules, MoveWeightsThatEachPassGathers) {
  const TestContext test = OffloadContext("llama-2-7b", 2048, 64);
  const auto breaks = [&](const char* text) {
    return CheckLayout(test.get(), 8, MakeLayout(text));
  };
  EXPECT_EQ(breaks("tp1.pp1.dp8.zero3.offload=opt+param"), std::nullopt);
  EXPECT_EQ(breaks("tp1.pp1.dp8.zero3.offload=opt+param+grad"), std::nullopt);
  const std::optional<Violation> zero1 = breaks("tp1.pp1.dp8.zero1.offload=opt+param");
  ASSERT_TRUE(zero1.has_value());
  EXPECT_EQ(zero1->rule, Rule::kOffloadWeights);
}

TEST(OffloadRules, UpdateByAdamWAlone) {
  TestContext test = OffloadContext("llama-2-7b", 4096, 64);
  test.training.optimizer = kMuon;
  test.profile.supports.has_muon = true;
  EXPECT_EQ(Sentence(test, "tp1.pp1.dp8.offload=act:4"), "");
  EXPECT_EQ(Sentence(test, "tp1.pp1.dp8.offload=opt"),
            "offload=opt updates weights on the host, which is planned for AdamW only, not for the "
            "matrix products of Muon");
}

// 12 bytes for each of 6,738,415,616 parameters on each of eight devices: 602.46 GiB.
TEST(OffloadRules, FillNoMoreThanTheHostsMemory) {
  TestContext test = OffloadContext("llama-2-7b", 4096, 64);
  test.cluster.host.memory_bytes = int64_t{603} << 30;
  EXPECT_EQ(Sentence(test, "tp1.pp1.dp8.offload=opt"), "");
  test.cluster.host.memory_bytes = int64_t{600} << 30;
  EXPECT_EQ(Sentence(test, "tp1.pp1.dp8.offload=opt"),
            "the devices of a node move 602.46 GiB to their host, whose memory is 600.00 GiB");
  EXPECT_EQ(Sentence(test, "tp1.pp1.dp8.zero1.offload=opt"), "");
  // Four of the devices have half of the node to themselves.
  EXPECT_EQ(Sentence(test, "tp1.pp1.dp4.offload=opt"), "");
}

TEST(OffloadRules, AskTheFramework) {
  const auto sentence = [](const char* framework, const char* layout) {
    const TestContext test = MakeContext("llama-2-7b", "h100", 4096, 64, framework);
    return Sentence(test, layout);
  };
  for (const char* framework : {"megatron", "nemo"}) {
    EXPECT_EQ(sentence(framework, "tp1.pp1.dp8.zero1.offload=act:16+opt"), "");
    EXPECT_EQ(sentence(framework, "tp1.pp2.dp4.zero1.offload=opt"), "");
    EXPECT_EQ(sentence(framework, "tp1.pp2.dp4.zero1.offload=act:8"),
              "the framework does not combine offload=act:N with pipeline parallel: pp is 2 and "
              "must be 1");
    EXPECT_EQ(sentence(framework, "tp1.pp1.dp8.zero1.rc=selective.offload=act:8"),
              "the framework does not combine offload=act:N with recompute, only with rc=none");
  }
  EXPECT_EQ(sentence("llm-foundry-fsdp", "tp1.pp1.dp8.zero3.offload=act:8"),
            "offloaded activations (offload=act:N) are not planned for this framework, only ones "
            "on the device");
  EXPECT_EQ(sentence("torchtitan-fsdp", "tp1.pp1.dp8.zero3.rc=full.offload=act:8"), "");
  EXPECT_EQ(sentence("llm-foundry-fsdp", "tp1.pp1.dp8.zero3.offload=opt"),
            "offloaded states (offload=opt) are not planned for this framework, only ones on the "
            "device");
  EXPECT_EQ(sentence("torchtitan-fsdp", "tp1.pp1.dp8.zero3.offload=opt"),
            "the framework moves states to the host with offload=opt+param+grad alone");
  EXPECT_EQ(sentence("torchtitan-fsdp", "tp1.pp1.dp8.zero3.offload=opt+param+grad"), "");
}

TEST(OffloadRules, AskNoHostWhereNoClusterIsKnown) {
  const TestContext test = OffloadContext("llama-2-7b", 4096, 64);
  const RuleInput input = {
      .model = test.model, .training = test.training, .profile = test.profile, .devices = 8};
  EXPECT_FALSE(CheckLayout(input, MakeLayout("tp1.pp1.dp8.offload=act:4+opt")));
}

}  // namespace
}  // namespace meshwright::planner
