// Torch is built with NDEBUG, without which its RecordFunction has one more member.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define NDEBUG
#include <ATen/TensorOperators.h>
#include <ATen/record_function.h>
#pragma pop_macro("NDEBUG")

#include <cstddef>
#include <utility>

#include "executor/worker/comm/fake_communicator.h"
#include "tests/executor/worker/model/run_recorder.h"

namespace meshwright::worker {
namespace {

// Whose thread this is.
thread_local RunRecorder* current_recorder = nullptr;

std::unique_ptr<at::ObserverContext> OnAten(const at::RecordFunction& function) {
  if (current_recorder != nullptr) {
    current_recorder->AddAten(function.name(), function.inputs());
  }
  return nullptr;
}

// Of queries [batch, heads, queries, head_dim] and keys likewise.
int64_t Pairs(const at::Tensor& queries, const at::Tensor& keys, bool causal,
              const c10::IValue& mask) {
  if (mask.isTensor()) {
    const at::Tensor seen = mask.toTensor() == 0;
    return queries.size(0) * queries.size(1) * seen.sum().item<int64_t>();
  }
  return queries.size(0) * queries.size(1) * queries.size(2) * keys.size(2) / (causal ? 2 : 1);
}

// "layers.0.gate" and "layers.0.up": "gate+up".
std::string NameOf(const LocalParameter& parameter) {
  std::string name;
  for (const ParameterPart& part : parameter.parts) {
    if (!name.empty()) name += '+';
    name += part.name.substr(part.name.rfind('.') + 1);
  }
  return name;
}

class RecordingKernels final : public kernels::Kernels {
 public:
  RecordingKernels(const kernels::Kernels& kernels, RunRecorder& recorder)
      : kernels_(kernels), recorder_(recorder) {}

