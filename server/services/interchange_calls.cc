#include "server/services/interchange_calls.h"

#include <utility>

#include "base/text/status_macros.h"
#include "executor/wire/message_codec.h"
#include "executor/wire/wire.h"
#include "planner/interchange/export_answer.h"
#include "planner/interchange/export_fields.h"
#include "planner/interchange/import_answer.h"
#include "planner/interchange/import_fields.h"

namespace meshwright::server {
namespace {

// The request's `to` names the framework.
constexpr char kUnusedFramework[] = "megatron";

}  // namespace

absl::Status WriteExport(const v1::ExportRequest& request, int32_t host_cores,
                         v1::ExportResponse* response) {
  planner::ExportQuestion question;
  ASSIGN_OR_RETURN(planner::PlanQuery query, wire::FromWire(request.plan(), kUnusedFramework));
  question.to = request.to();
  question.model = std::move(query.model);
  if (request.plan().has_cluster()) question.cluster = std::move(query.cluster);
  question.layout = request.layout();
  question.training = query.training;
  if (request.has_gpus_per_node()) question.devices_per_node = request.gpus_per_node();
  question.launch = request.launch();
  ASSIGN_OR_RETURN(const planner::ExportAnswer answer, planner::AnswerExport(question, host_cores));
  *response = wire::WriteMessage<v1::ExportResponse>(answer);
  return absl::OkStatus();
}

absl::Status ReadFrameworkFiles(const v1::ImportRequest& request, v1::ImportResponse* response) {
  planner::ImportQuestion question;
  for (const v1::FrameworkFile& file : request.files()) {
    question.files.push_back({file.name(), file.text()});
  }
  question.environment = {request.environment().begin(), request.environment().end()};
  if (request.has_gpus()) question.devices = request.gpus();
  if (request.has_seq_len()) question.seq_len = request.seq_len();
  if (request.has_global_batch()) question.global_batch = request.global_batch();
  question.model = request.model();
  ASSIGN_OR_RETURN(const planner::ImportAnswer answer,
                   planner::AnswerImport(request.from(), question));
  *response = wire::WriteMessage<v1::ImportResponse>(answer);
  return absl::OkStatus();
}

}  // namespace meshwright::server
