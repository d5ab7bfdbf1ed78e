// Frees the memory of a tensor.
#pragma once

#include <ATen/core/Tensor.h>

namespace meshwright::worker {

// At once, whoever else still refers to it: a communicator's threads may let go of a tensor a
// moment after its operation is over, which would make peak memory a matter of chance. No view of
// the tensor may be used any more.
inline void ReleaseStorage(const at::Tensor& tensor) {
  c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
  storage->set_data_ptr_noswap(c10::DataPtr(nullptr, tensor.device()));
  storage->set_nbytes(0);
}

}  // namespace meshwright::worker
