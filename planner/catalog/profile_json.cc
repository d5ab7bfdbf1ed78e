#include <array>
#include <concepts>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"
#include "planner/catalog/calibration_json.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/kernel_support_json.h"
#include "planner/codec/json_fields.h"
#include "planner/codec/json_text.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

template <typename Kind>
struct Named {
  Kind kind;
  std::string_view name;
};

constexpr std::array<Named<GatheredInputs>, 3> kGatheredInputs = {{
    {GatheredInputs::kNever, "never"},
    {GatheredInputs::kWithoutPipeline, "without_pipeline"},
    {GatheredInputs::kAlways, "always"},
}};
constexpr std::array<Named<SelectiveRecompute>, 2> kSelective = {{
    {SelectiveRecompute::kCoreAttention, "core_attention"},
    {SelectiveRecompute::kNormsAndActivation, "norms_and_activation"},
}};
constexpr std::array<Named<StagePartition>, 3> kPartitions = {{
    {StagePartition::kEqual, "equal"},
    {StagePartition::kItems, "items"},
    {StagePartition::kByCost, "by_cost"},
}};
constexpr std::array<Named<PeakRank>, 3> kPeakRanks = {{
    {PeakRank::kFullest, "fullest"},
    {PeakRank::kFirst, "first"},
    {PeakRank::kLast, "last"},
}};
constexpr std::array<Named<PeakKind>, 2> kPeakKinds = {{
    {PeakKind::kAllocated, "allocated"},
    {PeakKind::kReserved, "reserved"},
}};

template <typename T, typename Struct>
concept Visited = std::same_as<std::remove_const_t<T>, Struct>;

// The members of every struct that are a number, a truth value or one of a few names, once: reading
// and writing visit the same lists.
template <Visited<ModelStates> Struct, typename Visitor>
void VisitFields(Struct& states, Visitor& visit) {
  visit("gradient_bytes", states.gradient_bytes);
  visit("optimizer_bytes", states.optimizer_bytes);
  visit("local_gradient_bytes", states.local_gradient_bytes);
  visit("shard_buffer_bytes", states.shard_buffer_bytes);
  visit("zero3_state_bytes", states.zero3_state_bytes);
  visit("step_bytes_per_parameter", states.step_bytes_per_parameter);
}

template <Visited<KeptActivations> Struct, typename Visitor>
void VisitFields(Struct& kept, Visitor& visit) {
  visit("vocab_parallel_loss", kept.vocab_parallel_loss);
  visit("loss_peak_bytes_per_logit", kept.loss_peak_bytes_per_logit);
  visit("loss_kept_bytes_per_logit", kept.loss_kept_bytes_per_logit);
  visit("selective_recompute", kept.selective_recompute, kSelective);
  visit("gathered_inputs", kept.gathered_inputs, kGatheredInputs);
  visit("fused_swiglu", kept.fused_swiglu);
  visit("keeps_head_norm_input", kept.keeps_head_norm_input);
  visit("eager_norm_bytes", kept.eager_norm_bytes);
  visit("extra_kept_bytes", kept.extra_kept_bytes);
  visit("fused_softmax_bytes", kept.fused_softmax_bytes);
  visit("eager_attention_bytes", kept.eager_attention_bytes);
  visit("hidden_work_bytes", kept.hidden_work_bytes);
  visit("ffn_work_bytes", kept.ffn_work_bytes);
  visit("score_work_bytes", kept.score_work_bytes);
  visit("fixed_bytes", kept.fixed_bytes);
  visit("peak_rank", kept.peak_rank, kPeakRanks);
  visit("peak_kind", kept.peak_kind, kPeakKinds);
  visit("fragmentation", kept.fragmentation);
  visit("pressure_from", kept.pressure_from);
  visit("pressure_slope", kept.pressure_slope);
  visit("oom_center", kept.oom_center);
  visit("oom_width", kept.oom_width);
}

template <Visited<OperatorTraffic> Struct, typename Visitor>
void VisitFields(Struct& traffic, Visitor& visit) {
  visit("matmul_share", traffic.matmul_share);
  visit("eager_norm_traffic_bytes", traffic.eager_norm_traffic_bytes);
  visit("fused_softmax_traffic_bytes", traffic.fused_softmax_traffic_bytes);
  visit("eager_attention_traffic_bytes", traffic.eager_attention_traffic_bytes);
  visit("loss_traffic_bytes", traffic.loss_traffic_bytes);
  visit("rope_traffic_bytes", traffic.rope_traffic_bytes);
  visit("accumulate_traffic_bytes", traffic.accumulate_traffic_bytes);
  visit("operator_host_s", traffic.operator_host_s);
  visit("layer_floor_s", traffic.layer_floor_s);
  visit("step_overhead_s", traffic.step_overhead_s);
  visit("step_time_sigma", traffic.step_time_sigma);
}

