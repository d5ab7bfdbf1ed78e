#include "planner/catalog/kernel_support_json.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "planner/base/enum_names.h"
#include "planner/base/field_error.h"
#include "planner/catalog/spec_fields.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int32_t kMostRanks = 1 << 20;

std::string_view FfnName(FfnKind ffn) { return NameOf(kFfnKindNames, ffn); }

absl::StatusOr<FfnKind> ParseFfn(std::string_view text) {
  return KindOf(kFfnKindNames, "ffn", text);
}

template <typename Kind>
EnumSet<Kind> ReadSet(JsonFields& fields, std::string_view key,
                      absl::StatusOr<Kind> (*parse)(std::string_view)) {
  EnumSet<Kind> set;
  for (const std::string& name : fields.StringsOr(key)) {
    const absl::StatusOr<Kind> kind = parse(name);
    if (!kind.ok()) {
      fields.Fail(WithField(kind.status(), key));
      break;
    }
    set.Add(*kind);
  }
  return set;
}

template <typename Kind>
void WriteSet(const char* key, const EnumSet<Kind>& set, std::string_view (*name)(Kind),
              ordered_json& object) {
  if (set.empty()) return;
  ordered_json names = ordered_json::array();
  set.ForEach([&](Kind kind) { names.push_back(std::string(name(kind))); });
  object[key] = std::move(names);
}

int64_t ReadMost(JsonFields& fields, std::string_view key, int64_t fallback, int64_t low) {
  const int64_t most = fields.IntOr(key, fallback);
  const absl::Status status = CheckRange(key, most, low, kMostRanks);
  if (status.ok()) return most;
  fields.Fail(status);
  return fallback;
}

HeadSizes ReadHeadSizes(const json& object, JsonFields& profile) {
  JsonFields fields(object, "cuda_head_sizes.");
  HeadSizes sizes;
  const absl::StatusOr<Precision> precision = ParsePrecision(fields.String("precision"));
  if (precision.ok()) {
    sizes.precision = *precision;
  } else {
    fields.Fail(precision.status());
  }
  if (fields.Has("attention")) {
    const absl::StatusOr<AttentionKernel> kernel = ParseAttentionKernel(fields.String("attention"));
    if (kernel.ok()) {
      sizes.attention = *kernel;
    } else {
      fields.Fail(kernel.status());
    }
  }
  sizes.multiple_of = ReadMost(fields, "multiple_of", 1, 1);
  if (fields.Has("most")) sizes.most = ReadMost(fields, "most", 1, 1);
  fields.RefuseUnknownKeys();
  if (!fields.status().ok()) profile.Fail(fields.status());
  return sizes;
}

ordered_json ToJson(const HeadSizes& sizes) {
  ordered_json object = {{"precision", std::string(PrecisionName(sizes.precision))}};
  if (sizes.attention) object["attention"] = std::string(AttentionKernelName(*sizes.attention));
  object["multiple_of"] = sizes.multiple_of;
  if (sizes.most) object["most"] = *sizes.most;
  return object;
}

}  // namespace

KernelSupport ReadKernelSupport(JsonFields& fields) {
  KernelSupport kernels;
  kernels.ffn = ReadSet(fields, "ffn_kinds", ParseFfn);
  kernels.qk_norm = fields.BoolOr("has_qk_norm", true);
  kernels.parts = ReadSet(fields, "model_parts", ParseModelPart);
  kernels.head_dim_multiple = ReadMost(fields, "head_dim_multiple", 1, 1);
  kernels.one_head_dim = fields.BoolOr("one_head_dim", false);
  kernels.cpu_precisions = ReadSet(fields, "cpu_precisions", ParsePrecision);
  kernels.cuda_precisions = ReadSet(fields, "cuda_precisions", ParsePrecision);
  kernels.cpu_attention = ReadSet(fields, "cpu_attention", ParseAttentionKernel);
  kernels.cuda_attention = ReadSet(fields, "cuda_attention", ParseAttentionKernel);
  kernels.norms = ReadSet(fields, "norms", ParseNormKernel);
  for (const json& sizes : fields.ObjectsOr("cuda_head_sizes")) {
    kernels.cuda_head_sizes.push_back(ReadHeadSizes(sizes, fields));
  }
  kernels.max_cp = static_cast<int32_t>(ReadMost(fields, "max_cp", 0, 0));
  kernels.max_vpp = static_cast<int32_t>(ReadMost(fields, "max_vpp", 0, 0));
  return kernels;
}

void WriteKernelSupport(const KernelSupport& kernels, ordered_json& object) {
  WriteSet("ffn_kinds", kernels.ffn, FfnName, object);
  if (!kernels.qk_norm) object["has_qk_norm"] = false;
  WriteSet("model_parts", kernels.parts, ModelPartName, object);
  if (kernels.head_dim_multiple != 1) object["head_dim_multiple"] = kernels.head_dim_multiple;
  if (kernels.one_head_dim) object["one_head_dim"] = true;
  WriteSet("cpu_precisions", kernels.cpu_precisions, PrecisionName, object);
  WriteSet("cuda_precisions", kernels.cuda_precisions, PrecisionName, object);
  WriteSet("cpu_attention", kernels.cpu_attention, AttentionKernelName, object);
  WriteSet("cuda_attention", kernels.cuda_attention, AttentionKernelName, object);
  WriteSet("norms", kernels.norms, NormKernelName, object);
  for (const HeadSizes& sizes : kernels.cuda_head_sizes) {
    object["cuda_head_sizes"].push_back(ToJson(sizes));
  }
  if (kernels.max_cp != 0) object["max_cp"] = kernels.max_cp;
  if (kernels.max_vpp != 0) object["max_vpp"] = kernels.max_vpp;
}

}  // namespace meshwright::planner
