#include "executor/trial/benchmark_events.h"

#include "executor/trial/event_json.h"
#include "planner/measurement/device_benchmark_fields.h"

namespace meshwright::trial {

template <planner::ConstOr<DeviceEvent> Device, typename Visitor>
void VisitFields(Device& device, Visitor& visit) {
  visit(planner::Needed("name"), device.name);
  visit(planner::Needed("memory_bytes"), device.memory_bytes);
  visit(planner::Needed("compute_units"), device.compute_units);
  visit(planner::Needed("physical_cores"), device.physical_cores);
  visit(planner::Inside("machine"), device.machine);
}

template <planner::ConstOr<MeasuredEvent> Measured, typename Visitor>
void VisitFields(Measured& measured, Visitor& visit) {
  visit(planner::Needed("done"), measured.done);
  visit(planner::Needed("cases"), measured.cases);
  visit("matmul", measured.matmul);
  visit("copy", measured.copy);
  visit("collective", measured.collective);
}

template <planner::ConstOr<AliveEvent> Alive, typename Visitor>
void VisitFields(Alive& alive, Visitor& visit) {
  visit("done", alive.done);
  visit("cases", alive.cases);
}

template <planner::ConstOr<BenchmarkDoneEvent> Done, typename Visitor>
void VisitFields(Done&, Visitor&) {}

namespace {

constexpr EventKinds<BenchmarkEvent> kBenchmarkEventKinds = {"", "device", "measured", "alive",
                                                             "benchmark_done"};

}  // namespace

nlohmann::json ToJson(const BenchmarkEvent& event) {
  return EventToJson(kBenchmarkEventKinds, event);
}

absl::StatusOr<BenchmarkEvent> BenchmarkEventFromJson(const nlohmann::json& json) {
  return EventFromJson<BenchmarkEvent>(kBenchmarkEventKinds, json);
}

}  // namespace meshwright::trial
