// A Target is a fuzz target for one kind of the project's inputs from outside. Each is a function
// of bytes.
//
// A target parses the bytes as its kind of input, and must not crash or hang. Accepted input must
// round-trip: if it has a text or message form, that form is parsed again and must give the same
// value. A target aborts with a sentence if this fails.
#pragma once

#include <array>
#include <string_view>

namespace meshwright::fuzz {

struct Target {
  std::string_view name;  // also the name of its folder in tests/fuzz/corpus
  void (*run)(std::string_view bytes);
};

void ReadModelConfig(std::string_view json);      // a HuggingFace config.json
void ReadLayout(std::string_view text);           // the text form of a layout
void ReadFilter(std::string_view text);           // the condition of --where
void ReadHistoryFilter(std::string_view text);    // the condition of `history --where`, as SQL
void ReadMeasurements(std::string_view csv);      // runs in the format of `validate`
void ReadTrialPlan(std::string_view json);        // the input of a worker
void ReadTrialResult(std::string_view json);      // the output of a worker
void ReadPlanRequest(std::string_view message);   // a client's message
void ReadAgentMessage(std::string_view message);  // an agent's message
void ReadGangStream(std::string_view stream);     // a stream from a gang's member or a stranger
void ReadImport(std::string_view text);           // a framework's name, and a file of it below
void ReadRunner(std::string_view json);           // a runner's file
void ReadCommandLog(std::string_view text);       // a format's name, and a log of it below
void ReadHttpRequests(std::string_view stream);   // what a browser or a stranger sends over HTTP

inline constexpr std::array<Target, 14> kTargets = {{{"config", ReadModelConfig},
                                                     {"layout", ReadLayout},
                                                     {"filter", ReadFilter},
                                                     {"history_filter", ReadHistoryFilter},
                                                     {"csv", ReadMeasurements},
                                                     {"plan", ReadTrialPlan},
                                                     {"result", ReadTrialResult},
                                                     {"plan_request", ReadPlanRequest},
                                                     {"agent_message", ReadAgentMessage},
                                                     {"gang_stream", ReadGangStream},
                                                     {"import", ReadImport},
                                                     {"runner", ReadRunner},
                                                     {"command_log", ReadCommandLog},
                                                     {"http", ReadHttpRequests}}};

}  // namespace meshwright::fuzz
