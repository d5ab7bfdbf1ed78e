#include "planner/estimate/step_interval.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "planner/spec/run_option_table.h"

namespace meshwright::planner {

double ShareLeftOpen(int64_t rows) {
  return static_cast<double>(kRowsThatHalve) / static_cast<double>(kRowsThatHalve + rows);
}

bool SpreadIsOfCluster(const ClusterSpec& cluster, const FrameworkProfile& profile) {
  if (profile.traffic.step_time_sigma <= 0.0) return true;
  return cluster.calibration.prior_rows > 0 &&
         cluster.device.step_time_sigma > profile.traffic.step_time_sigma;
}

double FittedSpread(const ClusterSpec& cluster, const FrameworkProfile& profile) {
  return SpreadIsOfCluster(cluster, profile) ? cluster.device.step_time_sigma
                                             : profile.traffic.step_time_sigma;
}

namespace {

// The sigma of layers comes from the 32 published rows of Nemotron 3 Nano and Super
// (nvidia_nemo_perf; docs/accuracy.md), whose root mean square is 0.52 with each model having the
// same weight. The sigma of experts is chosen: over the eight sources of rows with experts the root
// mean square is 0.12 to 1.5, with a median of 0.19. The sigma of narrow models is chosen:
// steps of Megatron-LM's functional tests, 512 wide, scatter by about that around the fit of their
// hosts. The sigma of frozen weights is chosen near 0.19, the root mean square over the three
// published rows of LoRA in bf16 (nvidia_dgxc, Llama 3 8B and 70B, planned as lora:16, as they
// don't say their rank). The sigmas of further terms, of number formats and of options are
// chosen. Published steps in fp8, mxfp8 and fp4 lie as often in their interval as those in 16 bits,
// so these formats add nothing.
constexpr std::array<UnfittedPart, 7> kUnfittedParts = {{
    {0.5, "no run with recurrences or sparse attention was fitted"},
    {0.15, "no run with such residual streams, inputs of layers or convolutions was fitted"},
    {0.3, "few runs with experts were fitted"},
    {0.2, "models this narrow wait for the host, and hosts differ"},
    {0.2, "no run that freezes weights was fitted"},
    {0.15, "no run in this number format was fitted"},
    {0.05, "no run with these options was fitted"},
}};

bool HasUnfittedLayers(const ModelSpec& model) {
  return std::any_of(model.groups.begin(), model.groups.end(), [](const LayerGroup& group) {
    return group.recurrence.exists() || group.attention.index.exists() ||
           group.attention.kind == AttentionKind::kCompressed;
  });
}

bool HasUnfittedTerms(const ModelSpec& model) {
  const Attention& attention = model.FirstAttention();
  return model.residual_streams > 1 || model.layer_input > 0 || attention.relative_dim > 0 ||
         attention.query_key_conv > 0;
}

// Options that choose a profile are fitted with it, and trained parts are a kind of their own.
// Padding, and documents as long as a sequence, change nothing.
bool HasUnfittedOptions(const TrainingSpec& training) {
  RunOptions options = training.options;
  options.train = {};
  if (options.pads_documents || options.document_tokens >= training.seq_len) {
    options.document_tokens = 0;
    options.pads_documents = false;
  }
  return std::any_of(kRunOptions.begin(), kRunOptions.end(), [&](const RunOption& option) {
    return !option.chooses_profile && !HasDefault(option, options);
  });
}

// By how much sources differ, by EvidenceLevel. Profiles and clusters that were never fitted have a
// spread of 0.2 of their own, which holds the difference.
constexpr std::array<double, kEvidenceLevelNames.size()> kBetweenSources = {0.0, 0.1, 0.15, 0.0,
                                                                            0.0};
// By how much layouts of one user scatter under a framework that was never fitted: chosen, about as
// layouts scatter around a fit.
constexpr double kAssumedOwn = 0.06;
// The share of the variance of an unfitted part that differs between layouts: chosen. Experts cost
// more than predicted under one division of the devices, and less under another.
constexpr double kUnfittedOwnShare = 0.5;
// Share of kEightyPercentSigmas on either side of the prediction: the medians over files that were
// left out of all fits, whose steps were slower than predicted more often than faster.
constexpr double kFastSide = 0.85;
constexpr double kSlowSide = 1.2;

}  // namespace

std::string_view EvidenceLevelName(EvidenceLevel level) {
  return NameOf(kEvidenceLevelNames, level);
}

EvidenceLevel LevelOf(const ClusterSpec& cluster, const FrameworkProfile& profile) {
  const bool chip = cluster.calibration.rows > 0 && cluster.unmeasured.empty();
  if (chip && cluster.calibration.prior_rows > 0) return EvidenceLevel::kFittedSource;
  const bool framework = profile.calibration.rows > 0;
  if (chip && framework) return EvidenceLevel::kFrameworkAndChip;
  if (framework) return EvidenceLevel::kFramework;
  return chip ? EvidenceLevel::kChip : EvidenceLevel::kNeither;
}

ErrorSigma StepErrorAt(EvidenceLevel level, const ClusterSpec& cluster,
                       const FrameworkProfile& profile, const EnumSet<Unfitted>& unfitted) {
  const double total = std::hypot(StepTimeSigma(cluster, profile, unfitted),
                                  kBetweenSources[static_cast<size_t>(level)]);
  const Calibration& calibration =
      SpreadIsOfCluster(cluster, profile) ? cluster.calibration : profile.calibration;
  double unfitted_variance = 0.0;
  unfitted.ForEach([&](Unfitted part) {
    unfitted_variance += UnfittedPartOf(part).sigma * UnfittedPartOf(part).sigma;
  });
  const double scatter = calibration.rows > 0 ? FittedSpread(cluster, profile) : kAssumedOwn;
  const double own =
      std::min(total, std::sqrt(scatter * scatter + kUnfittedOwnShare * unfitted_variance));
  return {.shared = std::sqrt(total * total - own * own), .own = own};
}

StepInterval StepIntervalOf(const ClusterSpec& cluster, const FrameworkProfile& profile,
                            const EnumSet<Unfitted>& unfitted, EvidenceLevel level) {
  const double width =
      kEightyPercentSigmas * StepErrorAt(level, cluster, profile, unfitted).total();
  return {.low = std::exp(-kFastSide * width), .high = std::exp(kSlowSide * width)};
}

const UnfittedPart& UnfittedPartOf(Unfitted unfitted) {
  return kUnfittedParts[static_cast<size_t>(unfitted)];
}

EnumSet<Unfitted> UnfittedOf(const ModelSpec& model, const TrainingSpec& training,
                             DeviceKind kind) {
  EnumSet<Unfitted> unfitted;
  if (HasUnfittedLayers(model)) unfitted.Add(Unfitted::kLayers);
  if (HasUnfittedTerms(model)) unfitted.Add(Unfitted::kTerms);
  if (model.has_experts()) unfitted.Add(Unfitted::kExperts);
  if (model.hidden > 0 && model.hidden <= kNarrowHidden) unfitted.Add(Unfitted::kNarrow);
  if (!training.options.train.all()) unfitted.Add(Unfitted::kFrozenWeights);
  const bool wide = training.precision == Precision::kFp64 ||
                    (training.precision == Precision::kFp32 && !SharesCores(kind));
  if (wide) unfitted.Add(Unfitted::kNumberFormat);
  if (HasUnfittedOptions(training)) unfitted.Add(Unfitted::kOptions);
  return unfitted;
}

double StepTimeSigma(const ClusterSpec& cluster, const FrameworkProfile& profile,
                     const EnumSet<Unfitted>& unfitted) {
  const int64_t rows = cluster.calibration.rows + cluster.calibration.prior_rows;
  const double left_open = cluster.unmeasured.empty() ? ShareLeftOpen(rows) : 1.0;
  double sigma = rows == 0
                     ? std::hypot(profile.traffic.step_time_sigma, cluster.device.step_time_sigma)
                     : std::hypot(FittedSpread(cluster, profile), kDataSheetSigma * left_open);
  unfitted.ForEach([&](Unfitted part) { sigma = std::hypot(sigma, UnfittedPartOf(part).sigma); });
  return sigma;
}

double StepSpread(const ClusterSpec& cluster, const FrameworkProfile& profile,
                  const EnumSet<Unfitted>& unfitted) {
  return std::exp(kEightyPercentSigmas * StepTimeSigma(cluster, profile, unfitted));
}

}  // namespace meshwright::planner
