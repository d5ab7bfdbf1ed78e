// ReadZeroBubbleRows() reads measured pipeline runs with the profiled parts of a stage's time.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "planner/schedule/stage_durations.h"
#include "tests/planner/measurements_folder.h"

namespace meshwright::planner {

struct ZeroBubbleRow {
  std::string model;
  std::string schedule;  // 1f1b, 1f1b-interleaved, zb-1p, zb-2p, zb-v
  int32_t pp = 0;
  int32_t vpp = 0;
  int32_t micro_batches = 0;
  int32_t layers_per_stage = 0;  // of a middle stage; the first and the last have one less
  StageDurations stage;          // of a middle stage
  double hop_s = 0.0;
  double step_s = 0.0;  // measured
};

// Returns the number after `key` in free text, such as 18.5 for "T_F=" in "T_F=18.5 T_B=…", or 0 if
// the text lacks the key.
inline double NumberAfter(const std::string& text, const std::string& key) {
  const size_t at = text.find(key);
  return at == std::string::npos ? 0.0 : std::strtod(text.c_str() + at + key.size(), nullptr);
}

// Returns the rows with a throughput and with all four parts of a stage's time. Sets `total` to the
// number of all rows.
inline std::vector<ZeroBubbleRow> ReadZeroBubbleRows(const std::filesystem::path& file,
                                                     int64_t& total) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> header = absl::StrSplit(line, ',');
  std::vector<ZeroBubbleRow> rows;
  for (total = 0; std::getline(in, line); ++total) {
    const std::vector<std::string> cells = absl::StrSplit(line, ',');
    std::map<std::string, std::string> row;
    for (size_t i = 0; i < header.size() && i < cells.size(); ++i) row[header[i]] = cells[i];
    const auto number = [&](const char* column) {
      double value = 0.0;
      return absl::SimpleAtod(row[column], &value) ? value : 0.0;
    };
    const auto part_s = [&](const char* key) { return NumberAfter(row["notes"], key) * 1e-3; };
    ZeroBubbleRow parsed = {.model = row["model"],
                            .schedule = row["schedule"],
                            .pp = static_cast<int32_t>(number("pp")),
                            .vpp = static_cast<int32_t>(number("vpp")),
                            .stage = {part_s("T_F="), part_s("T_B="), part_s("T_W=")},
                            .hop_s = part_s("T_comm=")};
    const double tokens_per_s = number("tokens_per_s_per_gpu") * number("gpus");
    if (row["outcome"] != "ok" || tokens_per_s <= 0.0 || parsed.hop_s <= 0.0 ||
        parsed.stage.forward_s <= 0.0 || number("layers") <= 0.0) {
      continue;
    }
    parsed.micro_batches = static_cast<int32_t>(number("gbs") / number("mbs"));
    parsed.layers_per_stage = static_cast<int32_t>(number("layers") + 2.0) / parsed.pp;
    parsed.step_s = number("gbs") * number("seq") / tokens_per_s;
    rows.push_back(parsed);
  }
  return rows;
}

}  // namespace meshwright::planner
