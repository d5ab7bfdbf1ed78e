#include "tests/executor/trial/gradient_comparison.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace meshwright::trial {
namespace {

namespace fs = std::filesystem;

// The model's gradients, put together from the ranks' parts, and how often each element was there.
struct Assembled {
  std::map<std::string, at::Tensor> sums;
  std::map<std::string, at::Tensor> copies;
};

void AddRank(const fs::path& stem, Assembled& assembled) {
  std::ifstream index(stem.string() + ".json");
  std::ifstream values(stem.string() + ".bin", std::ios::binary);
  for (const nlohmann::json& part : nlohmann::json::parse(index)) {
    const std::string name = part["name"];
    const auto global = part["global_shape"].get<std::vector<int64_t>>();
    const auto begin = part["begin"].get<std::vector<int64_t>>();
    const auto shape = part["shape"].get<std::vector<int64_t>>();
    const at::ScalarType dtype = part["dtype"] == "fp64" ? at::kDouble : at::kFloat;
    const at::Tensor local = at::zeros(shape, dtype);
    values.read(static_cast<char*>(local.mutable_data_ptr()),
                static_cast<std::streamsize>(local.nbytes()));
    ASSERT_TRUE(values.good());
    if (!assembled.sums.contains(name)) {
      assembled.sums[name] = at::zeros(global, at::kDouble);
      assembled.copies[name] = at::zeros(global, at::kDouble);
    }
    const auto view = [&](const at::Tensor& whole) {
      return whole.narrow(0, begin[0], shape[0]).narrow(1, begin[1], shape[1]);
    };
    view(assembled.sums[name]).add_(local);
    view(assembled.copies[name]).add_(1.0);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "meshwright-XXXXXX").string();
  path_ = ::mkdtemp(pattern.data());
}

TemporaryFolder::~TemporaryFolder() { fs::remove_all(path_); }

double ExpectSameGradients(const worker::ReferenceRun& reference, const fs::path& folder,
                           const planner::Layout& layout, double tolerance) {
  Assembled assembled;
  for (int64_t rank = 0; rank < layout.devices(); ++rank) {
    AddRank(folder / ("rank" + std::to_string(rank)), assembled);
  }
  EXPECT_EQ(assembled.sums.size(), reference.first_gradients.size());
  double worst = 0.0;
  for (const auto& [name, sum] : assembled.sums) {
    const at::Tensor& copies = assembled.copies[name];
    EXPECT_GE(copies.min().item<double>(), 1.0) << name;
    const at::Tensor actual = (sum / copies).reshape({-1});
    const at::Tensor expected = reference.first_gradients.at(name).reshape({-1}).to(at::kDouble);
    const double distance =
        (actual - expected).norm().item<double>() / expected.norm().item<double>();
    EXPECT_LT(distance, tolerance) << name;
    worst = std::max(worst, distance);
  }
  return worst;
}

}  // namespace meshwright::trial
