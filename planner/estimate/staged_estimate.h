// StagedEstimate computes memory and step time of many consecutive layouts of a search. A value
// that depends only on some axes is computed once for all layouts that share these axes.
//
// There are four levels:
// - For a mesh: the memory and time of its layers under each micro-batch, sequence parallelism and
//   recompute. Meshes with the same tp, cp and division of experts share these values.
// - For a mesh, the contents of its pipeline and a way to divide states (a ZeRO stage and hs=): the
//   bytes of states, the gradient traffic and the optimizer's time.
// - For a cell and each recompute mode: what the fullest ranks keep, and the time of the
//   micro-batches. A cell is a pipeline, a micro-batch and sequence parallelism on or off.
// - For a layout: a few sums of these values.
//
// MemoryBytes() equals EstimateMemory().total_bytes(). Times differ from EstimateStepTime() by at
// most the relative error kStagedError. Covers() says which frameworks and layouts are covered. (1)
// The memory of the framework must follow from its profile. (2) Neither the layout nor the
// optimizer may move anything to the hosts. (3) The schedule must not divide the vocabulary over
// the stages. REQUIRES: layouts name no kernel.
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

// The largest relative difference of times from EstimateStepTime(), which adds up the same terms in
// a different order.
inline constexpr double kStagedError = 1e-12;

// The specs of the context must outlive this object.
class StagedEstimate {
 public:
  StagedEstimate(const EstimateContext& context, int64_t devices);

  // Returns whether the layout is covered. The caller estimates other layouts one by one.
  static bool Covers(const EstimateContext& context, const Layout& layout) {
    return context.profile.engine != Engine::kWorker && !layout.offload.any() &&
           !context.training.optimizer.paged && !DividesVocabulary(layout.schedule);
  }

  // Makes another mesh the current one. It has `ways_to_divide` ways to divide states, which the
  // caller numbers from 0.
  void EnterMesh(size_t ways_to_divide);
  // Makes the cell of `layout` in the current mesh the current cell. `pipeline` is the pipeline's
  // number among those with `layout.pp` ranks, the same in every mesh. REQUIRES: CheckLayout()
  // accepts the layout.
  void EnterCell(const Layout& layout, size_t pipeline);

  // Returns the bytes on the fullest device of a layout of the current cell. `way` is the number of
  // the layout's way to divide states.
  int64_t MemoryBytes(const Layout& layout, size_t way);
  // Returns the seconds of the layout's step if the share `fraction_of_device` of the fullest
  // device's memory is filled.
  double StepSeconds(const Layout& layout, size_t way, double fraction_of_device);
  double MfuOf(double step_s) const { return mfu_seconds_ / step_s; }

  int64_t MostLayersOfAChunk() const { return contents_->most_layers_of_a_chunk(); }

 private:
  // Layers of one micro-batch under one mode of recompute.
  struct Blocks {
    UnitTimes times;
    ShapeSums sums;
    std::vector<std::shared_ptr<const TowerSums>> towers;
    double hop_bytes = 0.0;
    // Times of a pipeline's ranks, by Pipeline::number. Not used under rc=block:N, because the
    // times then depend on N.
    std::vector<std::unique_ptr<const PipelineRanks>> ranks;
  };
  struct Batch {
    int32_t micro_batch = 1;
    bool sequence_parallel = false;
    int64_t vocab_ranks = 1;
    std::vector<std::unique_ptr<Blocks>> blocks;  // by RecomputeNumber()
  };
  // The quantities on which layers depend, besides micro-batch, sequence parallelism and recompute.
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
    size_t number = 0;  // pipelines with equal contents have the same number
  };
  // The states of a pipeline's contents under one way to divide states.
  struct States {
    struct Rank {
      int64_t fixed_bytes = 0;           // bytes held throughout the step
      int64_t optimizer_step_bytes = 0;  // bytes held only while no activations are held
      TransitParameters parameters;
    };
    uint64_t mesh = 0;        // the mesh for which this was computed
    std::vector<Rank> ranks;  // by PipelineContents::ranks()
    TransitParameters largest_unit;
    StateTraffic traffic;
    // Seconds of the optimizer and of the reductions for tied embeddings and selection biases.
    double apart_s = 0.0;
  };
  // Memory and time of a cell's layouts under one mode of recompute.
  struct Kept {
    struct Rank {
      size_t contents = 0;
      int64_t bytes = 0;  // activations, loss and workspace, without gathered states
      int64_t fragmentation_bytes = 0;
    };
    uint64_t cell = 0;   // the cell for which this was computed
    int32_t layers = 0;  // N of rc=block:N
    std::vector<Rank> ranks;
    double pipeline_s = 0.0;  // PipelineTime()
    double backward_s = 0.0;  // seconds of one micro-batch's backward on the slowest rank
    double slowest_s = 0.0;   // seconds of its forward and backward on that rank
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
  // Returns the layout's Recompute as a number. Each set of named modules has its own number.
  size_t RecomputeNumber(const Layout& layout) {
    return layout.recompute == Recompute::kModules ? NumberOf(layout.recompute_modules)
                                                   : static_cast<size_t>(layout.recompute);
  }
  size_t NumberOf(const RecomputeModules& modules);
  Kept::Rank KeptOn(const Layout& layout, const Blocks& blocks, const RankInFlight& rank) const;
  PipelineRanks RanksOf(const Layout& layout, const Blocks& blocks) const;

  const EstimateContext context_;
  const Network network_;
  const double mfu_seconds_;  // seconds of a step at an MFU of 1
  PipelineLinks links_;

  std::vector<std::vector<Pipeline>> pipelines_;    // by pp, then by the caller's number
  std::vector<const PipelineContents*> different_;  // by Pipeline::number
  // Layers under the tp and cp of the current mesh.
  std::vector<std::unique_ptr<LayerMesh>> layer_meshes_;
  std::vector<States> states_;  // by Pipeline::number, then by way to divide

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
  std::vector<RecomputeModules> module_sets_;  // the sets of modules seen so far
  std::vector<Kept> kept_;                     // by RecomputeNumber()
};

}  // namespace meshwright::planner
