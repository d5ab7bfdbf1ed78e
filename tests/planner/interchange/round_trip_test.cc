// What an export writes, the import reads as the same layout, options and request.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "planner/catalog/catalog.h"
#include "planner/interchange/export.h"
#include "planner/interchange/import.h"
#include "planner/layout/keys.h"
#include "planner/layout/mesh.h"
#include "planner/spec/run_option_table.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

class RandomJobs {
 public:
  explicit RandomJobs(uint32_t seed) : random_(seed) {
    for (const char* name : {"llama-3-8b", "qwen3-8b", "mixtral-8x7b"}) {
      models_.push_back(*FindModel(name));
    }
    models_.front().rope_scaling = {.kind = RopeScalingKind::kLlama3, .factor = 8.0};
  }

  ExportJob Next() {
    ExportJob job;
    job.model = models_[OneOf<size_t>({0, 1, 2})];
    job.training = {.seq_len = 4096, .global_batch = OneOf<int64_t>({64, 96, 256})};
    job.training.precision =
        OneOf({Precision::kBf16, Precision::kBf16, Precision::kFp8Current, Precision::kFp32});
    Layout& l = job.layout;
    l.tp = OneOf({1, 1, 2, 4});
    l.cp = OneOf({1, 1, 2});
    l.pp = OneOf({1, 1, 2, 4});
    l.dp = OneOf({1, 2, 4, 8});
    l.micro_batch = OneOf({1, 2, 4});
    l.zero = OneOf({0, 1, 2, 3, 3});
    if (GroupSize(GroupRole::kReplicas, l) == 1) l.zero = 0;
    l.sequence_parallel = l.tp > 1 && Flip();
    if (job.model.has_experts()) {
      l.ep = OneOf({1, 2, 4});
      l.etp = OneOf({1, 2});
    }
    l.vpp = l.pp > 1 ? OneOf({1, 1, 2, 4}) : 1;
    l.schedule = l.vpp > 1 ? OneOf({ScheduleKind::kInterleaved, ScheduleKind::kBreadthFirst})
                           : ScheduleKind::k1f1b;
    if (l.zero > 0 && OneOf({0, 0, 1}) == 1) l.shard_ranks = OneOf({2, 4});
    if (l.shard_ranks >= GroupSize(GroupRole::kReplicas, l)) l.shard_ranks = 0;
    const auto rc =
        OneOf<const char*>({"none", "none", "selective", "full", "block:2", "layernorm+moe_act"});
    EXPECT_TRUE(ParseRecompute(rc, l).ok());
    if (l.pp == 2 && l.vpp == 1 && Flip()) l.stages = *ParseStageSplit("15+17");
    l.attention = OneOf({AttentionKernel::kDefault, AttentionKernel::kDefault,
                         AttentionKernel::kCudnn, AttentionKernel::kFusedSoftmax});
    const auto offload =
        OneOf<const char*>({"", "", "", "opt", "act:2", "opt+param", "opt+param+grad"});
    if (*offload != '\0') l.offload = *ParseOffload(offload);
    if (OneOf({0, 0, 1}) == 1) {
      const auto set = [&](size_t option, const char* text) {
        (void)kRunOptions[option].read(text, job.training.options);
      };
      set(0, OneOf<const char*>({"default", "precision-aware", "bf16-grads"}));
      set(1, OneOf<const char*>({"plain", "chunked:8"}));
      set(3, OneOf<const char*>({"default", "on", "off"}));
    }
    return job;
  }

 private:
  template <typename T>
  T OneOf(std::initializer_list<T> values) {
    return *(values.begin() + std::uniform_int_distribution<size_t>(0, values.size() - 1)(random_));
  }
  bool Flip() { return OneOf({0, 1}) == 1; }

  std::mt19937 random_;
  std::vector<ModelSpec> models_;
};

std::string OptionsText(const RunOptions& options) {
  std::string text;
  for (const RunOption& option : kRunOptions) {
    if (!HasDefault(option, options)) text += option.text(options) + " ";
  }
  return text;
}

class RoundTrip : public testing::TestWithParam<ExportTarget> {};

TEST_P(RoundTrip, OfFiveHundredLayoutsIsExact) {
  const ExportTarget target = GetParam();
  const Framework& framework = **FindFramework("to", ExportTargetName(target));
  RandomJobs jobs(17);
  int seen = 0;
  for (int i = 0; i < 2'000'000 && seen < 500; ++i) {
    ExportJob job = jobs.Next();
    // A comment says that torchtitan chooses the kernel.
    if (target == ExportTarget::kTorchtitan) job.layout.attention = AttentionKernel::kDefault;
    const auto text = Export(target, job);
    if (!text.ok()) continue;
    ++seen;
    ImportQuestion question;
    question.files.push_back({"file", *text});
    question.environment["MODEL"] = job.model.name;
    // Where a comment alone says the devices, the launch line does.
    if (framework.syntax == ConfigSyntax::kYaml || framework.syntax == ConfigSyntax::kPython) {
      question.devices = job.layout.devices();
    }
    if (target == ExportTarget::kAutomodel) {  // its file does not say them
      question.further.push_back({"layers", std::to_string(job.model.layers())});
    }
    const auto imported = Import(framework, question);
    ASSERT_TRUE(imported.ok()) << imported.status() << *text;
    ASSERT_TRUE(imported->layout) << imported->missing.front() << "\n" << *text;
    ASSERT_EQ(FormatLayout(*imported->layout), FormatLayout(job.layout)) << *text;
    for (const ImportedEntry& entry : imported->entries) {
      if (entry.name == "--recipe") continue;  // the environment names it
      ASSERT_NE(entry.status, EntryStatus::kRejected)
          << entry.name << " " << entry.value << ": " << entry.hint << "\n"
          << *text;
    }
    EXPECT_EQ(imported->global_batch, job.training.global_batch);
    EXPECT_EQ(imported->devices, job.layout.devices());
    RunOptions options;
    for (const auto& [name, value] : imported->options) {
      for (const RunOption& option : kRunOptions) {
        if (option.name == name) {
          ASSERT_TRUE(option.read(value, options).ok());
        }
      }
    }
    options.dispatcher = job.training.options.dispatcher;  // always written
    if (job.training.options.compile == Compile::kDefault) options.compile = Compile::kDefault;
    ASSERT_EQ(OptionsText(options), OptionsText(job.training.options)) << *text;
  }
  EXPECT_EQ(seen, 500);
}

