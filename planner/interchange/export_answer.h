// AnswerExport() writes a layout for a framework, for a command and for a server, and ExportAs() a
// job.
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

// Tokens of a sequence where an export's question does not say them.
inline constexpr int64_t kUnsaidSeqLen = 4096;

struct ExportQuestion {
  std::string to;  // a framework's name
  SpecSource model;
  std::optional<SpecSource> cluster = {};  // says how many devices a node has
  std::string layout;                      // its text form
  // A length of 0: kUnsaidSeqLen. A global batch of 0: one micro-batch for every rank of dp and pp.
  TrainingSpec training;
  // Devices of a node. Default: the cluster's, or 8 without a cluster.
  std::optional<int32_t> devices_per_node = {};
  std::string launch = {};  // what starts the run; empty: torchrun, or a file of the framework's
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
  std::vector<std::string> taken;  // a sentence for each value that the question does not say
};

// `to` names the framework. `with_launch` says that the text is the launch script even if the
// framework's export is a file of its own. Returns InvalidArgument for an unknown framework and for
// a job that the framework can't express.
absl::StatusOr<ExportAnswer> ExportAs(const std::string& to, const ExportJob& job,
                                      const LaunchRequest& launch, bool with_launch);

// `host_cores` is as in FindCluster(). Returns InvalidArgument about the question's field, and
// every error of MakeExportedJob() and LaunchScript().
absl::StatusOr<ExportAnswer> AnswerExport(const ExportQuestion& question, int32_t host_cores);

}  // namespace meshwright::planner
