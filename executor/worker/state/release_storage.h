// ReleaseStorage() frees the memory of a tensor.
#pragma once

#include <ATen/core/Tensor.h>

namespace meshwright::worker {

// Frees the memory immediately, regardless of other references. A communicator's threads may keep
// references for a moment after the operation, which would make peak memory vary by chance.
// REQUIRES: no view of the tensor is used any more.
inline void ReleaseStorage(const at::Tensor& tensor) {
  c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
  storage->set_data_ptr_noswap(c10::DataPtr(nullptr, tensor.device()));
  storage->set_nbytes(0);
}

}  // namespace meshwright::worker
