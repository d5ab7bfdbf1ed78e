// WorkerProcess is one worker as a child process. It spawns the worker, reads its events and
// output, and ends it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/system/unique_fd.h"
#include "executor/trial/process_end.h"
#include "executor/trial/rank_process.h"

namespace meshwright::trial {

struct WorkerLaunch {
  std::string path;  // of the meshwright-worker binary
  std::string plan;  // the worker's standard input
  int32_t rank = 0;
  int32_t local_rank = 0;    // index of its device
  int32_t first_device = 0;  // for SpawnWorkers(): the first rank's device
  int32_t world_size = 1;
  int32_t local_world_size = 1;       // ranks on this host
  std::string address = "127.0.0.1";  // at which the other ranks reach this host
  uint16_t master_port = 0;           // port of the rendezvous on this host
  int listen_fd = -1;                 // passed to rank 0, which serves the rendezvous
};

// Longest wait for the end of a killed worker. The kernel needs time to free the worker's memory.
inline constexpr std::chrono::milliseconds kLongestKill(5000);

class WorkerProcess final : public LocalProcess {
 public:
  // Spawns a worker in a process group of its own, with this process's environment plus torchrun's
  // variables for its rank. The only descriptors it gets are the standard streams, the event pipe
  // and the listener. It is killed when the calling thread ends.
  static absl::StatusOr<WorkerProcess> Spawn(const WorkerLaunch& launch);

  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  // Ends a worker that still runs, and reports on standard error if that fails.
  ~WorkerProcess() override;

  void AddDescriptors(std::vector<pollfd>& descriptors) const override;
  bool TryReap() override;
  std::vector<std::string> ReadEvents() override;
  void ReadOutput() override;
  const std::string& output_tail() const override { return tail_; }

  void Kill() override;
  // A process that does not end in time is reaped later, when another worker is spawned.
  bool End(std::chrono::milliseconds limit) override;
  bool ended() const override { return pid_ < 0; }
  pid_t pid() const override { return pid_; }
  void TellEnd(RankRecord& record) const override { ApplyExit(wait_status_, record); }
  int wait_status() const override { return wait_status_; }

 private:
  WorkerProcess() = default;

  ProcessWait SystemWait() const;

  pid_t pid_ = -1;
  bool left_ = false;
  int wait_status_ = 0;
  UniqueFd events_;
  UniqueFd output_;
  UniqueFd exit_;
  std::string partial_line_;
  std::string tail_;
};

// Spawns a worker for each of `ranks`, which are all ranks of a run on this host, in order.
// `launch` has everything else that the workers need, and the listener for rank 0. If a worker
// can't be started, ends the earlier ones and returns the error.
absl::StatusOr<std::vector<WorkerProcess>> SpawnWorkers(WorkerLaunch launch,
                                                        const std::vector<int32_t>& ranks);

// A listening socket on 127.0.0.1 on a port that the kernel chose. The rendezvous gets the socket
// itself, so no other process can take the port in between.
struct Listener {
  UniqueFd socket;
  uint16_t port = 0;
};
absl::StatusOr<Listener> ListenOnLoopback();

}  // namespace meshwright::trial
