// StagedEstimate computes memory and step time of many consecutive layouts of a search: what a
// subset of their axes decides is computed once and kept in flat arrays.
//
// There are four levels. For a mesh: its layers by (micro-batch, sequence parallel, recompute),
// which meshes with the same tp, cp and experts share. For a mesh, its pipeline's contents and each
// way to divide states: bytes of states, gradient traffic, the optimizer's time. For a pipeline, a
// micro-batch, sequence parallel and each recompute: what the fullest ranks keep, and the time of
// the micro-batches. A layout is then a few sums of these.
//
// MemoryBytes() equals EstimateMemory().total_bytes(), and times agree with EstimateStepTime() to
// kStagedError. It covers frameworks whose memory follows from their profile, and layouts that move
// nothing to the hosts and name no kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "planner/cost/data_parallel.h"
#include "planner/cost/pipeline_time.h"
#include "planner/estimate/pipeline_contents.h"
#include "planner/profile/planned_layout.h"

namespace meshwright::planner {

// Largest relative difference of times from those of a single estimate, whose sums are in another
// order.
inline constexpr double kStagedError = 1e-12;

// Refers to what the context refers to.
class StagedEstimate {
 public:
  StagedEstimate(const EstimateContext& context, int64_t devices);

  // Returns whether the layout is covered. Others are estimated by themselves.
  static bool Covers(const EstimateContext& context, const Layout& layout) {
    return context.profile.engine != Engine::kWorker && !layout.offload.any();
  }

  // Moves on to another mesh. Its layouts have `ways_to_divide` ways to divide states, which the
  // caller numbers from 0.
  void EnterMesh(size_t ways_to_divide);
  // Moves on to another pipeline, micro-batch or sequence parallel of the mesh. `pipeline` is the
  // number of the pipeline among those with `layout.pp` ranks, the same for every mesh. Requires a
  // layout that CheckLayout() accepts.
  void EnterCell(const Layout& layout, size_t pipeline);

  // Returns the bytes on the fullest device of a layout of the cell, whose ZeRO and hs= have the
  // number `way`.
  int64_t MemoryBytes(const Layout& layout, size_t way);
  // Returns the seconds of its step, with `fraction_of_device` of the memory filled.
  double StepSeconds(const Layout& layout, size_t way, double fraction_of_device);
  double MfuOf(double step_s) const { return mfu_seconds_ / step_s; }

  int64_t MostLayersOfAChunk() const { return contents_->most_layers_of_a_chunk(); }

 private:
  // Layers of one micro-batch under one mode of recompute.
  struct Blocks {
    UnitTimes times;
    std::vector<std::shared_ptr<const BlockSums>> sums;  // by the model's groups
    double hop_bytes = 0.0;
    // Times of a pipeline's ranks, by number of their contents; not under rc=block:N.
    std::vector<std::unique_ptr<const PipelineRanks>> ranks;
  };
  struct Batch {
    int32_t micro_batch = 1;
    bool sequence_parallel = false;
    std::vector<std::unique_ptr<Blocks>> blocks;  // by RecomputeNumber()
  };
  // What layers depend on in addition to the batch and recompute.
  struct LayerMesh {
    int32_t tp = 1;
    int32_t cp = 1;
    int32_t ep = 1;
    int32_t etp = 1;
    bool keeps_gathered_inputs = false;
    RankGroup tensor = {};
    RankGroup context = {};
    RankGroup experts = {};
    RankGroup expert_tensor = {};
    std::vector<std::unique_ptr<Batch>> batches = {};

