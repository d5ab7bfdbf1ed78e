#include "planner/measurement/run_rows.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/amounts.h"
#include "planner/block/parameters.h"
#include "planner/layout/keys.h"
#include "planner/measurement/measurement.h"
#include "planner/spec/option_choice.h"

namespace meshwright::planner {
namespace {

// Returns notes with the words that PlanRow() looks for, and with the facts that no column holds.
std::string NotesOn(const ModelSpec& model) {
  std::string notes = model.tied_embeddings ? "tied embeddings" : "untied embeddings";
  const LayerGroup& layer = model.groups.front();
  const Attention& attention = layer.attention;
  if (layer.ffn.gated()) absl::StrAppend(&notes, "; swiglu");
  if (attention.query_width() != model.hidden) {
    absl::StrAppend(&notes, "; head_dim=", attention.head_dim);
  }
  if (attention.qkv_bias) absl::StrAppend(&notes, "; qkv bias");
  if (attention.qk_norm) absl::StrAppend(&notes, "; qk norm");
  return notes;
}

void DescribeSpecs(const RunSpecs& specs, Measurement& row) {
  const ModelSpec& model = specs.model;
  const ClusterSpec& cluster = specs.cluster;
  row.source = kExportedSource;
  row.sweep = std::string(specs.sweep);
  row.model = model.name;
  row.layers = model.layers();
  row.hidden = model.hidden;
  row.ffn = model.groups.front().ffn.hidden;
  row.heads = model.groups.front().attention.heads;
  row.kv_heads = model.groups.front().attention.kv_heads;
  row.vocab = model.vocab;
  row.seq = specs.training.seq_len;
  row.gpu = cluster.gpu_names.empty() ? cluster.name : cluster.gpu_names.front();
  row.gpu_mem_gib = static_cast<double>(cluster.device.memory_bytes) / kBytesPerGib;
  row.gpus_per_node = cluster.devices_per_node;
  row.gbs = specs.training.global_batch;
  row.precision = std::string(PrecisionName(specs.training.precision));
  row.framework = std::string(specs.framework);
  row.notes = NotesOn(model);
}

// An empty cell is the default.
void DescribeRunOptions(const TrainingSpec& training, Measurement& row) {
  for (const auto& [option, value] : ChangedOptions(training)) {
    SetCell(option, value, row).IgnoreError();  // a column takes its option's
  }
}

void DescribeLayout(const Layout& layout, Measurement& row) {
  row.gpus = layout.devices();
  for (const LayoutKey& key : kLayoutKeys) {
    // An empty cell is the default.
    if (key.text == KeyText::kUnlessDefault && HasDefault(key, layout)) continue;
    SetCell(key.column, ValueText(key, layout), row).IgnoreError();  // a column takes its key's
  }
}

void DescribeResult(const RunSpecs& specs, const MeasuredRun& run, Measurement& row) {
  row.outcome = run.outcome;
  if (run.peak_bytes) row.peak_mem_gib = static_cast<double>(*run.peak_bytes) / kBytesPerGib;
  if (run.outcome != RunOutcome::kOk || !run.step_s) return;
  const int64_t devices = run.layout.devices();
  const double device_seconds = *run.step_s * static_cast<double>(devices);
  const double flops_per_s = PalmStepFlops(specs.model, specs.training) / device_seconds;
  const double tokens = static_cast<double>(specs.training.global_batch) *
                        static_cast<double>(specs.training.seq_len);
  row.step_time_s = run.step_s;
  row.mfu = flops_per_s / RankPeakFlops(specs.cluster, specs.training.precision, devices);
  row.tflops_per_gpu = flops_per_s / 1e12;
  row.tokens_per_s_per_gpu = tokens / device_seconds;
}

}  // namespace

std::string RunsToCsv(const RunSpecs& specs, absl::Span<const MeasuredRun> runs) {
  std::vector<Measurement> rows;
  for (const MeasuredRun& run : runs) {
    Measurement& row = rows.emplace_back();
    DescribeSpecs(specs, row);
    DescribeRunOptions(specs.training, row);
    DescribeLayout(run.layout, row);
    DescribeResult(specs, run, row);
  }
  return FormatMeasurements(rows);
}

}  // namespace meshwright::planner