  void Run(const kernels::RmsNormForward& args) const override {
    if (args.branch != nullptr) recorder_.Add(ran::kResidual, nullptr, {args.rows * args.width});
    recorder_.Add(ran::kNorm, args.weight, {args.rows * args.width});
    recorder_.Close();
    kernels_.Run(args);
  }
  void Run(const kernels::RmsNormBackward& args) const override {
    recorder_.Add(ran::Gradient(ran::kNorm), args.weight_gradient, {args.rows * args.width});
    if (args.residual_gradient != nullptr) {
      recorder_.Add(ran::Gradient(ran::kResidual), nullptr, {args.rows * args.width});
    }
    recorder_.Close();
    kernels_.Run(args);
  }
  void Run(const kernels::LayerNormForward& args) const override {
    if (args.branch != nullptr) recorder_.Add(ran::kResidual, nullptr, {args.rows * args.width});
    recorder_.Add(ran::kNorm, args.weight, {args.rows * args.width});
    recorder_.Continue(ran::kNorm, args.bias, 0);
    recorder_.Close();
    kernels_.Run(args);
  }
  void Run(const kernels::LayerNormBackward& args) const override {
    recorder_.Add(ran::Gradient(ran::kNorm), args.weight_gradient, {args.rows * args.width});
    recorder_.Continue(ran::Gradient(ran::kNorm), args.bias_gradient, 0);
    if (args.residual_gradient != nullptr) {
      recorder_.Add(ran::Gradient(ran::kResidual), nullptr, {args.rows * args.width});
    }
    recorder_.Close();
    kernels_.Run(args);
  }
  void Run(const kernels::HeadNormForward& args) const override {
    recorder_.Continue(ran::kNorm, args.weight, args.rows * args.heads * args.head_dim);
    kernels_.Run(args);
  }
  void Run(const kernels::HeadNormBackward& args) const override {
    recorder_.Continue(ran::Gradient(ran::kNorm), args.weight_gradient,
                       args.rows * args.heads * args.head_dim);
    kernels_.Run(args);
  }
  void Run(const kernels::SwigluForward& args) const override {
    recorder_.Add(ran::kActivation, nullptr, {args.rows * args.width});
    kernels_.Run(args);
  }
  void Run(const kernels::SwigluBackward& args) const override {
    recorder_.Add(ran::Gradient(ran::kActivation), nullptr, {args.rows * args.width});
    kernels_.Run(args);
  }
  // Blocks with experts are not recorded yet.
  void Run(const kernels::RouterForward& args) const override { kernels_.Run(args); }
  void Run(const kernels::RouterBackward& args) const override { kernels_.Run(args); }
  void Run(const kernels::GatherRows& args) const override { kernels_.Run(args); }
  void Run(const kernels::ScatterRows& args) const override { kernels_.Run(args); }
  void Run(const kernels::SumRows& args) const override { kernels_.Run(args); }
  void Run(const kernels::ExpertSwigluForward& args) const override { kernels_.Run(args); }
  void Run(const kernels::ExpertSwigluBackward& args) const override { kernels_.Run(args); }
  void Run(const kernels::WeighedBias& args) const override { kernels_.Run(args); }
  void Run(const kernels::WeighedBiasBackward& args) const override { kernels_.Run(args); }
  void Run(const kernels::ActivationForward& args) const override {
    recorder_.Add(ran::kActivation, nullptr, {args.count});
    kernels_.Run(args);
  }
  void Run(const kernels::ActivationBackward& args) const override {
    recorder_.Add(ran::Gradient(ran::kActivation), nullptr, {args.count});
    kernels_.Run(args);
  }
  void Run(const kernels::BiasGradient& args) const override {
    recorder_.Add(ran::kBias, args.bias_gradient, {args.width});
    kernels_.Run(args);
  }
  void Run(const kernels::Rope& args) const override {
    recorder_.Continue(args.inverse ? ran::Gradient(ran::kRope) : std::string(ran::kRope), nullptr,
                       args.rows * args.heads * args.head_dim);
    kernels_.Run(args);
  }
  void Run(const kernels::AttentionMerge& args) const override { kernels_.Run(args); }
  // They belong to attention.
  void Run(const kernels::AttentionSink& args) const override {
    recorder_.Continue(ran::kAttention, args.sinks, 0);
    kernels_.Run(args);
  }
  void Run(const kernels::AttentionSinkGradient& args) const override {
    recorder_.Continue(ran::Gradient(ran::kAttention), args.sink_gradient, 0);
    kernels_.Run(args);
  }
  void Run(const kernels::CrossEntropyStatistics& args) const override {
    recorder_.Add(ran::kCrossEntropy, nullptr, {args.rows * args.width});
    kernels_.Run(args);
  }
  void Run(const kernels::CrossEntropyRescale& args) const override { kernels_.Run(args); }
  void Run(const kernels::CrossEntropyLoss& args) const override { kernels_.Run(args); }
  void Run(const kernels::CrossEntropyBackward& args) const override {
    recorder_.Add(ran::Gradient(ran::kCrossEntropy), nullptr, {args.rows * args.width});
    kernels_.Run(args);
  }
  void Run(const kernels::EmbeddingForward& args) const override {
    recorder_.Add(ran::kLookup, args.table, {args.rows * args.width});
    kernels_.Run(args);
  }
  void Run(const kernels::EmbeddingBackward& args) const override {
    recorder_.Add(ran::Gradient(ran::kLookup), args.table_gradient, {args.rows * args.width});
    kernels_.Run(args);
  }
  void Run(const kernels::Accumulate& args) const override { kernels_.Run(args); }
  void Run(const kernels::SumOfSquares& args) const override { kernels_.Run(args); }
  void Run(const kernels::RandomNormal& args) const override { kernels_.Run(args); }
  void Run(const kernels::AdamW& args) const override { kernels_.Run(args); }
  void Run(const kernels::Quantise& args) const override { kernels_.Run(args); }
  void Run(const kernels::Dequantise& args) const override { kernels_.Run(args); }

