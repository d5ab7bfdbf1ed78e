// Lists the fields of a fingerprint (planner/codec/fields.h), in cluster files and device
// benchmarks.
#pragma once

#include "planner/codec/fields.h"
#include "planner/spec/fingerprint.h"

namespace meshwright::planner {

template <ConstOr<MachineFacts> Machine, typename Visitor>
void VisitFields(Machine& machine, Visitor& visit) {
  const auto said = [](const std::string& text, Field field) {
    return OnlyIf(!text.empty(), field);
  };
  visit(said(machine.driver, {"driver", "Version of the devices' driver; absent where unknown"}),
        machine.driver);
  visit(said(machine.cuda, {"cuda", "Version of the CUDA runtime; absent where unknown"}),
        machine.cuda);
  visit(said(machine.nccl, {"nccl", "Version of NCCL; absent where unknown"}), machine.nccl);
  visit(said(machine.host_cpu, {"host_cpu", "The host's processor; absent where unknown"}),
        machine.host_cpu);
}

template <ConstOr<Fingerprint> Print, typename Visitor>
void VisitFields(Print& fingerprint, Visitor& visit) {
  visit({"device", "Name of the device that the driver reports"}, fingerprint.device);
  visit(Inside("machine"), fingerprint.machine);
  visit({"date", "Date of the measurement, YYYY-MM-DD"}, fingerprint.date);
  visit({"command", "Command that wrote the figures"}, fingerprint.command);
}

}  // namespace meshwright::planner
