#include "executor/worker/gradient_dump.h"

#include <fstream>
#include <stdexcept>

#include "nlohmann/json.hpp"

namespace meshwright {

void DumpGradients(const RankContext& context, const std::vector<std::unique_ptr<Stage>>& stages,
                   const std::string& directory) {
  const std::string stem = directory + "/rank" + std::to_string(context.rank);
  std::ofstream values(stem + ".bin", std::ios::binary);
  const char* dtype = context.accumulator_dtype() == at::kDouble ? "fp64" : "fp32";
  nlohmann::json parts = nlohmann::json::array();
  for (const auto& stage : stages) {
    for (const auto& unit : stage->units()) {
      const at::Tensor gradients = unit->flat_gradients().cpu();
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

}  // namespace meshwright
