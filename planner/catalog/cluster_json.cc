#include <algorithm>
#include <utility>

#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/cluster_fields.h"
#include "planner/codec/json_codec.h"
#include "planner/codec/json_fields.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

// NCCL_BUFFSIZE's 4 MiB for each of the 4 channels that the worker gives a group of messages.
constexpr int64_t kLaneBufferBytes = int64_t{16} << 20;
constexpr int64_t kNotSaid = -(int64_t{1} << 62);

}  // namespace

absl::StatusOr<ClusterSpec> ClusterFromJson(std::string_view text, int32_t host_cores,
                                            FindText find_base) {
  ASSIGN_OR_RETURN(json own, ParseJsonObject("cluster", text));
  ASSIGN_OR_RETURN(json object, OnItsBase("cluster", std::move(own), find_base));
  // A count, or "detect" for the cores of the machine that asks.
  if (object.contains("physical_cores") && object["physical_cores"] == "detect") {
    object["physical_cores"] = host_cores;
  }
  ClusterSpec cluster;
  cluster.device.compute_units = 1;
  cluster.device.tile_m = 1;
  cluster.device.tile_n = 1;
  cluster.device.point_to_point_communicator_bytes = kNotSaid;
  RETURN_IF_ERROR(ReadJson("cluster", object, UnknownKeys::kRefuse, cluster));
  HardwareProfile& device = cluster.device;
  if (device.point_to_point_communicator_bytes == kNotSaid) {
    device.point_to_point_communicator_bytes =
        std::min(device.communicator_bytes, kLaneBufferBytes);
  }
  // A fitted file without the key rests on the runs of its fit.
  const bool says_evidence = object.contains("rests_on") && !object["rests_on"].is_null();
  if (!says_evidence && cluster.calibration.rows > 0) cluster.rests_on = Evidence::kRuns;
  RETURN_IF_ERROR(Validate(cluster));
  return cluster;
}

std::string ClusterToJson(const ClusterSpec& cluster) { return WriteOrderedJson(cluster).dump(2); }

}  // namespace meshwright::planner