    bool IsSameMesh(const LayerMesh& other) const {
      return tp == other.tp && cp == other.cp && ep == other.ep && etp == other.etp &&
             keeps_gathered_inputs == other.keeps_gathered_inputs && tensor == other.tensor &&
             context == other.context && experts == other.experts &&
             expert_tensor == other.expert_tensor;
    }
  };
  struct Pipeline {
    std::unique_ptr<PipelineContents> contents;
    size_t number = 0;  // of its contents, among all different ones
  };
  // One of a mesh's ways to divide the states of a pipeline's contents.
  struct States {
    struct Rank {
      int64_t fixed_bytes = 0;           // everything but activations
      int64_t optimizer_step_bytes = 0;  // while no activations are held
      int64_t parameters = 0;
    };
    uint64_t mesh = 0;        // the mesh that it was computed for
    std::vector<Rank> ranks;  // by PipelineContents::ranks()
    int64_t largest_unit = 0;
    StateTraffic traffic;
    double apart_s = 0.0;  // the optimizer and the reduction of tied embeddings
  };
  // What a cell's layouts keep and take under one mode of recompute.
  struct Kept {
    struct Rank {
      size_t contents = 0;
      int64_t bytes = 0;  // of activations, without gathered states
      int64_t fragmentation_bytes = 0;
    };
    uint64_t cell = 0;   // the cell that it was computed for
    int32_t layers = 0;  // N of rc=block:N
    std::vector<Rank> ranks;
    double pipeline_s = 0.0;  // PipelineTime()
    double backward_s = 0.0;  // of one micro-batch on the slowest rank
    double slowest_s = 0.0;   // of its forward and backward
  };

  Pipeline& PipelineOf(const Layout& layout, size_t pipeline);
  LayerMesh& LayersOf(const Layout& layout, const Mesh& mesh);
  Batch& BatchOf(const Layout& layout);
  Blocks& BlocksOf(const Layout& layout);
  const PipelineRanks& KnownRanksOf(const Layout& layout, Blocks& blocks);
  const States& StatesOf(const Layout& layout, size_t way) {
    const size_t place = contents_number_ * ways_ + way;
    if (place < states_.size() && states_[place].mesh == mesh_number_) return states_[place];
    return FillStates(layout, place);
  }
  const Kept& KeptOf(const Layout& layout) {
    const size_t number = RecomputeNumber(layout);
    if (number < kept_.size()) {
      const Kept& kept = kept_[number];
      if (kept.cell == cell_number_ && kept.layers == layout.recompute_layers) return kept;
    }
    return FillKept(layout, number);
  }
  const States& FillStates(const Layout& layout, size_t place);
  const Kept& FillKept(const Layout& layout, size_t number);
  // Returns the value of Recompute, or a number of its own for each set of named modules.
  size_t RecomputeNumber(const Layout& layout) {
    return layout.recompute == Recompute::kModules ? NumberOf(layout.recompute_modules)
                                                   : static_cast<size_t>(layout.recompute);
  }
  size_t NumberOf(const RecomputeModules& modules);
  Kept::Rank KeptOn(const Layout& layout, const Blocks& blocks, const RankInFlight& rank) const;
  PipelineRanks RanksOf(const Layout& layout, const Blocks& blocks) const;

  const EstimateContext context_;
  const Network network_;
  const double mfu_seconds_;  // of a step at an MFU of 1
  PipelineLinks links_;

  std::vector<std::vector<Pipeline>> pipelines_;          // by pp, then by the caller's number
  std::vector<const PipelineContents*> different_;        // by number
  std::vector<std::unique_ptr<LayerMesh>> layer_meshes_;  // with the tp and cp of the current mesh
  std::vector<States> states_;                            // by number of contents, then by way

  uint64_t mesh_number_ = 0;
  size_t ways_ = 0;
  LayerMesh* layers_ = nullptr;
  RankGroup pipeline_group_;

  uint64_t cell_number_ = 0;
  PipelineContents* contents_ = nullptr;
  size_t contents_number_ = 0;
  Batch* batch_ = nullptr;
  const std::vector<RankInFlight>* fullest_ = nullptr;
  int64_t micro_batches_ = 0;
  std::vector<RecomputeModules> module_sets_;  // those asked for so far
  std::vector<Kept> kept_;                     // by RecomputeNumber()
};

}  // namespace meshwright::planner
