#include <algorithm>
#include <string>

#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "executor/wire/wire.h"
#include "proto/meshwright/v1/resource_names.h"

namespace meshwright::wire {
namespace {

constexpr size_t kHashDigits = 64;

bool IsHash(const std::string& text) {
  return text.size() == kHashDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace

v1::RunnerOffer ToWire(const RunnerOffer& offer) {
  v1::RunnerOffer message;
  message.set_name(offer.name);
  message.set_hash(offer.hash);
  message.set_framework(offer.framework);
  message.set_export_to(offer.export_to);
  message.set_where(offer.where);
  message.mutable_fields()->insert(offer.fields.begin(), offer.fields.end());
  message.set_runs_on_several_nodes(offer.runs_on_several_nodes);
  return message;
}

absl::StatusOr<RunnerOffer> FromWire(const v1::RunnerOffer& offer) {
  RETURN_IF_ERROR(WithField(CheckAgentName(offer.name()), "runners.name"));
  if (!IsHash(offer.hash())) {
    return FieldError("runners.hash", offer.hash().substr(0, kHashDigits),
                      "must be a SHA-256 of 64 hexadecimal digits");
  }
  return RunnerOffer{.name = offer.name(),
                     .hash = offer.hash(),
                     .framework = offer.framework(),
                     .export_to = offer.export_to(),
                     .where = offer.where(),
                     .fields = {offer.fields().begin(), offer.fields().end()},
                     .runs_on_several_nodes = offer.runs_on_several_nodes()};
}

}  // namespace meshwright::wire
