// ImportedText declares the fields that `meshwright import` prints (planner/codec/fields.h).
#pragma once

#include <cstdint>
#include <string>

#include "planner/codec/fields.h"
#include "planner/interchange/import.h"
#include "planner/interchange/import_fields.h"
#include "planner/layout/layout.h"

namespace meshwright::cli {

// The request that a framework's files describe. A field that they do not say is absent.
struct ImportedRequest {
  std::string model;
  int64_t devices = 0;
  int64_t seq_len = 0;
  int64_t global_batch = 0;
  std::string dtype;
};

template <typename Visitor>
void VisitFields(const ImportedRequest& request, Visitor& visit) {
  visit(planner::OnlyIf(!request.model.empty(), {"model", "Preset, or the name that files have"}),
        request.model);
  visit(planner::OnlyIf(request.devices > 0, {"gpus", "Devices of all nodes, a count"}),
        request.devices);
  visit(planner::OnlyIf(request.seq_len > 0, {"seq_len", "Tokens per sequence"}), request.seq_len);
  visit(planner::OnlyIf(request.global_batch > 0, {"global_batch", "Sequences per optimizer step"}),
        request.global_batch);
  visit(planner::OnlyIf(!request.dtype.empty(), {"dtype", "Number format of the products"}),
        request.dtype);
}

struct ImportedText {
  std::string from;
  planner::Imported imported;
};

template <typename Visitor>
void VisitFields(const ImportedText& text, Visitor& visit) {
  const planner::Imported& imported = text.imported;
  const std::string layout = imported.layout ? planner::FormatLayout(*imported.layout) : "";
  visit({"from", "Framework"}, text.from);
  visit(planner::NullUnless(imported.layout.has_value(),
                            {"layout",
                             "Text form of the layout; null where the files and flags "
                             "do not say one"}),
        layout);
  visit({"request", "What an estimate is asked"},
        ImportedRequest{imported.model, imported.devices, imported.seq_len, imported.global_batch,
                        imported.dtype});
  visit({"options", "Options of the run that differ from the framework's defaults, by name"},
        imported.options);
  visit({"entries", "One for each name in the files, in their order"}, imported.entries);
  visit({"missing", "What the files do not say and which flag gives it, one sentence each"},
        imported.missing);
  visit({"complete", "Whether the layout and the request are known and no entry is rejected"},
        imported.complete());
}

}  // namespace meshwright::cli