 private:
  const kernels::Kernels& kernels_;
  RunRecorder& recorder_;
};

}  // namespace

void PrintTo(const RanOperator& op, std::ostream* out) {
  *out << op.what;
  if (!op.parameters.empty()) *out << ' ' << op.parameters;
  for (size_t i = 0; i < op.size.size(); ++i) *out << (i == 0 ? ' ' : 'x') << op.size[i];
}

void PrintTo(const RanCollective& collective, std::ostream* out) {
  *out << planner::CollectiveKindName(collective.kind) << ' '
       << planner::GroupRoleName(collective.group) << ' ' << collective.bytes << " B";
}

std::string ran::Gradient(std::string_view what) { return std::string(what) + " gradient"; }

RunRecorder::RunRecorder()
    : callback_(
          at::addThreadLocalCallback(at::RecordFunctionCallback(&OnAten).needsInputs(true).scopes(
              {at::RecordScope::FUNCTION}))) {
  current_recorder = this;
}

RunRecorder::~RunRecorder() {
  current_recorder = nullptr;
  at::removeCallback(callback_);
}

std::unique_ptr<Communicator> RunRecorder::Join(planner::GroupRole group, int32_t size) {
  return MakeFakeCommunicator(/*rank=*/0, size, [this, group](const FakeCall& call) {
    // The other side of a message that was sent.
    if (call.operation == planner::CollectiveKind::kReceive) return;
    run_.communicated.push_back({.kind = call.operation, .group = group, .bytes = call.bytes});
  });
}

RankRun RunRecorder::Take() { return std::exchange(run_, {}); }

void RunRecorder::Add(std::string_view what, const void* parameter, std::vector<int64_t> size) {
  closed_ = false;
  run_.computed.push_back(
      {.what = std::string(what), .parameters = ParameterAt(parameter), .size = std::move(size)});
}

void RunRecorder::Continue(std::string_view what, const void* parameter, int64_t elements) {
  const bool same = !closed_ && !run_.computed.empty() && run_.computed.back().what == what;
  if (!same) {
    Add(what, parameter, {elements});
    return;
  }
  RanOperator& op = run_.computed.back();
  op.size.front() += elements;
  const std::string name = ParameterAt(parameter);
  if (name.empty() || name == op.parameters) return;
  op.parameters += (op.parameters.empty() ? "" : "+") + name;
}

// Products as executor/worker/model/linear.cc computes them in fp32 and fp64.
void RunRecorder::AddAten(std::string_view name, c10::ArrayRef<const c10::IValue> inputs) {
  const auto tensor = [inputs](size_t i) -> const at::Tensor& { return inputs[i].toTensor(); };
  const auto data = [&](size_t i) { return tensor(i).const_data_ptr(); };
  if (name == "aten::mm" && inputs.size() == 2) {
    Add(ran::kProduct, data(1), {tensor(0).size(0), tensor(1).size(1), tensor(0).size(1)});
  } else if (name == "aten::mm" || name == "aten::addmm_") {
    // dW = dy^T x. The list has its transpose, x^T dy.
    const bool adds = name == "aten::addmm_";
    const at::Tensor& dy = tensor(adds ? 1 : 0);
    const at::Tensor& x = tensor(adds ? 2 : 1);
    Add(ran::kProduct, data(adds ? 0 : 2), {x.size(1), dy.size(0), dy.size(1)});
  } else if (name == "aten::add_" && inputs[1].isTensor()) {
    if (tensor(0).dim() == 2 && tensor(1).dim() == 2) {
      Add(ran::kResidual, nullptr, {tensor(0).numel()});
    } else if (tensor(1).dim() == 1) {
      Add(ran::kBias, data(tensor(0).dim() == 1 ? 0 : 1), {tensor(1).numel()});
    }
  } else if (name == "aten::_scaled_dot_product_flash_attention_for_cpu") {
    Continue(ran::kAttention, nullptr, Pairs(tensor(0), tensor(1), inputs[4].toBool(), inputs[5]));
  } else if (name == "aten::_scaled_dot_product_flash_attention_for_cpu_backward") {
    Continue(ran::Gradient(ran::kAttention), nullptr,
             Pairs(tensor(1), tensor(2), inputs[7].toBool(), inputs[8]));
  }
}

std::string RunRecorder::ParameterAt(const void* address) const {
  if (address == nullptr) return "";
  const auto lies_in = [address](const at::Tensor& tensor) {
    const auto* begin = static_cast<const std::byte*>(tensor.const_data_ptr());
    const auto* at = static_cast<const std::byte*>(address);
    return begin <= at && at < begin + tensor.nbytes();
  };
  for (const FlatUnit* unit : units_) {
    for (size_t i = 0; i < unit->parameters().size(); ++i) {
      if (lies_in(unit->weight(i)) || lies_in(unit->gradient(i))) {
        return NameOf(unit->parameters()[i]);
      }
    }
  }
  return "unknown";
}

RecordingDevice::RecordingDevice(RunRecorder& recorder)
    : kernels_(std::make_unique<RecordingKernels>(device_.kernels(), recorder)) {}

}  // namespace meshwright::worker