INSTANTIATE_TEST_SUITE_P(Each, RoundTrip,
                         testing::Values(ExportTarget::kMegatron, ExportTarget::kMegatronBridge,
                                         ExportTarget::kTorchtitan, ExportTarget::kAccelerate,
                                         ExportTarget::kDeepspeed, ExportTarget::kLlamaFactory,
                                         ExportTarget::kAxolotl, ExportTarget::kSwift,
                                         ExportTarget::kVerl, ExportTarget::kAutomodel,
                                         ExportTarget::kNanotron),
                         [](const auto& test) {
                           std::string name(ExportTargetName(test.param));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(HybridRoundTrip, IsTheSameLayout) {
  for (const char* layout : {"tp2.pp2.dp4.zero1.sp1", "tp2.pp4.dp4.ep4.sp1"}) {
    const ExportJob job = {.model = FindModel("nemotron-3-nano-30b-a3b").value(),
                           .training = {.seq_len = 4096, .global_batch = 64},
                           .layout = MakeLayout(layout)};
    const auto text = Export(ExportTarget::kMegatron, job);
    ASSERT_TRUE(text.ok()) << text.status();
    const auto imported = Import(MegatronFramework(), {.files = {{"file", *text}}});
    ASSERT_TRUE(imported.ok() && imported->layout) << *text;
    EXPECT_EQ(FormatLayout(*imported->layout), FormatLayout(job.layout)) << *text;
    for (const ImportedEntry& entry : imported->entries) {
      EXPECT_NE(entry.status, EntryStatus::kRejected) << entry.name << ": " << entry.hint;
    }
  }
}

struct AdapterExport {
  ExportTarget target;
  const char* layout;
  std::vector<const char*> trained;
};

class AdapterRoundTrip : public testing::TestWithParam<AdapterExport> {};

TEST_P(AdapterRoundTrip, IsTheSameAdapter) {
  const Framework& framework = **FindFramework("to", ExportTargetName(GetParam().target));
  for (const char* trained : GetParam().trained) {
    ExportJob job = {.model = FindModel("llama-3-8b").value(),
                     .training = {.seq_len = 4096, .global_batch = 64},
                     .layout = MakeLayout(GetParam().layout)};
    job.training.options.train = ParseTrainedParts(trained).value();
    const auto text = Export(GetParam().target, job);
    ASSERT_TRUE(text.ok()) << text.status();
    ImportQuestion question = {.files = {{"file", *text}}, .environment = {{"MODEL", "m"}}};
    question.devices = job.layout.devices();
    const auto imported = Import(framework, question);
    ASSERT_TRUE(imported.ok()) << imported.status();
    EXPECT_FALSE(imported->rejects()) << *text;
    EXPECT_THAT(imported->options, testing::Contains(testing::Pair(
                                       "train", TrainedPartsText(job.training.options.train))))
        << *text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, AdapterRoundTrip,
    testing::Values(AdapterExport{ExportTarget::kAccelerate,
                                  "tp1.pp1.dp8.zero3",
                                  {"lora:16", "lora:8:q_proj,v_proj", "dora:4"}},
                    AdapterExport{ExportTarget::kDeepspeed,
                                  "tp1.pp1.dp8.zero2",
                                  {"lora:16", "lora:8:q_proj,v_proj", "qlora:64"}},
                    AdapterExport{ExportTarget::kLlamaFactory,
                                  "tp1.pp1.dp8.zero2",
                                  {"lora:16", "lora:8:q_proj,v_proj", "qlora:64", "dora:4"}},
                    AdapterExport{ExportTarget::kAxolotl,
                                  "tp1.pp1.dp8.zero3",
                                  {"lora:16", "lora:8:q_proj,v_proj", "qlora:64", "dora:4"}},
                    AdapterExport{ExportTarget::kSwift,
                                  "tp2.pp1.dp4.zero1.sp1",
                                  {"lora:16", "lora:8:q_proj,v_proj"}},
                    AdapterExport{ExportTarget::kVerl,
                                  "tp1.pp1.dp8.zero3",
                                  {"lora:16", "lora:8:q_proj,v_proj"}}),
    [](const auto& test) {
      std::string name(ExportTargetName(test.param.target));
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

}  // namespace
}  // namespace meshwright::planner
