// These structs declare the fields that `meshwright db` prints (planner/codec/fields.h).
#pragma once

#include <string>

#include "db/check.h"
#include "db/maintenance.h"
#include "planner/codec/fields.h"

namespace meshwright::cli {

struct StoreCheckText {
  db::StoreCheck check;
};

template <typename Visitor>
void VisitFields(const StoreCheckText& text, Visitor& visit) {
  const db::StoreCheck& check = text.check;
  visit({"ok", "Whether the file is whole"}, check.ok());
  visit({"schema_version", "Version of the database's own schema, not of these keys"},
        check.schema_version);
  visit({"sweeps", "Sweeps, a count"}, check.sweeps);
  visit({"trials", "Trials, a count"}, check.trials);
  visit({"attempts", "Attempts, a count"}, check.attempts);
  visit({"events", "Events, a count"}, check.events);
  visit({"unseen_wal_bytes", "Bytes of the write-ahead log that could not be checked"},
        check.unseen_wal_bytes);
  visit({"problems", "What is damaged"}, check.problems);
}

struct BackUpText {
  std::string to;
  db::BackUpResult made;
};

template <typename Visitor>
void VisitFields(const BackUpText& text, Visitor& visit) {
  visit({"to", "The copy's file"}, text.to);
  visit({"bytes", "Size of the copy, bytes"}, text.made.bytes);
  visit({"sweeps", "Sweeps in it, a count"}, text.made.sweeps);
}

struct CompactText {
  db::CompactResult made;
};

template <typename Visitor>
void VisitFields(const CompactText& text, Visitor& visit) {
  visit({"bytes_before", "Size of the file and its write-ahead log before, bytes"},
        text.made.bytes_before);
  visit({"bytes_after", "Size of the file now, bytes"}, text.made.bytes_after);
  visit({"events", "Events that were deleted, a count"}, text.made.events);
  visit({"shapes", "Models, trainings, clusters and profiles that no sweep had any more, a count"},
        text.made.shapes);
}

}  // namespace meshwright::cli
