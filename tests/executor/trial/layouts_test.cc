// Layouts over real processes against the single-process autograd reference: losses, every
// gradient, and peak memory to the byte.
#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "planner/catalog/catalog.h"
#include "planner/memory/rank_memory.h"
#include "planner/schedule/schedule.h"
#include "tests/executor/trial/trial_fixture.h"
#include "tests/executor/worker/reference_model.h"

namespace meshwright {
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
    const at::Tensor local = at::zeros(shape, at::kFloat);
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

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "meshwright-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

struct Case {
  std::string name = "";
  Layout layout;
  bool tied = false;
};

void PrintTo(const Case& test_case, std::ostream* out) { *out << test_case.name; }

class LayoutsTest : public testing::TestWithParam<Case> {
 protected:
  LayoutsTest() : plan_(TinyPlan(GetParam().layout, 3)) {
    plan_.model.tied_embeddings = GetParam().tied;
    plan_.dump_gradients_dir = folder_.path();
  }

  void CompareGradients(ReferenceModel& reference) {
    Assembled assembled;
    for (int32_t rank = 0; rank < plan_.layout.devices(); ++rank) {
      AddRank(folder_.path() / ("rank" + std::to_string(rank)), assembled);
    }
    EXPECT_EQ(assembled.sums.size(), reference.weights().size());
    for (const auto& [name, sum] : assembled.sums) {
      const at::Tensor& copies = assembled.copies[name];
      ASSERT_GE(copies.min().item<double>(), 1.0) << name;
      const at::Tensor actual = (sum / copies).reshape({-1});
      const at::Tensor expected = reference.gradient(name).reshape({-1}).to(at::kDouble);
      const double distance =
          (actual - expected).norm().item<double>() / expected.norm().item<double>();
      EXPECT_LT(distance, 1e-4) << name;
    }
  }

  int64_t PredictedBytes(int32_t pipeline_rank) const {
    const ClusterSpec cluster = FindCluster("local-cpu", /*host_cores=*/2).value();
    const FrameworkProfile profile = FindProfile("meshwright").value();
    const EstimateContext context{plan_.model, cluster, plan_.training, profile};
    return EstimateRankMemory(context, plan_.layout, pipeline_rank).allocator_bytes();
  }

  TemporaryFolder folder_;
  TrialPlan plan_;
};

TEST_P(LayoutsTest, LossesGradientsAndMemoryAreExact) {
  const TrialResult result = RunHere(plan_);
  ASSERT_EQ(result.outcome, Outcome::kOk) << result.message;
  ReferenceModel reference(plan_.model, plan_.training, plan_.seed);
  reference.Loss(0);
  CompareGradients(reference);
  const std::vector<double> expected =
      ReferenceModel(plan_.model, plan_.training, plan_.seed).Train(plan_.steps);
  ASSERT_EQ(result.losses.size(), expected.size());
  for (size_t step = 0; step < expected.size(); ++step) {
    EXPECT_NEAR(result.losses[step], expected[step], 2e-5) << "step " << step;
  }
  for (const RankResult& rank : result.ranks) {
    EXPECT_EQ(rank.peak_bytes, PredictedBytes(rank.pipeline_rank)) << "rank " << rank.rank;
    const auto micro_batches =
        static_cast<int32_t>(plan_.layout.MicroBatches(plan_.training.global_batch));
    const auto actions = MakeSchedule(plan_.layout, rank.pipeline_rank, micro_batches).value();
    EXPECT_EQ(rank.peak_in_flight, PeakInFlight(actions)) << "rank " << rank.rank;
  }
}

TEST_P(LayoutsTest, Bf16StaysWithinItsPredictedMemory) {
  plan_.dump_gradients_dir.clear();
  plan_.training.precision = Precision::kBf16;
  const TrialResult result = RunHere(plan_);
  ASSERT_EQ(result.outcome, Outcome::kOk) << result.message;
  for (const RankResult& rank : result.ranks) {
    // Processors with bf16 instructions do without the matrix products' fp32 copies.
    const int64_t predicted = PredictedBytes(rank.pipeline_rank);
    EXPECT_LE(rank.peak_bytes, predicted) << "rank " << rank.rank;
    EXPECT_GT(rank.peak_bytes, predicted * 9 / 10) << "rank " << rank.rank;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Gloo, LayoutsTest,
    testing::Values(Case{.name = "OneRank", .layout = {.micro_batch = 2}},
                    Case{.name = "Tp2", .layout = {.tp = 2, .micro_batch = 2}},
                    Case{.name = "Pp2", .layout = {.pp = 2}},
                    Case{.name = "Dp2", .layout = {.dp = 2, .micro_batch = 2}},
                    Case{.name = "Tp2Pp2", .layout = {.tp = 2, .pp = 2}},
                    Case{.name = "Pp4", .layout = {.pp = 4}},
                    Case{.name = "Tp2Pp2Dp2", .layout = {.tp = 2, .pp = 2, .dp = 2}},
                    Case{.name = "TiedTp2", .layout = {.tp = 2}, .tied = true},
                    Case{.name = "TiedPp2Dp2", .layout = {.pp = 2, .dp = 2}, .tied = true},
                    Case{.name = "TiedTp2Pp2", .layout = {.tp = 2, .pp = 2}, .tied = true}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace meshwright
