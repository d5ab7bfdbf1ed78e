// Fingerprint says on which machine, with which software and by which command the figures of a
// cluster were measured. A text is empty if it is not known.
#pragma once

#include <string>
#include <vector>

namespace meshwright::planner {

// A host and the software that runs its devices.
struct MachineFacts {
  std::string driver;    // version of the devices' driver, such as "580.82.07"
  std::string cuda;      // version of the runtime, such as "13.0"
  std::string nccl;      // version, such as "2.28.9"
  std::string host_cpu;  // name of the processor, from the host's kernel

  friend bool operator==(const MachineFacts&, const MachineFacts&) = default;
};

struct Fingerprint {
  std::string device;  // name of the device, from the driver
  MachineFacts machine;
  std::string date;  // YYYY-MM-DD
  std::string command;

  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

// Returns the differences of device and machine, each as a phrase such as "driver 570.86 where
// 580.82 was measured". A fact that only one of the fingerprints has is not a difference.
std::vector<std::string> DifferencesFrom(const Fingerprint& measured, const Fingerprint& found);

}  // namespace meshwright::planner
