// kChangedOptions has, for each option of a run, a value other than the default and a framework
// that supports it. Tests change one option after the other.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "planner/spec/option_choice.h"

namespace meshwright::planner {

struct ChangedOption {
  std::string_view name;
  std::string_view value;
  std::string_view framework = "megatron";
};

inline constexpr std::array<ChangedOption, 9> kChangedOptions = {{
    {.name = "states", .value = "master=none,grad=bf16,m=int8,v=bf16"},
    {.name = "loss", .value = "chunked:8"},
    {.name = "documents", .value = "512"},
    {.name = "compile", .value = "off", .framework = "torchtitan-fsdp"},
    {.name = "cuda_graphs", .value = "iteration", .framework = "nemo"},
    {.name = "dispatcher", .value = "deepep"},
    {.name = "experts", .value = "replicated"},
    {.name = "train", .value = "lora:16:q_proj,v_proj"},
    {.name = "optimizer", .value = "muon"},
}};

// Returns the options that runs of models without experts can have.
inline std::vector<ChangedOption> OptionsOfDenseModels() {
  std::vector<ChangedOption> options(kChangedOptions.begin(), kChangedOptions.end());
  std::erase_if(options, [](const ChangedOption& option) { return option.name == "experts"; });
  return options;
}

// Returns the training with the option set. REQUIRES: `option` is one of kChangedOptions.
inline TrainingSpec WithOption(TrainingSpec training, const ChangedOption& option) {
  SetOption(option.name, option.name, option.value, training).IgnoreError();
  return training;
}

}  // namespace meshwright::planner
