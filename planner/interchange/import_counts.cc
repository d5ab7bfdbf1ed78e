#include "planner/interchange/import_counts.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "planner/catalog/catalog.h"

namespace meshwright::planner {
namespace {

class DeviceCounter {
 public:
  explicit DeviceCounter(ImportState& state) : s_(state) {}

  void Run() {
    if (!s_.settings.CountOf("mb") && !IsListed(s_.framework.needed, "mb")) s_.AskFor("mb");
    const int64_t stage = s_.CountOr("tp", 1) * s_.CountOr("cp", 1);
    if (stage > kMostCounted || stage * s_.CountOr("pp", 1) > kMostCounted) return TooMany();
    const int64_t others = stage * s_.CountOr("pp", 1);
    const auto shards = s_.settings.CountOf("shards");
    const auto copies = s_.settings.CountOf("copies");
    int64_t devices = s_.question.devices.value_or(s_.CountOr("gpus", 0));
    if (devices == 0 && s_.settings.CountOf("gpus_per_node")) {
      devices = s_.CountOr("gpus_per_node", 1) * s_.CountOr("nodes", 1);
    }
    const int64_t micro = s_.CountOr("mb", 1) * s_.CountOr("accumulation", 1);
    int64_t dp = 0;
    if (devices == 0 && s_.settings.CountOf("dp")) {
      dp = s_.CountOr("dp", 1);
    } else if (devices > 0) {
      dp = devices / others;
      if (devices % others != 0) {
        s_.lacks = true;
        s_.imported.missing.push_back(
            absl::StrCat(devices, " devices are not a multiple of tp * cp * pp = ", others,
                         "; --gpus N gives their number"));
        return;
      }
    } else if (shards && copies) {
      dp = *shards * *copies;
    } else if (s_.settings.CountOf("global_batch") && s_.settings.CountOf("accumulation") &&
               s_.settings.CountOf("mb") && s_.CountOr("global_batch", 1) % micro == 0) {
      dp = s_.CountOr("global_batch", 1) / micro;
    }
    if (dp > kMostCounted / others) return TooMany();
    if (dp == 0) {
      s_.lacks = true;
      s_.imported.missing.emplace_back("the number of devices is missing; --gpus N gives it");
      return;
    }
    s_.settings.Set("dp", dp);
    s_.imported.devices = dp * others;
    if (!copies && shards && dp % *shards == 0) s_.settings.Set("copies", dp / *shards);
    if (copies && shards && *copies * *shards != dp) {
      s_.RejectSetting("shards", absl::StrCat(*copies, " * ", *shards, " ranks are not the ", dp,
                                              " of dp on ", devices, " devices"));
    }
    CountBatch(dp);
    ShardStates(dp);
  }

 private:
  void TooMany() {
    s_.lacks = true;
    s_.imported.missing.push_back(
        absl::StrCat("the layout has more than ", kMostCounted, " devices; --gpus N gives fewer"));
  }

  void CountBatch(int64_t dp) {
    const auto accumulation = s_.settings.CountOf("accumulation");
    const auto micro = s_.settings.CountOf("mb");
    const auto batch = s_.settings.CountOf("global_batch");
    const auto rank_batch = s_.settings.CountOf("rank_batch");
    const int64_t step = accumulation.value_or(1) * micro.value_or(1);
    if (step > kMostCounted) {
      s_.RejectSetting("accumulation",
                       absl::StrCat("makes more than ", kMostCounted, " sequences"));
    } else if (!batch && rank_batch) {
      s_.settings.Set("global_batch", *rank_batch * dp);
    } else if (!batch && accumulation && micro) {
      s_.settings.Set("global_batch", step * dp);
    } else if (batch && micro && *batch % (*micro * dp) != 0) {
      s_.RejectSetting("global_batch", absl::StrCat("must be a multiple of ", *micro, " * ", dp,
                                                    ", the micro-batch on every rank of dp"));
    } else if (batch && micro && accumulation && step * dp != *batch &&
               s_.said.count("accumulation") != 0) {
      s_.RejectSetting("accumulation", absl::StrCat("must be ", *batch / (*micro * dp), " on ", dp,
                                                    " ranks of dp for a batch of ", *batch));
    }
  }

  // Nothing is sharded on one rank. With copies, states are divided among the ranks of one copy.
  void ShardStates(int64_t dp) {
    const int64_t replicas = dp * s_.CountOr("cp", 1);
    if (replicas == 1) s_.settings.Set("zero", "0");
    const int64_t copies = s_.CountOr("copies", 1);
    if (s_.settings.TextOf("zero", "0") == "0" || copies == 1) return;
    if (replicas % copies != 0) {
      s_.RejectSetting("copies", absl::StrCat("must divide the ", replicas, " ranks of dp * cp"));
    } else if (replicas / copies == 1) {
      s_.settings.Set("zero", "0");
    } else {
      s_.settings.Set("hs", replicas / copies);
    }
  }

  ImportState& s_;
};

}  // namespace

void CountDevices(ImportState& state) { DeviceCounter(state).Run(); }

void CountChunks(ImportState& state) {
  const auto chunk = state.settings.CountOf("chunk_layers");
  const auto layers = state.settings.CountOf("layers");
  const int64_t pp = state.CountOr("pp", 1);
  if (chunk && !layers) return state.RejectSetting("chunk_layers", "needs the number of layers");
  if (chunk && *layers % (pp * *chunk) != 0) {
    return state.RejectSetting("chunk_layers",
                               absl::StrCat("must divide the ", *layers, " layers over pp ", pp));
  }
  if (chunk) state.settings.Set("vpp", *layers / (pp * *chunk));
  if (state.settings.Find("sched") == nullptr) {
    state.settings.Set("sched", state.CountOr("vpp", 1) > 1 ? "interleaved" : "1f1b");
  }
  const bool has_experts = state.settings.CountOf("num_experts") || state.CountOr("ep", 1) > 1;
  if (state.settings.Find("etp") != nullptr || !has_experts) return;
  const absl::StatusOr<FrameworkProfile> profile = FindProfile(state.framework.profile);
  if (profile.ok() && profile->supports.etp_follows_tp)
    state.settings.Set("etp", state.CountOr("tp", 1));
}

}  // namespace meshwright::planner
