#include "planner/report/left_out_file.h"

#include "planner/codec/json_codec.h"
#include "planner/codec/json_fields.h"
#include "planner/data/embedded.h"

namespace meshwright::planner {
namespace {

struct LeftOutTable {
  std::vector<LeftOutFile> files;
};

template <ConstOr<LeftOutTable> Table, typename Visitor>
void VisitFields(Table& table, Visitor& visit) {
  visit("files", table.files);
}

}  // namespace

std::vector<LeftOutFile> LeftOutFiles() {
  LeftOutTable table;
  const nlohmann::json json = ParseJsonObject("left_out", EmbeddedLeftOut().front().text).value();
  // The file is compiled in, and a test reads it.
  if (!ReadJson("left_out", json, UnknownKeys::kRefuse, table).ok()) return {};
  return table.files;
}

}  // namespace meshwright::planner
