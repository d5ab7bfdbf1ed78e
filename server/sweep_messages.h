// How stored records look on the wire.
#pragma once

#include <string_view>

#include "db/records.h"
#include "meshwright/v1/sweeps.pb.h"

namespace meshwright::server {

v1::Sweep ToWire(const db::SweepRecord& sweep);
// Where stored JSON is not what this program writes, with what can be read and a word on the rest.
v1::Trial ToWire(const db::TrialRecord& trial, const db::SweepRecord& sweep);
v1::Attempt ToWire(const db::AttemptRecord& attempt);
v1::SweepEvent ToWire(const db::EventRecord& event, std::string_view sweep_name);

}  // namespace meshwright::server