template <Visited<Communication> Struct, typename Visitor>
void VisitFields(Struct& communication, Visitor& visit) {
  visit("mesh_order", communication.mesh_order);
  visit("data_parallel_overlap", communication.data_parallel_overlap);
  visit("all_reduces_per_layer", communication.all_reduces_per_layer);
  visit("shard_collectives_per_layer", communication.shard_collectives_per_layer);
  visit("reduce_bytes", communication.reduce_bytes);
  visit("ring_gradient_bytes", communication.ring_gradient_bytes);
  visit("zero1_all_reduce", communication.zero1_all_reduce);
  visit("network_share", communication.network_share);
  visit("network_contention", communication.network_contention);
  visit("network_step_s", communication.network_step_s);
  visit("tree_all_reduce", communication.tree_all_reduce);
  visit("tp_hop_s", communication.tp_hop_s);
  visit("pipeline_hop_s", communication.pipeline_hop_s);
}

template <Visited<Supports> Struct, typename Visitor>
void VisitFields(Struct& supports, Visitor& visit) {
  visit("stage_partition", supports.stage_partition, kPartitions);
  visit("attention", supports.attention);
  visit("norm", supports.norm);
  visit("gated_mlp", supports.gated_mlp);
  visit("tied_embeddings", supports.tied_embeddings);
  visit("max_zero", supports.max_zero);
  visit("has_sequence_parallel", supports.has_sequence_parallel);
  visit("has_context_parallel", supports.has_context_parallel);
  visit("has_interleaving", supports.has_interleaving);
  visit("has_breadth_first", supports.has_breadth_first);
  visit("has_zb_h1", supports.has_zb_h1);
  visit("has_zb_v", supports.has_zb_v);
  visit("layered_accumulation", supports.layered_accumulation);
  visit("has_recompute", supports.has_recompute);
  visit("has_block_recompute", supports.has_block_recompute);
  visit("tp_needs_sequence_parallel", supports.tp_needs_sequence_parallel);
  visit("min_zero", supports.min_zero);
  visit("zero23_with_pipeline", supports.zero23_with_pipeline);
  visit("kv_replication", supports.kv_replication);
  visit("vocab_multiple", supports.vocab_multiple);
}

template <Visited<FrameworkProfile> Profile, typename Visitor>
void VisitFields(Profile& profile, Visitor& visit) {
  VisitFields(profile.states, visit);
  VisitFields(profile.kept, visit);
  visit("worker_allocations", profile.engine);
  VisitFields(profile.traffic, visit);
  VisitFields(profile.communication, visit);
  VisitFields(profile.supports, visit);
}

// A field that the file does not have keeps its default.
class Reader {
 public:
  explicit Reader(JsonFields& fields) : fields_(fields) {}

  void operator()(std::string_view key, int32_t& value) {
    const int64_t number = fields_.IntOr(key, value);
    if (number != static_cast<int32_t>(number)) {
      fields_.Fail(FieldError(key, number, "must fit into 32 bits"));
      return;
    }
    value = static_cast<int32_t>(number);
  }
  void operator()(std::string_view key, int64_t& value) { value = fields_.IntOr(key, value); }
  void operator()(std::string_view key, double& value) { value = fields_.NumberOr(key, value); }
  void operator()(std::string_view key, bool& value) { value = fields_.BoolOr(key, value); }
  void operator()(std::string_view key, Engine& value) {
    value = fields_.BoolOr(key, value == Engine::kWorker) ? Engine::kWorker : Engine::kFramework;
  }
  void operator()(std::string_view key, AttentionKernel& value) {
    ReadKernel(key, ParseAttentionKernel, value);
  }
  void operator()(std::string_view key, NormKernel& value) {
    ReadKernel(key, ParseNormKernel, value);
  }
  void operator()(std::string_view key, MeshOrder& value) {
    if (!fields_.Has(key)) return;
    const absl::StatusOr<MeshOrder> order = ParseMeshOrder(fields_.String(key));
    if (order.ok()) {
      value = *order;
    } else {
      fields_.Fail(order.status());
    }
  }
  template <typename Kind, size_t kCount>
  void operator()(std::string_view key, Kind& value, const std::array<Named<Kind>, kCount>& names) {
    if (!fields_.Has(key)) return;
    const std::string text = fields_.String(key);
    std::string accepted;
    for (const auto& [kind, name] : names) {
      if (name == text) {
        value = kind;
        return;
      }
      if (!accepted.empty()) accepted += ", ";
      accepted += name;
    }
    fields_.Fail(FieldError(key, text, "must be one of " + accepted));
  }

