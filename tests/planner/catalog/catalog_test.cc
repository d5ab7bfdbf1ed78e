#include "planner/catalog/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "nlohmann/json.hpp"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;

TEST(Presets, AllResolve) {
  for (const std::string& name : ModelNames()) EXPECT_TRUE(FindModel(name).ok()) << name;
  for (const std::string& name : ClusterNames()) EXPECT_TRUE(FindCluster(name, 2).ok()) << name;
  for (const std::string& name : ProfileNames()) EXPECT_TRUE(FindProfile(name).ok()) << name;
}

TEST(Presets, OfTheContractAreThere) {
  EXPECT_THAT(ModelNames(),
              testing::IsSupersetOf({"llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b",
                                     "llama-3-70b", "llama-3-405b", "llama-3.2-1b", "llama-3.2-3b",
                                     "qwen2.5-7b", "qwen2.5-32b", "qwen2.5-72b", "hagemann-13b",
                                     "hagemann-30b", "hagemann-65b", "tinystories-15m"}));
  EXPECT_THAT(ClusterNames(),
              testing::IsSupersetOf({"a100-40", "a100-80", "h100", "h200", "b200", "local-cpu"}));
  EXPECT_THAT(ProfileNames(), testing::IsSupersetOf({"megatron", "meshwright"}));
}

TEST(Presets, UnknownNameListsTheNearest) {
  const auto model = FindModel("lama-3-8b");
  ASSERT_EQ(model.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(model.status().message()), HasSubstr("nearest: llama-3-8b"));
}

TEST(LocalCpu, HasTheCoresOfTheHost) {
  EXPECT_EQ(FindCluster("local-cpu", 12)->physical_cores, 12);
  EXPECT_EQ(FindCluster("h100", 12)->physical_cores, 0);
}

// fp32 products are IEEE's: nothing turns TF32 on.
TEST(Presets, Fp32OnAGpuIsNotTf32) {
  const HardwareProfile h100 = FindCluster("h100", 1)->device;
  EXPECT_EQ(h100.PeakFlops(NumberFormat::kFp32), 67e12);
  EXPECT_EQ(h100.peak_tf32_flops, 494.5e12);
  for (const std::string& name : ClusterNames()) {
    const ClusterSpec cluster = FindCluster(name, 1).value();
    const HardwareProfile& device = cluster.device;
    if (SharesCores(cluster.device_kind()) || device.peak_tf32_flops == 0.0) continue;
    // Boards for games and inference have TF32 at fp32's rate.
    EXPECT_GT(device.peak_tf32_flops, 0.95 * device.PeakFlops(NumberFormat::kFp32)) << name;
    const bool trains = cluster.rests_on >= Evidence::kDataSheet;
    if (trains) {
      EXPECT_GT(device.peak_tf32_flops, 1.9 * device.PeakFlops(NumberFormat::kFp32)) << name;
    }
  }
}

// A file from before there was a key for TF32 may have its peak as fp32's.
TEST(ClusterJson, AFileWithoutTf32sPeakMeansWhatItSays) {
  auto object = nlohmann::json::parse(ClusterToJson(FindCluster("h100", 1).value()));
  object["device"].erase("peak_tf32_flops");
  object["device"]["peak_fp32_flops"] = 494.5e12;
  const auto cluster = ClusterFromJson(object.dump(), 1);
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  EXPECT_EQ(cluster->device.PeakFlops(NumberFormat::kFp32), 494.5e12);
  EXPECT_EQ(cluster->device.peak_tf32_flops, 0.0);
}

TEST(ClusterJson, MessagesTakeFewChannelsBuffersWhereNothingElseIsSaid) {
  auto object = nlohmann::json::parse(ClusterToJson(FindCluster("h100", 1).value()));
  object["device"].erase("point_to_point_communicator_bytes");
  EXPECT_EQ(ClusterFromJson(object.dump(), 1)->device.point_to_point_communicator_bytes, 16 << 20);
  // No more than any other communicator.
  object["device"]["communicator_bytes"] = 12345;
  EXPECT_EQ(ClusterFromJson(object.dump(), 1)->device.point_to_point_communicator_bytes, 12345);
}

TEST(ClusterJson, RoundTrips) {
  for (const std::string& name : ClusterNames()) {
    const ClusterSpec cluster = FindCluster(name, 3).value();
    EXPECT_EQ(ClusterFromJson(ClusterToJson(cluster), 99).value(), cluster) << name;
  }
}

