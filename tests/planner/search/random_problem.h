// RandomProblem makes search problems from random parts of models, frameworks and clusters. The
// problems are small enough for a loop over all points, but have all features that a search may
// encounter.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>

#include "planner/layout/layout_condition.h"
#include "planner/layout/offload.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {

class RandomProblem {
 public:
  explicit RandomProblem(uint32_t seed) : random_(seed) {
    context_ = MakeContext(
        OneOf<const char*>({"llama-3-8b", "llama-2-7b", "mixtral-8x7b", "deepseek-v3",
                            "deepseek-v2-lite", "gpt-oss-20b", "llama-3.2-1b", "llama-4-scout",
                            "qwen3-30b-a3b"}),
        OneOf<const char*>({"h100", "a100-40", "gb200", "local-cpu"}),
        OneOf<int64_t>({1024, 4096, 6144}), OneOf<int64_t>({8, 12, 32, 64, 96}),
        OneOf<const char*>({"megatron", "megatron", "nemo", "torchtitan-fsdp", "nanotron",
                            "megatron-deepep", "aleph-alpha-scaling", "meshwright"}));
    devices_ = OneOf<int64_t>({1, 2, 4, 6, 8, 12, 16, 24, 32});
    if (context_.profile.engine == Engine::kWorker) devices_ = std::min<int64_t>(devices_, 8);
    ChangeModel();
    ChangeProfile();
    if (seed % 4 == 0 && context_.profile.engine == Engine::kFramework) AddTower(seed);
    context_.cluster.device.memory_bytes = static_cast<int64_t>(std::pow(2.0, Between(31.0, 37.0)));
    context_.cluster.device.straggler_sigma = Flip() ? 0.0 : 0.02;
  }

  const TestContext& context() const { return context_; }

  SearchRequest Request() {
    SearchRequest request = MakeRequest(context_, devices_);
    request.top = OneOf<int32_t>({1, 5, 40});
    if (Flip()) request.max_oom_probability = Between(0.05, 1.0);
    if (OneIn(4)) request.offloads = ParseOffloads("act:1,opt").value();
    if (OneIn(4)) {
      request.runner = Runner{.profile = context_.profile};
      request.runner->profile.supports.max_zero = OneOf<int32_t>({0, 1, 3});
      request.runner->profile.supports.tp_needs_sequence_parallel = Flip();
    }
    if (OneIn(3)) {
      request.where =
          ParseLayoutCondition("where",
                               OneOf<const char*>({"tp <= 2 and not rc = block", "hs > 0 or pp = 2",
                                                   "sp = 0", "sched != 1f1b and zero >= 1",
                                                   "rc in (block, modules)", "rc = modules"}))
              .value();
    }
    request.cluster.power = {
        .compute_w = 700.0, .exposed_w = Between(300.0, 700.0), .idle_w = 90.0, .source = {}};
    request.objective = OneOf({Objective::kMfu, Objective::kMfu, Objective::kMfu, Objective::kCost,
                               Objective::kEnergy, Objective::kMemory});
    if (Flip()) {
      request.pareto = ParseMerits("pareto", OneOf<const char*>({"mfu,memory", "memory,energy,mfu",
                                                                 "energy,memory", "energy,mfu"}))
                           .value();
    }
    if (Flip()) {
      request.best_per =
          ParseGroupFields("best_per",
                           OneOf<const char*>({"tp,pp", "rc", "mb,sched", "zero,hs,sp,vpp"}))
              .value();
    }
    request.run.threads = OneOf<int32_t>({1, 1, 2, 3});
    return request;
  }

  size_t Index(size_t size) { return std::uniform_int_distribution<size_t>(0, size - 1)(random_); }
  bool Flip() { return OneIn(2); }
  bool OneIn(size_t count) { return Index(count) == 0; }

 private:
  template <typename T>
  T OneOf(std::initializer_list<T> values) {
    return *(values.begin() + Index(values.size()));
  }
  double Between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }

  // Draws no random numbers, so that the numbers drawn later stay the same.
  void AddTower(uint32_t seed) {
    context_.model.towers = FindModel("gemma-3-4b")->towers;
    context_.training.media_tokens = seed % 3 * 256;
    constexpr std::array<const char*, 5> kTrained = {
        "full", "qlora:16:all-linear,experts", "frozen:tower,embedding,layers=0..1",
        "dora:8:q_proj,down_proj", "frozen:tower,layers=1..2"};
    context_.training.options = {.loss_chunks = seed % 8 == 0 ? 4 : 1,
                                 .document_tokens = 512,
                                 .train = ParseTrainedParts(kTrained[seed / 4 % 5]).value()};
  }

  // Leaves a few layers of each kind, so that each of a few devices holds some of them.
  void ChangeModel() {
    ModelSpec& model = context_.model;
    if (model.groups.size() > 4) model.groups.resize(4);
    for (LayerGroup& group : model.groups) group.count = OneOf<int64_t>({1, 2, 3, 4, 6});
    if (model.groups.size() == 1) model.groups.front().count = OneOf<int64_t>({4, 6, 8, 10, 12});
    model.tied_embeddings = Flip();
  }

  void ChangeProfile() {
    FrameworkProfile& profile = context_.profile;
    Supports& has = profile.supports;
    has.has_block_recompute = Flip();
    if (OneIn(3)) has.recompute_modules = {};
    has.has_breadth_first = OneIn(3);
    has.has_zb_h1 = OneIn(3);
    has.has_zb_v = OneIn(3);
    has.has_stages = OneIn(3);
    has.has_hsdp = Flip();
    has.max_zero = std::max(has.min_zero, OneOf<int32_t>({1, 2, 3, 3}));
    has.zero23_with_pipeline = Flip();
    has.kv_replication = Flip();
    if (OneIn(3)) {
      has.stage_partition = OneOf({StagePartition::kItems, StagePartition::kByCost});
    }
    if (profile.engine == Engine::kWorker) return;
    has.layered_accumulation = Flip();
    profile.kept.pressure_slope = Flip() ? 0.0 : 1.0;
    profile.kept.pressure_from = Between(0.1, 0.8);
    profile.kept.selective_recompute =
        OneOf({SelectiveRecompute::kCoreAttention, SelectiveRecompute::kNormsAndActivation});
    profile.states.step_bytes_per_parameter = Flip() ? 0.0 : 6.0;
    profile.states.step_bytes_per_owned_parameter = 6.0 - profile.states.step_bytes_per_parameter;
    profile.communication.data_parallel_overlap = OneOf({0.0, 0.5, 1.0});
    profile.communication.reduces_interleaved_groups = Flip();
    if (OneIn(3)) {
      profile.communication.mesh_order = {Axis::kTp, Axis::kPp, Axis::kCp, Axis::kDp};
    }
    // Later draws stay those of problems without these schedules.
    const std::mt19937 before = random_;
    has.has_zb_h2 = OneIn(3);
    has.has_v_half = OneIn(3);
    has.has_vocab_parallel = OneIn(3);
    random_ = before;
  }

  std::mt19937 random_;
  TestContext context_;
  int64_t devices_ = 1;
};

}  // namespace meshwright::planner
