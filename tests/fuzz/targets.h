// The inputs from outside that the project reads, each as a function of bytes that a fuzzer varies.
//
// A target reads the bytes as its kind of input. Whatever they are, it may not crash, hang, or
// accept what it does not give back: where an input is accepted and has a text or message form of
// its own, that form is read again and must be the same. A target that finds otherwise aborts with
// a sentence.
#pragma once

#include <array>
#include <string_view>

namespace meshwright::fuzz {

struct Target {
  std::string_view name;  // also that of its folder in tests/fuzz/corpus
  void (*run)(std::string_view bytes);
};

void ReadModelConfig(std::string_view json);      // a HuggingFace config.json
void ReadLayout(std::string_view text);           // the text form of a layout
void ReadFilter(std::string_view text);           // the condition of --where
void ReadHistoryFilter(std::string_view text);    // the condition of `history --where`, as SQL
void ReadMeasurements(std::string_view csv);      // runs in the format of `validate`
void ReadTrialPlan(std::string_view json);        // what a worker is given
void ReadTrialResult(std::string_view json);      // what a worker answers
void ReadPlanRequest(std::string_view message);   // from a client
void ReadAgentMessage(std::string_view message);  // from an agent
void ReadGangStream(std::string_view stream);     // from another member of a gang, or a stranger

inline constexpr std::array<Target, 10> kTargets = {{{"config", ReadModelConfig},
                                                     {"layout", ReadLayout},
                                                     {"filter", ReadFilter},
                                                     {"history_filter", ReadHistoryFilter},
                                                     {"csv", ReadMeasurements},
                                                     {"plan", ReadTrialPlan},
                                                     {"result", ReadTrialResult},
                                                     {"plan_request", ReadPlanRequest},
                                                     {"agent_message", ReadAgentMessage},
                                                     {"gang_stream", ReadGangStream}}};

}  // namespace meshwright::fuzz
