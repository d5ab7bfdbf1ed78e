// ToWire() converts stored records to their messages on the wire.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "db/measurement.h"
#include "db/records.h"
#include "meshwright/v1/sweeps.pb.h"

namespace meshwright::server {

// The facts about a sweep that its trials' messages repeat.
struct TrialsSweep {
  std::string name;
  std::string model;
  std::string cluster;
  int64_t devices = 0;
  int64_t seq_len = 0;
  int64_t global_batch = 0;
  uint64_t seed = 0;
};

TrialsSweep OfSweep(const db::SweepRecord& sweep);

v1::Sweep ToWire(const db::SweepRecord& sweep);
// Stored JSON that can't be read is left out of the message, with a note that says so.
v1::Trial ToWire(const db::TrialRecord& trial, const TrialsSweep& sweep, v1::TrialView view);
v1::Trial ToWire(const db::MeasuredRow& row, v1::TrialView view);
v1::AttemptMember ToWire(const db::AttemptMember& member);
v1::Attempt ToWire(const db::AttemptRecord& attempt);
v1::SweepEvent ToWire(const db::EventRecord& event, std::string_view sweep_name);

}  // namespace meshwright::server
