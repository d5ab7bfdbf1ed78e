#include "planner/layout/offload.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"

namespace meshwright::planner {
namespace {

constexpr int32_t kMostLayers = 1 << 20;

}  // namespace

std::string FormatOffload(const Offload& offload) {
  std::string text;
  if (offload.activation_layers > 0) absl::StrAppend(&text, "act:", offload.activation_layers);
  const auto add = [&text](bool is_there, const char* word) {
    if (is_there) absl::StrAppend(&text, text.empty() ? "" : "+", word);
  };
  add(offload.optimizer, "opt");
  add(offload.parameters, "param");
  add(offload.gradients, "grad");
  return text;
}

absl::StatusOr<Offload> ParseOffload(std::string_view text) {
  Offload offload;
  for (absl::string_view part : absl::StrSplit(AbslView(text), '+')) {
    if (part == "opt" && !offload.optimizer) {
      offload.optimizer = true;
    } else if (part == "param" && offload.optimizer && !offload.parameters) {
      offload.parameters = true;
    } else if (part == "grad" && offload.parameters && !offload.gradients) {
      offload.gradients = true;
    } else if (offload.activation_layers != 0 || !absl::ConsumePrefix(&part, "act:") ||
               !absl::SimpleAtoi(part, &offload.activation_layers) ||
               offload.activation_layers < 1 || offload.activation_layers > kMostLayers) {
      return FieldError("offload", text,
                        absl::StrCat("must be act:N with N from 1 to ", kMostLayers,
                                     ", opt, opt+param, opt+param+grad, or act:N+ and one of "
                                     "these"));
    }
  }
  return offload;
}

absl::StatusOr<std::vector<Offload>> ParseOffloads(std::string_view text) {
  std::vector<Offload> offloads;
  if (text.empty()) return offloads;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(AbslView(text), ','))) {
    ASSIGN_OR_RETURN(const Offload offload, ParseOffload(part));
    offloads.push_back(offload);
  }
  return offloads;
}

}  // namespace meshwright::planner
