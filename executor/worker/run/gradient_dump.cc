#include "executor/worker/run/gradient_dump.h"

#include <ATen/ops/empty.h>

#include <fstream>
#include <stdexcept>

#include "executor/worker/comm/memory_account.h"
#include "nlohmann/json.hpp"

namespace meshwright::worker {
namespace {

at::Tensor AllGradients(const FlatUnit& unit) {
  at::Tensor all = unit.own_gradients();
  if (unit.zero() >= 1) {
    all = at::empty({unit.padded_elements()}, all.options());
    unit.replicas().shards->AllGather(all, unit.own_gradients()).Wait();
  }
  return all.narrow(0, 0, unit.elements()).cpu();
}

}  // namespace

void DumpGradients(const RankContext& context, const std::vector<std::unique_ptr<Stage>>& stages,
                   const std::string& directory) {
  // Gathered only for the dump, so not counted as the rank's memory.
  const ScopedMemoryAccount nobody(nullptr);
  const std::string stem = directory + "/rank" + std::to_string(context.rank);
  std::ofstream values(stem + ".bin", std::ios::binary);
  const char* dtype = context.accumulator_dtype() == at::kDouble ? "fp64" : "fp32";
  nlohmann::json parts = nlohmann::json::array();
  for (const auto& stage : stages) {
    for (const auto& unit : stage->units()) {
      const at::Tensor gradients = AllGradients(*unit);
      values.write(static_cast<const char*>(gradients.const_data_ptr()),
                   static_cast<std::streamsize>(gradients.nbytes()));
      for (const LocalParameter& parameter : unit->parameters()) {
        for (const ParameterPart& part : parameter.parts) {
          parts.push_back({{"name", part.name},
                           {"dtype", dtype},
                           {"global_shape", {part.global_rows, part.global_columns}},
                           {"begin", {part.row_begin, part.column_begin}},
                           {"shape", {part.rows, part.columns}}});
        }
      }
    }
  }
  std::ofstream index(stem + ".json");
  index << parts;
  if (!values.flush() || !index.flush()) {
    throw std::runtime_error("cannot write gradients to " + stem);
  }
}

}  // namespace meshwright::worker
