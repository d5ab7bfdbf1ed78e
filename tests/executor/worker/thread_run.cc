#include "tests/executor/worker/thread_run.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <chrono>
#include <thread>

#include "executor/worker/comm/cpu_device.h"
#include "executor/worker/comm/fake_communicator.h"
#include "executor/worker/run/trainer.h"
#include "executor/worker/state/rank_context.h"
#include "planner/schedule/schedule.h"
#include "planner/schedule/synchronous_sends.h"

namespace meshwright::worker {
namespace {

// Meets the other ranks at `hub`; null: there are none.
void Train(const trial::TrialPlan& plan, int32_t rank, const ThreadRunOptions& options,
           ThreadHub* hub, ThreadRank& result) {
  RankContext context;
  context.model = plan.model;
  context.layout = plan.layout;
  context.training = plan.training;
  context.seed = plan.seed;
  context.rank = rank;
  context.coordinates = CoordinatesOf(plan.layout, rank);
  context.device = options.open_device(hub);
  context.clock.Use(context.device->MakeClock());
  result.pipeline_rank = context.coordinates.pp;
  const auto timeout = std::chrono::seconds(60);
  if (hub != nullptr) {
    ConnectGroupsWith(
        context,
        [&](const GroupSpec& group) {
          auto communicator = context.device->Connect({}, group, rank);
          if (!options.wrap) return communicator;
          return options.wrap(std::move(communicator), group, rank);
        },
        timeout);
  } else {
    ConnectGroupsWith(
        context, [&](const GroupSpec& group) { return MakeFakeCommunicator(group, rank); },
        timeout);
  }
  const c10::InferenceMode no_tape;
  const auto micro_batches = static_cast<int32_t>(context.micro_batches());
  planner::ScheduleLists lists = planner::MakeSchedules(plan.layout, micro_batches).value();
  const int32_t open_sends = planner::OpenSendsNeeded(plan.layout, micro_batches, lists);
  {
    Trainer trainer(context, std::move(lists[context.coordinates.pp]), open_sends);
    trainer.PadActions(options.padding);
    if (options.rehearse) trainer.Rehearse();
    if (!options.gradients_folder.empty()) trainer.DumpGradientsTo(options.gradients_folder);
    for (int32_t step = 0; step < plan.steps; ++step) {
      StepResult done = trainer.Step(step);
      if (done.loss.has_value()) result.losses.push_back(*done.loss);
      result.gradient_square_sums.push_back(done.gradient_square_sum);
      result.records.push_back(std::move(done.record));
      result.expert_rows.push_back(std::move(done.expert_rows));
    }
    result.peak_in_flight = trainer.peak_in_flight();
    for (size_t layer = 0; layer < context.selection_biases.size(); ++layer) {
      const at::Tensor bias = context.selection_biases.of(layer).to(at::kCPU, at::kDouble);
      const double* values = bias.const_data_ptr<double>();
      result.selection_biases.emplace_back(values, values + bias.numel());
    }
  }
  result.peak_bytes = context.device->PeakMemory().allocated_bytes;
  result.host_peak_bytes = context.host_memory.peak_bytes();
  CloseGroups(context);
}

}  // namespace

std::unique_ptr<Device> OpenCpuRank(ThreadHub* hub) { return std::make_unique<CpuDevice>(hub); }

std::vector<ThreadRank> RunOnThreads(const trial::TrialPlan& plan,
                                     const ThreadRunOptions& options) {
  // The first use of ATen on a thread of its own must not race with the others.
  at::set_num_threads(1);
  InstallAccountingAllocator();
  std::vector<ThreadRank> ranks(static_cast<size_t>(plan.layout.devices()));
  ThreadHub hub;
  {
    std::vector<std::jthread> threads;
    threads.reserve(ranks.size());
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      threads.emplace_back([&, rank] {
        at::set_num_threads(1);
        try {
          Train(plan, static_cast<int32_t>(rank), options, &hub, ranks[rank]);
        } catch (const std::exception& error) {
          ranks[rank].error = error.what();
        }
      });
    }
  }
  return ranks;
}

std::vector<ThreadRank> RunAlone(const trial::TrialPlan& plan) {
  at::set_num_threads(1);
  InstallAccountingAllocator();
  std::vector<ThreadRank> ranks(static_cast<size_t>(plan.layout.devices()));
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    Train(plan, static_cast<int32_t>(rank), ThreadRunOptions(), nullptr, ranks[rank]);
  }
  return ranks;
}

}  // namespace meshwright::worker
