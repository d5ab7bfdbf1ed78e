#include "executor/worker/run/weight_gatherer.h"

#include <algorithm>
#include <stdexcept>

namespace meshwright::worker {

WeightGatherer::WeightGatherer(RankContext& context,
                               const std::vector<std::unique_ptr<Stage>>& stages,
                               const std::vector<planner::Action>& actions)
    : context_(context) {
  for (const auto& stage : stages) {
    for (const auto& unit : stage->units()) units_.push_back(unit.get());
  }
  const auto in_shards = [](const FlatUnit* unit) { return unit->zero() >= 3; };
  if (std::any_of(units_.begin(), units_.end(), in_shards)) Plan(stages, actions);
}

void WeightGatherer::Plan(const std::vector<std::unique_ptr<Stage>>& stages,
                          const std::vector<planner::Action>& actions) {
  std::map<const FlatUnit*, int32_t> numbers;
  for (const FlatUnit* unit : units_) numbers.emplace(unit, static_cast<int32_t>(numbers.size()));
  std::vector<planner::ChunkWeights> chunks;
  for (const auto& stage : stages) {
    planner::ChunkWeights& chunk = chunks.emplace_back();
    chunk.has_embedding = stage->layers().has_embedding;
    for (const WeightGroup& group : stage->weight_groups()) {
      planner::UnitGroup& units = chunk.groups.emplace_back();
      for (const FlatUnit* unit : group) units.push_back(numbers.at(unit));
    }
  }
  const bool layered = context_.layout.schedule == planner::ScheduleKind::kBreadthFirst;
  uses_ = planner::WeightUses(actions, chunks, layered);
  steps_ = planner::PlanGathers(uses_);
}

void WeightGatherer::BeginStep() {
  next_ = 0;
  if (!steps_.empty()) {
    Start(steps_.front().gather);
  } else {
    for (FlatUnit* unit : units_) Start(*unit);
  }
}

void WeightGatherer::Before(const WeightGroup& units) {
  if (steps_.empty()) {
    WaitFor(units);
    return;
  }
  CheckIsNext(units);
  if (next_ > 0) Start(steps_[next_].gather);
  WaitFor(units);
  Start(steps_[next_].prefetch);
}

void WeightGatherer::After(const WeightGroup& units) {
  if (steps_.empty()) return;
  CheckIsNext(units);
  for (const int32_t unit : steps_[next_].release) units_[unit]->ReleaseWeights();
  ++next_;
}

void WeightGatherer::Start(FlatUnit& unit) { under_way_[&unit] = unit.GatherWeights(); }

void WeightGatherer::Start(const planner::UnitGroup& numbers) {
  for (const int32_t unit : numbers) Start(*units_[unit]);
}

void WeightGatherer::WaitFor(const WeightGroup& units) {
  for (const FlatUnit* unit : units) under_way_[unit].Wait();
}

void WeightGatherer::CheckIsNext(const WeightGroup& units) const {
  const bool as_planned =
      next_ < uses_.size() &&
      std::equal(units.begin(), units.end(), uses_[next_].units.begin(), uses_[next_].units.end(),
                 [&](const FlatUnit* unit, int32_t number) { return unit == units_[number]; });
  if (!as_planned) throw std::logic_error("a stage needs weights that were not planned for it");
}

}  // namespace meshwright::worker
