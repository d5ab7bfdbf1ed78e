// SyntheticRuns() returns step times of invented runs, which the time model itself computes with
// constants known to the test.
#pragma once

#include <string_view>
#include <vector>

#include "planner/calibration/fit.h"
#include "planner/cost/step_time.h"
#include "tests/planner/plain_context.h"

namespace meshwright::planner {

struct Profiles {
  ClusterSpec cluster;
  FrameworkProfile profile;
};

// Returns the prior, from data sheets and byte counts, with which every fit in these tests starts.
inline Profiles PriorProfiles() {
  Profiles priors{WithNccl(PlainA100s()), {}};
  priors.cluster.scale_up.efficiency = 0.8;
  priors.cluster.scale_out.efficiency = 0.8;
  priors.cluster.device.straggler_sigma = 0.01;
  FrameworkProfile& profile = priors.profile;
  profile.name = "synthetic";
  profile.supports.vocab_multiple = 128;
  profile.traffic.host_share = 0.4;
  profile.communication.tp_hop_s = 1e-5;
  profile.communication.pipeline_hop_s = 2e-3;
  profile.traffic.step_overhead_s = 0.1;
  profile.kept.pressure_slope = 0.5;
  profile.communication.network_contention = 0.2;
  return priors;
}

// Returns the machine and framework of the runs. Each constant that the runs can determine differs
// from its prior by less than one standard deviation of the prior.
inline Profiles TrueProfiles() {
  Profiles truth = PriorProfiles();
  truth.cluster.device.matmul_efficiency *= 0.93;
  truth.cluster.device.memory_efficiency *= 0.9;
  truth.cluster.device.attention_efficiency *= 1.1;
  truth.cluster.scale_up.efficiency *= 0.9;
  truth.profile.traffic.eager_norm_traffic_bytes *= 1.5;
  truth.profile.traffic.loss_traffic_bytes *= 1.4;
  truth.profile.communication.pipeline_hop_s *= 1.7;
  truth.profile.kept.pressure_slope *= 1.3;
  return truth;
}

// Returns runs of a 13B model on 64 devices. No run uses FlashAttention-1 or writes scores to
// memory, so that the runs don't determine those constants. Every fourth run nearly fills its
// devices.
inline std::vector<FitRow> SyntheticRuns(const Profiles& truth, const Profiles& priors) {
  std::vector<FitRow> rows;
  for (const char* axes :
       {"tp1.pp1.dp64", "tp2.pp1.dp32", "tp4.pp1.dp16", "tp8.pp1.dp8", "tp1.pp2.dp32",
        "tp2.pp2.dp16", "tp4.pp2.dp8", "tp1.pp4.dp16", "tp2.pp4.dp8", "tp1.pp8.dp8"}) {
    for (const char* rest : {".mb1", ".mb2", ".mb1.norm=eager", ".mb2.rc=full", ".mb1.zero1",
                             ".mb4.norm=eager.rc=full"}) {
      FitRow row;
      row.planned.model = FindModel("hagemann-13b").value();
      row.planned.cluster = priors.cluster;
      row.planned.training = {.seq_len = 2048, .global_batch = 512};
      row.planned.profile = &priors.profile;
      row.planned.devices = 64;
      row.layout = MakeLayout((std::string(axes) + rest).c_str());
      row.fraction_of_device = rows.size() % 4 == 0 ? 0.95 : 0.6;
      const EstimateContext context{row.planned.model, truth.cluster, row.planned.training,
                                    truth.profile};
      row.step_s = EstimateStepTime(context, row.layout, row.fraction_of_device).step_s();
      rows.push_back(row);
    }
  }
  return rows;
}

inline const CalibratedConstant* FindConstant(const FitResult& fit, std::string_view name) {
  for (const Calibration* calibration : {&fit.cluster.calibration, &fit.profile.calibration}) {
    for (const CalibratedConstant& constant : calibration->constants) {
      if (constant.name == name) return &constant;
    }
  }
  return nullptr;
}

}  // namespace meshwright::planner