 private:
  template <typename Kind>
  void ReadKernel(std::string_view key, absl::StatusOr<Kind> (*parse)(std::string_view),
                  Kind& value) {
    if (!fields_.Has(key)) return;
    const absl::StatusOr<Kind> kernel = parse(fields_.String(key));
    if (kernel.ok()) {
      value = *kernel;
    } else {
      fields_.Fail(kernel.status());
    }
  }

  JsonFields& fields_;
};

class Writer {
 public:
  explicit Writer(ordered_json& object) : object_(object) {}

  template <typename Number>
  void operator()(std::string_view key, const Number& value) {
    object_[std::string(key)] = value;
  }
  void operator()(std::string_view key, const Engine& value) {
    object_[std::string(key)] = value == Engine::kWorker;
  }
  void operator()(std::string_view key, const AttentionKernel& value) {
    object_[std::string(key)] = std::string(AttentionKernelName(value));
  }
  void operator()(std::string_view key, const NormKernel& value) {
    object_[std::string(key)] = std::string(NormKernelName(value));
  }
  // Files name an order where it is not everybody's.
  void operator()(std::string_view key, const MeshOrder& value) {
    if (value != kDefaultMeshOrder) object_[std::string(key)] = FormatMeshOrder(value);
  }
  template <typename Kind, size_t kCount>
  void operator()(std::string_view key, const Kind& value,
                  const std::array<Named<Kind>, kCount>& names) {
    for (const auto& [kind, name] : names) {
      if (kind == value) object_[std::string(key)] = std::string(name);
    }
  }

 private:
  ordered_json& object_;
};

// A list; older files have one text, empty where there is none.
std::vector<std::string> ReadNotes(const json& object, JsonFields& fields) {
  const auto notes = object.find("notes_contain");
  if (notes == object.end() || !notes->is_string()) return fields.StringsOr("notes_contain");
  const std::string text = fields.StringOr("notes_contain", "");
  return text.empty() ? std::vector<std::string>{} : std::vector<std::string>{text};
}

std::vector<std::pair<std::string, std::string>> ReadSources(JsonFields& fields) {
  std::vector<std::pair<std::string, std::string>> sources;
  if (!fields.Has("sources")) return sources;
  for (const auto& [key, text] : fields.Object("sources").items()) {
    if (!text.is_string()) {
      fields.Fail(FieldError("sources." + key, ShowJson(text), "must be text"));
      break;
    }
    sources.emplace_back(key, text);
  }
  return sources;
}

}  // namespace

absl::StatusOr<FrameworkProfile> ProfileFromJson(std::string_view text) {
  ASSIGN_OR_RETURN(const json object, ParseJsonObject("framework", text));
  JsonFields fields(object);
  FrameworkProfile profile;
  profile.name = fields.String("name");
  profile.aliases = fields.StringsOr("aliases");
  profile.notes_contain = ReadNotes(object, fields);
  Reader reader(fields);
  VisitFields(profile, reader);
  profile.supports.kernels = ReadKernelSupport(fields);
  profile.calibration = ReadCalibration(fields);
  profile.sources = ReadSources(fields);
  fields.RefuseUnknownKeys();
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(Validate(profile));
  return profile;
}

std::string ProfileToJson(const FrameworkProfile& profile) {
  ordered_json object = {{"name", profile.name},
                         {"aliases", profile.aliases},
                         {"notes_contain", profile.notes_contain}};
  Writer writer(object);
  VisitFields(profile, writer);
  WriteKernelSupport(profile.supports.kernels, object);
  ordered_json sources = ordered_json::object();
  for (const auto& [field, source] : profile.sources) sources[field] = source;
  if (!profile.calibration.command.empty()) {
    object["calibration"] = CalibrationToJson(profile.calibration);
  }
  object["sources"] = sources;
  return object.dump(2);
}

}  // namespace meshwright::planner
