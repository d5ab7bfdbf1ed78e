#include "executor/worker/model/offloaded_block.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "executor/worker/model/kept_tensors.h"

namespace meshwright::worker {
namespace {

// Views a storage's memory as a tensor of bytes.
at::Tensor BytesOf(const c10::Storage& storage) {
  at::Tensor bytes = at::empty({0}, at::TensorOptions().dtype(at::kByte).device(storage.device()));
  return bytes.set_(storage, 0, {static_cast<int64_t>(storage.nbytes())}, {1});
}

}  // namespace

OffloadedBlock::OffloadedBlock(RankContext& context, BlockSaved& saved) {
  const at::Device device = context.device->torch_device();
  const auto add = [&](planner::KeptTensor, const at::Tensor& tensor) {
    if (!tensor.defined() || tensor.nbytes() == 0 || tensor.device().type() != device.type()) {
      return;
    }
    const c10::Storage& storage = tensor.storage();
    const bool known = std::any_of(pieces_.begin(), pieces_.end(), [&storage](const Piece& piece) {
      return piece.storage.is_alias_of(storage);
    });
    if (!known) pieces_.push_back({.storage = storage, .on_host = {}});
  };
  ForEachTensor(saved.attention, add);
  ForEachTensor(saved.ffn, add);
  for (Piece& piece : pieces_) {
    const at::Tensor on_device = BytesOf(piece.storage);
    piece.on_host = context.host_memory.Allocate(on_device.numel(), at::kByte, device);
    piece.on_host.copy_(on_device, /*non_blocking=*/true);
    piece.storage.set_data_ptr_noswap(c10::DataPtr(nullptr, piece.storage.device()));
  }
}

void OffloadedBlock::Return() {
  for (Piece& piece : pieces_) {
    piece.storage.set_data_ptr_noswap(piece.storage.allocator()->allocate(piece.storage.nbytes()));
    BytesOf(piece.storage).copy_(piece.on_host, /*non_blocking=*/true);
  }
  pieces_.clear();
}

}  // namespace meshwright::worker