TEST(ClusterJson, HasTheFastestAttentionByHeadSizeWhereItWasMeasured) {
  auto object = nlohmann::json::parse(ClusterToJson(FindCluster("h100", 1).value()));
  nlohmann::json& fastest = object["device"]["fastest_attention"];
  fastest = {{{"head_dim", 64}, {"kernel", "cudnn"}, {"source", "a test"}}};
  const ClusterSpec cluster = ClusterFromJson(object.dump(), 1).value();
  EXPECT_EQ(cluster.device.fastest_attention,
            (std::vector<FastestAttention>{
                {.head_dim = 64, .kernel = AttentionKernel::kCudnn, .source = "a test"}}));
  EXPECT_EQ(ClusterFromJson(ClusterToJson(cluster), 1).value(), cluster);
  const auto problem_with = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json broken = object;
    broken["device"]["fastest_attention"][0][key] = value;
    return FieldOf(ClusterFromJson(broken.dump(), 1).status());
  };
  for (const char* key : {"head_dim", "kernel", "source", "unknown"}) {
    EXPECT_EQ(problem_with(key, nlohmann::json::array()),
              std::string("device.fastest_attention[0].") + key);
  }
  EXPECT_EQ(problem_with("kernel", "fastest"), "device.fastest_attention.kernel");
  EXPECT_EQ(problem_with("head_dim", 0), "device.fastest_attention.head_dim");
}

TEST(ProfileJson, RoundTrips) {
  for (const std::string& name : ProfileNames()) {
    const FrameworkProfile profile = FindProfile(name).value();
    EXPECT_EQ(ProfileFromJson(ProfileToJson(profile)).value(), profile) << name;
  }
}

TEST(ProfileJson, NamesTheOrderOfRanksWhereItIsNotEverybodys) {
  FrameworkProfile profile = FindProfile("megatron").value();
  EXPECT_EQ(ProfileToJson(profile).find("mesh_order"), std::string::npos);
  profile.communication.mesh_order = ParseMeshOrder("tp-cp-pp-dp").value();
  EXPECT_NE(ProfileToJson(profile).find("\"mesh_order\": \"tp-cp-pp-dp\""), std::string::npos);
  EXPECT_EQ(ProfileFromJson(ProfileToJson(profile)).value(), profile);
}

TEST(ProfileJson, TheWorkerHasOneOrderOfRanks) {
  FrameworkProfile profile = FindProfile("meshwright").value();
  profile.communication.mesh_order = ParseMeshOrder("dp-cp-pp-tp").value();
  EXPECT_EQ(FieldOf(ProfileFromJson(ProfileToJson(profile)).status()), "mesh_order");
}

TEST(ProfileJson, NamesTheEngineByTheWorkersAllocations) {
  EXPECT_EQ(ProfileFromJson(R"({"name": "x"})")->engine, Engine::kFramework);
  EXPECT_EQ(ProfileFromJson(R"({"name": "x", "worker_allocations": true})")->engine,
            Engine::kWorker);
  EXPECT_EQ(nlohmann::json::parse(ProfileToJson(FindProfile("meshwright").value()))
                .at("worker_allocations"),
            true);
}

TEST(ProfileJson, IsFlatWhicheverStructHoldsTheMember) {
  const auto object = nlohmann::json::parse(ProfileToJson(FindProfile("megatron").value()));
  for (const char* key :
       {"gradient_bytes", "fused_swiglu", "matmul_share", "tp_hop_s", "max_zero"}) {
    EXPECT_TRUE(object.contains(key)) << key;
  }
  for (const auto& [key, value] : object.items()) {
    EXPECT_TRUE(!value.is_object() || key == "sources" || key == "calibration" || key == "variants")
        << key;
  }
}

