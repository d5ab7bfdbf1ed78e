#include "planner/spec/run_option_table.h"

#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/text/enum_names.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"

namespace meshwright::planner::run_option {
namespace {

constexpr int64_t kMostChunks = 4096;
constexpr int64_t kMostDocumentTokens = int64_t{1} << 24;

constexpr EnumNames<StateFormat, 6> kFormatNames = {{
    {StateFormat::kNone, "none"},
    {StateFormat::kFp32, "fp32"},
    {StateFormat::kBf16, "bf16"},
    {StateFormat::kFp16, "fp16"},
    {StateFormat::kFp8, "fp8"},
    {StateFormat::kInt8, "int8"},
}};

struct NamedStates {
  std::string_view name;
  StateFormats formats;
};

constexpr StateFormat kDefault = StateFormat::kDefault;
constexpr StateFormat kNone = StateFormat::kNone;
constexpr StateFormat kFp32 = StateFormat::kFp32;
constexpr StateFormat kBf16 = StateFormat::kBf16;
constexpr StateFormat kInt8 = StateFormat::kInt8;

// precision-aware: Megatron-LM's --use-precision-aware-optimizer with --exp-avg-dtype and
// --exp-avg-sq-dtype bf16.
constexpr std::array<NamedStates, 5> kNamedStates = {{
    {"fp32", {kFp32, kFp32, kFp32, kFp32}},
    {"bf16", {kNone, kBf16, kBf16, kBf16}},
    {"adam8bit", {kNone, kBf16, kInt8, kInt8}},
    {"precision-aware", {kDefault, kDefault, kBf16, kBf16}},
    {"bf16-grads", {kDefault, kBf16, kDefault, kDefault}},
}};

constexpr std::array<std::pair<std::string_view, StateFormat StateFormats::*>, 4> kParts = {{
    {"master", &StateFormats::master},
    {"grad", &StateFormats::gradient},
    {"m", &StateFormats::first_moment},
    {"v", &StateFormats::second_moment},
}};

constexpr EnumNames<Compile, 3> kCompileNames = {{
    {Compile::kDefault, "default"},
    {Compile::kOn, "on"},
    {Compile::kOff, "off"},
}};
constexpr EnumNames<CudaGraphs, 5> kCudaGraphsNames = {{
    {CudaGraphs::kDefault, "default"},
    {CudaGraphs::kNone, "none"},
    {CudaGraphs::kAttention, "attention"},
    {CudaGraphs::kLayer, "layer"},
    {CudaGraphs::kIteration, "iteration"},
}};
constexpr EnumNames<Dispatcher, 5> kDispatcherNames = {{
    {Dispatcher::kDefault, "default"},
    {Dispatcher::kAllToAll, "alltoall"},
    {Dispatcher::kAllGather, "allgather"},
    {Dispatcher::kDeepEp, "deepep"},
    {Dispatcher::kHybridEp, "hybridep"},
}};

constexpr EnumNames<ExpertStates, 2> kExpertStatesNames = {{
    {ExpertStates::kSharded, "sharded"},
    {ExpertStates::kReplicated, "replicated"},
}};

absl::Status StatesError(std::string_view value) {
  return FieldError(
      "states", value,
      "must be fp32, bf16, adam8bit, precision-aware or bf16-grads, or a list such as "
      "master=none,grad=bf16,m=int8,v=int8: each of fp32, bf16, fp16, fp8 and int8, "
      "master also none, grad of fp32, bf16 and fp16");
}

bool Accepts(std::string_view part, StateFormat format) {
  if (part == "master") return true;
  if (format == StateFormat::kNone) return false;
  return part != "grad" || (format != StateFormat::kFp8 && format != StateFormat::kInt8);
}

// Reads one entry of a list, such as "m=int8".
bool ReadPart(std::string_view entry, StateFormats& formats) {
  for (const auto& [part, member] : kParts) {
    for (const auto& [format, name] : kFormatNames) {
      if (entry != absl::StrCat(AbslView(part), "=", AbslView(name))) continue;
      if (formats.*member != kDefault || !Accepts(part, format)) return false;
      formats.*member = format;
      return true;
    }
  }
  return false;
}

}  // namespace

std::string StatesText(const RunOptions& options) {
  if (options.states == StateFormats()) return "default";
  for (const NamedStates& named : kNamedStates) {
    if (named.formats == options.states) return std::string(named.name);
  }
  std::vector<std::string> parts;
  for (const auto& [part, member] : kParts) {
    const StateFormat format = options.states.*member;
    if (format != kDefault)
      parts.push_back(absl::StrCat(AbslView(part), "=", AbslView(NameOf(kFormatNames, format))));
  }
  return absl::StrJoin(parts, ",");
}

absl::Status ReadStates(std::string_view value, RunOptions& options) {
  options.states = {};
  if (value == "default") return absl::OkStatus();
  for (const NamedStates& named : kNamedStates) {
    if (named.name != value) continue;
    options.states = named.formats;
    return absl::OkStatus();
  }
  for (const absl::string_view entry : absl::StrSplit(AbslView(value), ',')) {
    if (!ReadPart({entry.data(), entry.size()}, options.states)) return StatesError(value);
  }
  return absl::OkStatus();
}

std::string LossText(const RunOptions& options) {
  if (options.loss_chunks == 0) return "fused";
  return options.loss_chunks == 1 ? "plain" : absl::StrCat("chunked:", options.loss_chunks);
}

absl::Status ReadLoss(std::string_view value, RunOptions& options) {
  options.loss_chunks = 1;
  if (value == "plain") return absl::OkStatus();
  if (value == "fused") {
    options.loss_chunks = 0;
    return absl::OkStatus();
  }
  absl::string_view number = AbslView(value);
  if (!absl::ConsumePrefix(&number, "chunked:") ||
      !absl::SimpleAtoi(number, &options.loss_chunks) || options.loss_chunks < 2 ||
      options.loss_chunks > kMostChunks) {
    return FieldError(
        "loss", value,
        absl::StrCat("must be plain, fused, or chunked:N with N from 2 to ", kMostChunks));
  }
  return absl::OkStatus();
}

std::string DocumentsText(const RunOptions& options) {
  const std::string tokens = absl::StrCat(options.document_tokens);
  if (!options.pads_documents) return options.document_tokens == 0 ? "none" : tokens;
  return options.document_tokens == 0 ? "padded" : "padded:" + tokens;
}

absl::Status ReadDocuments(std::string_view value, RunOptions& options) {
  options.document_tokens = 0;
  options.pads_documents = false;
  if (value == "none") return absl::OkStatus();
  absl::string_view tokens = AbslView(value);
  options.pads_documents = absl::ConsumePrefix(&tokens, "padded");
  if (options.pads_documents && tokens.empty()) return absl::OkStatus();
  if ((options.pads_documents && !absl::ConsumePrefix(&tokens, ":")) ||
      !absl::SimpleAtoi(tokens, &options.document_tokens) || options.document_tokens < 1 ||
      options.document_tokens > kMostDocumentTokens) {
    return FieldError(
        "documents", value,
        absl::StrCat("must be N, padded, padded:N or none, with a mean length N of 1 to ",
                     kMostDocumentTokens, " tokens"));
  }
  return absl::OkStatus();
}

std::string CompileText(const RunOptions& options) {
  return std::string(NameOf(kCompileNames, options.compile));
}

absl::Status ReadCompile(std::string_view value, RunOptions& options) {
  ASSIGN_OR_RETURN(options.compile, KindOf(kCompileNames, "compile", value));
  return absl::OkStatus();
}

std::string CudaGraphsText(const RunOptions& options) {
  return std::string(NameOf(kCudaGraphsNames, options.cuda_graphs));
}

absl::Status ReadCudaGraphs(std::string_view value, RunOptions& options) {
  ASSIGN_OR_RETURN(options.cuda_graphs, KindOf(kCudaGraphsNames, "cuda_graphs", value));
  return absl::OkStatus();
}

std::string DispatcherText(const RunOptions& options) {
  return std::string(NameOf(kDispatcherNames, options.dispatcher));
}

absl::Status ReadDispatcher(std::string_view value, RunOptions& options) {
  ASSIGN_OR_RETURN(options.dispatcher, KindOf(kDispatcherNames, "dispatcher", value));
  return absl::OkStatus();
}

std::string ExpertsText(const RunOptions& options) {
  return std::string(NameOf(kExpertStatesNames, options.experts));
}

absl::Status ReadExperts(std::string_view value, RunOptions& options) {
  ASSIGN_OR_RETURN(options.experts, KindOf(kExpertStatesNames, "experts", value));
  return absl::OkStatus();
}

std::string TrainText(const RunOptions& options) { return TrainedPartsText(options.train); }

absl::Status ReadTrain(std::string_view value, RunOptions& options) {
  ASSIGN_OR_RETURN(options.train, ParseTrainedParts(value));
  return absl::OkStatus();
}

}  // namespace meshwright::planner::run_option
