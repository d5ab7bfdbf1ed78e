// One worker as a child process: its start, its two streams, its end.
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
  std::string plan;  // its standard input
  int32_t rank = 0;
  int32_t local_rank = 0;    // its device
  int32_t first_device = 0;  // of SpawnWorkers() that of the first rank
  int32_t world_size = 1;
  int32_t local_world_size = 1;       // ranks of this host
  std::string address = "127.0.0.1";  // of this host, as the other ranks reach it
  uint16_t master_port = 0;           // on this host, whichever has rank 0
  int listen_fd = -1;                 // handed to rank 0, which serves the rendezvous
};

// What the kernel may take to end a worker that was killed: all of its memory is given back.
inline constexpr std::chrono::milliseconds kLongestKill(5000);

class WorkerProcess final : public RankProcess {
 public:
  // The worker gets the environment of this process with torchrun's variables for its rank, a
  // process group of its own, and no descriptor beside standard streams, events and the listener.
  // It is killed when the calling thread ends.
  static absl::StatusOr<WorkerProcess> Spawn(const WorkerLaunch& launch);

  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  // Ends a worker that still runs; says on standard error where it can't be ended.
  ~WorkerProcess() override;

  void AddDescriptors(std::vector<pollfd>& descriptors) const override;
  bool TryReap() override;
  std::vector<std::string> ReadEvents() override;
  void ReadOutput() override;
  const std::string& output_tail() const override { return tail_; }

  void Kill() override;
  // One that is left is reaped when another worker is spawned after its end.
  bool End(std::chrono::milliseconds limit) override;
  bool ended() const override { return pid_ < 0; }
  pid_t pid() const override { return pid_; }
  void TellEnd(RankRecord& record) const override { ApplyExit(wait_status_, record); }
  // As waitpid() has it; valid once ended.
  int wait_status() const { return wait_status_; }

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

// Workers for `ranks`, all that this host has of a run, in their order; `launch` says the rest of
// them, and holds the listener for rank 0. Those that were started are ended where one can't be.
absl::StatusOr<std::vector<WorkerProcess>> SpawnWorkers(WorkerLaunch launch,
                                                        const std::vector<int32_t>& ranks);

// A socket that listens on 127.0.0.1 on a port that the kernel chose. The workers' rendezvous is
// handed this socket, so no other process can take the port in between.
struct Listener {
  UniqueFd socket;
  uint16_t port = 0;
};
absl::StatusOr<Listener> ListenOnLoopback();

}  // namespace meshwright::trial