TEST(Names, HaveNothingThatATerminalObeys) {
  constexpr char kCluster[] =
      R"({"based_on": "h100", "name": "c\u001b[2J", "device": {"name": "d\u0007"}})";
  const auto cluster = ClusterFromJson(kCluster, 1);
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  EXPECT_EQ(cluster->name, "c\\x1b[2J");
  EXPECT_EQ(cluster->device.name, "d\\x07");
  const auto profile =
      ProfileFromJson(R"({"based_on": "aleph-alpha-scaling", "name": "p\u001b[2J"})");
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->name, "p\\x1b[2J");
}

TEST(ClusterJson, ProblemNamesTheKey) {
  EXPECT_THAT(std::string(ClusterFromJson("{}", 1).status().message()), HasSubstr("name"));
  EXPECT_THAT(std::string(ClusterFromJson("[]", 1).status().message()), HasSubstr("cluster"));
  auto object = nlohmann::json::parse(ClusterToJson(FindCluster("h100", 1).value()));
  object["device"]["memory_bytes"] = -1;
  EXPECT_THAT(std::string(ClusterFromJson(object.dump(), 1).status().message()),
              HasSubstr("device.memory_bytes = -1"));
}

Calibration InventedCalibration() {
  return {.command = "meshwright calibrate --measurements runs.csv",
          .rows = 61,
          .sources = {"us", "them"},
          .median_error = 0.04,
          .mean_error = 0.0625,
          .constants = {{.name = "loss_traffic_bytes",
                         .prior = 10.0,
                         .prior_sigma = 0.5,
                         .value = 9.25,
                         .sigma = 0.4},
                        {.name = "matmul_efficiency",
                         .prior = 0.81,
                         .prior_sigma = 0.1,
                         .value = 0.7973892313836461,
                         .sigma = 0.0125}}};
}

TEST(CalibrationJson, RoundTripsInsideClusterAndProfile) {
  ClusterSpec cluster = FindCluster("h200", 1).value();
  EXPECT_EQ(cluster.calibration, Calibration());
  cluster.calibration = InventedCalibration();
  EXPECT_EQ(ClusterFromJson(ClusterToJson(cluster), 1).value(), cluster);
  FrameworkProfile profile = FindProfile("meshwright").value();
  profile.calibration = InventedCalibration();
  EXPECT_EQ(ProfileFromJson(ProfileToJson(profile)).value(), profile);
}

TEST(CalibrationJson, IsAbsentWhereNothingWasFitted) {
  EXPECT_FALSE(
      nlohmann::json::parse(ClusterToJson(FindCluster("h200", 1).value())).contains("calibration"));
}

TEST(CalibrationJson, ProblemNamesTheConstant) {
  ClusterSpec cluster = FindCluster("h200", 1).value();
  cluster.calibration = InventedCalibration();
  auto object = nlohmann::json::parse(ClusterToJson(cluster));
  auto& constants = object["calibration"]["constants"];
  constants["matmul_efficiency"].erase("prior");
  EXPECT_THAT(std::string(ClusterFromJson(object.dump(), 1).status().message()),
              HasSubstr("calibration.constants.matmul_efficiency.prior"));
  constants["matmul_efficiency"] = 0.8;
  EXPECT_THAT(std::string(ClusterFromJson(object.dump(), 1).status().message()),
              HasSubstr("calibration.constants.matmul_efficiency = 0.8"));
}

TEST(KernelSupportJson, RoundTripsAndIsAbsentWhereNothingIsLimited) {
  const FrameworkProfile worker = FindProfile("meshwright").value();
  EXPECT_TRUE(worker.supports.kernels.ffn.Has(FfnKind::kSwiGlu));
  EXPECT_TRUE(worker.supports.kernels.ffn.Has(FfnKind::kRelu));
  EXPECT_EQ(worker.supports.kernels.cuda_head_sizes.size(), 3u);
  EXPECT_EQ(ProfileFromJson(ProfileToJson(worker)).value(), worker);
  const FrameworkProfile other = FindProfile("megatron").value();
  EXPECT_EQ(other.supports.kernels, KernelSupport());
  const auto object = nlohmann::json::parse(ProfileToJson(other));
  for (const char* key : {"ffn_kinds", "cuda_attention", "cuda_head_sizes", "max_cp"}) {
    EXPECT_FALSE(object.contains(key)) << key;
  }
}

TEST(KernelSupportJson, ProblemNamesTheKey) {
  const auto object = nlohmann::json::parse(ProfileToJson(FindProfile("meshwright").value()));
  const auto message = [](const nlohmann::json& changed) {
    return std::string(ProfileFromJson(changed.dump()).status().message());
  };
  auto changed = object;
  changed["ffn_kinds"] = {"maxout"};
  EXPECT_THAT(message(changed), HasSubstr("must be one of swiglu, gelu, relu"));
  changed = object;
  changed["cuda_head_sizes"][0]["multiple_of"] = 0;
  EXPECT_THAT(message(changed), HasSubstr("multiple_of = 0"));
  changed = object;
  changed["cuda_head_sizes"][0]["least"] = 8;
  EXPECT_THAT(message(changed), HasSubstr("least"));
  changed = object;
  changed["max_vpp"] = -1;
  EXPECT_THAT(message(changed), HasSubstr("max_vpp = -1"));
}

}  // namespace
}  // namespace meshwright::planner
