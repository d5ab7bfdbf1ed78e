// Declares the fields of an import (planner/codec/fields.h).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "planner/codec/fields.h"
#include "planner/interchange/import_answer.h"

namespace meshwright::planner {

inline constexpr std::array<std::string_view, 3> kEntryStatuses = {"used", "ignored", "rejected"};

template <typename Visitor>
void VisitFields(const ImportedEntry& entry, Visitor& visit) {
  visit("file", entry.file);
  visit("name", entry.name);
  visit("value", entry.value);
  visit(Among(kEntryStatuses, "status"), std::string(NameOf(kEntryStatusNames, entry.status)));
  visit(OnlyIf(!entry.key.empty(), "key"), entry.key);
  visit(OnlyIf(!entry.hint.empty(), "hint"), entry.hint);
}

// The request that a framework's files describe. A field that the files do not give is absent.
struct ImportedRequest {
  std::string model;
  int64_t devices = 0;
  int64_t seq_len = 0;
  int64_t global_batch = 0;
  std::string dtype;
};

template <typename Visitor>
void VisitFields(const ImportedRequest& request, Visitor& visit) {
  visit(OnlyIf(!request.model.empty(), "model"), request.model);
  visit(OnlyIf(request.devices > 0, "gpus"), request.devices);
  visit(OnlyIf(request.seq_len > 0, "seq_len"), request.seq_len);
  visit(OnlyIf(request.global_batch > 0, "global_batch"), request.global_batch);
  visit(OnlyIf(!request.dtype.empty(), "dtype"), request.dtype);
}

template <typename Visitor>
void VisitFields(const ImportAnswer& answer, Visitor& visit) {
  const Imported& imported = answer.imported;
  const std::string layout = imported.layout ? FormatLayout(*imported.layout) : "";
  visit("from", answer.from);
  visit(NullUnless(imported.layout.has_value(), "layout"), layout);
  visit("request", ImportedRequest{imported.model, imported.devices, imported.seq_len,
                                   imported.global_batch, imported.dtype});
  visit("options", imported.options);
  visit("entries", imported.entries);
  visit("missing", imported.missing);
  visit("complete", imported.complete());
}

}  // namespace meshwright::planner
