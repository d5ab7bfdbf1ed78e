// AnswerExport() answers the request of a command or of a server's client to export a layout.
// ExportAs() exports a job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/catalog/plan_query.h"
#include "planner/interchange/export_job.h"
#include "planner/interchange/exported_job.h"
#include "planner/interchange/launch_script.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// The sequence length in tokens if an ExportQuestion has none.
inline constexpr int64_t kUnsaidSeqLen = 4096;

struct ExportQuestion {
  std::string to;  // a framework's name
  SpecSource model;
  std::optional<SpecSource> cluster = {};  // gives the devices of a node
  std::string layout;                      // in text form
  // A `seq_len` of 0 stands for kUnsaidSeqLen, and a `global_batch` of 0 for dp * pp micro-batches.
  TrainingSpec training;
  // Devices of a node. Default: the cluster's, or 8 without a cluster.
  std::optional<int32_t> devices_per_node = {};
  std::string launch = {};  // names a LaunchForm; empty: torchrun, or the framework's own file
  std::string batch_template = {};  // LaunchRequest::batch_template, for a batch file only
};

struct ExportAnswer {
  std::string to;
  ExportJob job;
  ExportedJob exported;
  LaunchForm launch = LaunchForm::kTorchrun;
  std::string text;       // the script, or the framework's file
  std::string file_name;  // under which to save `text`
  std::string script;
  std::vector<std::string> taken;  // messages: what was assumed for a missing value
};

// `to` names the framework. With `with_launch`, ExportAnswer::text is the launch script even if the
// framework's export is a file of its own. Returns InvalidArgument for an unknown framework and for
// a job that the framework can't express.
absl::StatusOr<ExportAnswer> ExportAs(const std::string& to, const ExportJob& job,
                                      const LaunchRequest& launch, bool with_launch);

// `host_cores` is as in FindCluster(). Returns InvalidArgument about a field of the question that
// is wrong, and every error of MakeExportedJob() and LaunchScript().
absl::StatusOr<ExportAnswer> AnswerExport(const ExportQuestion& question, int32_t host_cores);

}  // namespace meshwright::planner
