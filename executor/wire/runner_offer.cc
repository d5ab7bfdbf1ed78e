#include "executor/wire/runner_offer.h"

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"

namespace meshwright::wire {
absl::StatusOr<trial::RunnerChoice> Choose(const RunnerOffer& offer,
                                           const std::map<std::string, std::string>& fields) {
  for (const auto& [name, accepted] : offer.fields) {
    if (fields.contains(name)) continue;
    return FieldError(
        "runner_fields", "",
        absl::StrCat("must have ", name, ", ", accepted, ", for the runner ", offer.name));
  }
  for (const auto& [name, value] : fields) {
    if (offer.fields.contains(name)) continue;
    return FieldError("runner_fields", name,
                      absl::StrCat("is no field of the runner ", offer.name));
  }
  return trial::RunnerChoice{.name = offer.name, .hash = offer.hash, .fields = fields};
}

}  // namespace meshwright::wire
