#include "executor/worker/comm/host_memory.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

namespace meshwright::worker {

at::Tensor HostMemory::Allocate(int64_t elements, at::ScalarType type, at::Device device) {
  const at::TensorOptions options = at::TensorOptions().dtype(type);
  at::Tensor owner;
  {
    const ScopedMemoryAccount nobody(nullptr);
    owner = at::empty({elements}, options.pinned_memory(device.is_cuda()));
  }
  const auto bytes = static_cast<int64_t>(owner.nbytes());
  account_.Take(bytes);
  void* data = owner.mutable_data_ptr();
  return at::from_blob(
      data, {elements}, [this, bytes, owner](void*) { account_.Return(bytes); }, options);
}

}  // namespace meshwright::worker
