#include "executor/worker/comm/barrier.h"

#include <ATen/ops/zeros.h>

namespace meshwright::worker {

void Barrier(Communicator& world, Device& device) {
  const at::Tensor token =
      at::zeros({1}, at::TensorOptions().dtype(at::kFloat).device(device.torch_device()));
  world.AllReduce(token, Reduction::kSum).Wait();
  device.Synchronize();
}

}  // namespace meshwright::worker
