#include "tests/fuzz/targets.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/system/monotonic_time.h"
#include "base/system/unique_fd.h"
#include "base/text/json_text.h"
#include "base/text/utf8.h"
#include "db/measurement.h"
#include "db/sqlite_store.h"
#include "executor/command/command_run.h"
#include "executor/command/log_reader.h"
#include "executor/command/rendered_command.h"
#include "executor/command/runner.h"
#include "executor/gang/frame.h"
#include "executor/gang/tls_socket.h"
#include "executor/trial/trial.h"
#include "executor/wire/wire.h"
#include "meshwright/v1/agents.pb.h"
#include "meshwright/v1/plan.pb.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/model_config.h"
#include "planner/interchange/import.h"
#include "planner/layout/condition_parser.h"
#include "planner/layout/layout.h"
#include "planner/layout/layout_condition.h"
#include "planner/measurement/measurement.h"
#include "planner/measurement/measurement_presets.h"
#include "planner/measurement/planned_row.h"
#include "planner/measurement/row_prediction.h"
#include "server/gateway/cookies.h"
#include "server/gateway/json_message.h"
#include "server/gateway/same_origin.h"
#include "server/gateway/static_files.h"
#include "server/http/request_reader.h"

namespace meshwright::fuzz {
namespace {

constexpr int64_t kSeqLen = 4096;

void Expect(bool holds, std::string_view otherwise) {
  if (holds) return;
  std::cerr << otherwise << std::endl;
  std::abort();
}

void ExpectOk(const absl::Status& status, std::string_view what) {
  Expect(status.ok(), absl::StrCat(std::string(what), ": ", status.message()));
}

// Whether reading an accepted value's own form gives the same value.
template <typename Value, typename Read>
void ExpectSameAgain(const Value& value, const Read& read, std::string_view written) {
  const auto again = read(written);
  ExpectOk(again.status(), "an accepted input is refused in its own form");
  Expect(*again == value, "an accepted input is another one in its own form");
}

template <typename Message>
bool Parses(std::string_view bytes, Message& message) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

template <typename Message>
std::string Bytes(const Message& message) {
  return message.SerializeAsString();
}

// Of rows with and without figures and axes, in memory.
std::unique_ptr<db::SweepStore> StoreOfRows() {
  std::unique_ptr<db::SweepStore> store = *db::SqliteSweepStore::Open(db::kInMemory);
  std::vector<db::NewImport> runs;
  const auto add = [&](const char* layout, db::TrialState outcome, std::optional<double> step_s) {
    db::NewImport run;
    run.run.row_hash = absl::StrCat(runs.size());
    run.model = "m o";
    run.cluster = "h100";
    run.model_hash = "m";
    run.cluster_hash = "c";
    run.training_hash = "t";
    run.devices = 8;
    run.seq_len = 4096;
    run.global_batch = 64;
    run.precision = "bf16";
    run.layout = layout;
    run.outcome = outcome;
    run.step_s = step_s;
    if (step_s) run.mfu = 0.25 / *step_s;
    runs.push_back(run);
  };
  for (const double step_s : {0.5, 1.0, 1.0, 2.0}) {
    add("tp2.cp1.pp1.dp4.mb1.vpp1.zero1.sp1.rc=full.sched=1f1b", db::TrialState::kOk, step_s);
  }
  add("tp1.cp1.pp2.dp4.mb2.vpp1.zero0.sp0.rc=none.sched=gpipe", db::TrialState::kOom, std::nullopt);
  add("of another release", db::TrialState::kFailed, std::nullopt);
  Expect(*store->Import(runs) == static_cast<int64_t>(runs.size()), "rows are not stored");
  return store;
}

// The ids of the rows that meet a condition, sorted; they have to come in the order that is asked
// for.
std::vector<int64_t> IdsWhere(db::SweepStore& store, const planner::Condition& where,
                              db::MeasurementOrder order) {
  db::MeasurementQuery query;
  query.where = where;
  query.order = order;
  query.limit = 100;
  query.with_texts = false;
  const auto rows = store.ListMeasured(query);
  ExpectOk(rows.status(), "the query of an accepted condition fails");
  std::vector<int64_t> ids;
  for (size_t i = 0; i < rows->size(); ++i) {
    Expect(i == 0 || db::ComesBefore(order, (*rows)[i - 1].place, (*rows)[i].place),
           "rows come in another order");
    ids.push_back((*rows)[i].place.id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace

void ReadModelConfig(std::string_view json) {
  const auto config = planner::ReadModelConfig("fuzzed", json, kSeqLen);
  if (!config.ok()) return;
  const absl::Status valid = planner::Validate(config->model);
  ExpectOk(valid, "an accepted model does not pass its own check");
}

void ReadLayout(std::string_view text) {
  const auto layout = planner::ParseLayout(text);
  if (layout.ok()) ExpectSameAgain(*layout, planner::ParseLayout, planner::FormatLayout(*layout));
}

void ReadFilter(std::string_view text) {
  const auto read = [](std::string_view filter) {
    return planner::ParseLayoutCondition("where", filter);
  };
  const auto filter = read(text);
  if (!filter.ok()) return;
  const std::string written = planner::FormatLayoutCondition(*filter);
  if (written.size() <= planner::kMostFilterBytes) {
    ExpectSameAgain(*filter, read, written);
  }
  planner::Layout layout;
  layout.tp = 8;
  planner::LayoutMatcher(*filter).Matches(layout);
}

// Every row meets a condition or its opposite, whatever the row lacks.
void ReadHistoryFilter(std::string_view text) {
  const auto where = db::ParseMeasurementCondition("where", text);
  if (!where.ok()) return;
  static db::SweepStore* const kStore = StoreOfRows().release();
  static const std::vector<int64_t>* const kAll =
      new std::vector<int64_t>(IdsWhere(*kStore, {}, db::MeasurementOrder::kMfu));
  const std::vector<int64_t> met = IdsWhere(*kStore, *where, db::MeasurementOrder::kMfu);
  Expect(met == IdsWhere(*kStore, *where, db::MeasurementOrder::kStepTime),
         "other rows are found in another order");
  const planner::Condition opposite = {.form = planner::ConditionForm::kNot, .parts = {*where}};
  std::vector<int64_t> all = IdsWhere(*kStore, opposite, db::MeasurementOrder::kMfu);
  all.insert(all.end(), met.begin(), met.end());
  std::sort(all.begin(), all.end());
  Expect(all == *kAll, "a row meets a condition and its opposite, or neither");
}

// A row that says nothing is a blank line, which is passed over, and so are parts of a text that
// the format has no room for. What is left stays as it is.
void ReadMeasurements(std::string_view csv) {
  const auto rows = planner::ParseMeasurements(csv);
  if (!rows.ok()) return;
  const auto written = planner::ParseMeasurements(planner::FormatMeasurements(*rows));
  ExpectOk(written.status(), "rows are refused as they are written");
  // As a server takes them (server/sweeps/import.h).
  static const planner::MeasurementPresets* const kPresets =
      new planner::MeasurementPresets(*planner::LoadMeasurementPresets(/*host_cores=*/4));
  constexpr size_t kMostPlanned = 4;
  for (size_t i = 0; i < std::min(kMostPlanned, rows->size()); ++i) {
    const planner::RowPlan plan = planner::PlanRow((*rows)[i], *kPresets);
    Expect(plan.layout.has_value() == plan.reason.empty(), "a row is refused without a reason");
    planner::PredictRow(0, (*rows)[i], *kPresets);
  }
  const std::string text = planner::FormatMeasurements(*written);
  const auto again = planner::ParseMeasurements(text);
  ExpectOk(again.status(), "rows are refused as they are written again");
  Expect(planner::FormatMeasurements(*again) == text, "rows change each time they are written");
}

void ReadTrialPlan(std::string_view json) {
  const auto parsed = ParseJson("plan", json);
  if (!parsed.ok()) return;
  const auto plan = trial::TrialPlanFromJson(*parsed);
  if (!plan.ok()) return;
  const auto again = trial::TrialPlanFromJson(trial::ToJson(*plan));
  ExpectOk(again.status(), "a plan is refused as it is written");
  Expect(trial::ToJson(*again) == trial::ToJson(*plan), "a plan is another one once written");
}

void ReadTrialResult(std::string_view json) {
  const auto parsed = ParseJson("result", json);
  if (!parsed.ok()) return;
  const auto result = trial::TrialResultFromJson(*parsed);
  if (!result.ok()) return;
  const auto again = trial::TrialResultFromJson(trial::ToJson(*result));
  ExpectOk(again.status(), "a result is refused as it is written");
}

void ReadPlanRequest(std::string_view message) {
  v1::PlanRequest request;
  if (!Parses(message, request)) return;
  const auto query = wire::FromWire(request, "megatron");
  if (!query.ok()) return;
  const v1::PlanRequest written = wire::ToWire(*query);
  const auto again = wire::FromWire(written, "megatron");
  ExpectOk(again.status(), "a query is refused as it is sent");
  Expect(Bytes(wire::ToWire(*again)) == Bytes(written), "a query is another one once sent");
}

void ReadAgentMessage(std::string_view message) {
  v1::AgentMessage parsed;
  if (!Parses(message, parsed) || !parsed.has_finished()) return;
  const v1::TrialFinished& finished = parsed.finished();
  if (const auto key = wire::FromWire(finished.ref()); key.ok()) wire::ToWire(*key);
  const auto result = wire::FromWire(finished.measurement());
  if (!result.ok()) return;
  const v1::Measurement written = wire::ToWire(*result);
  const auto again = wire::FromWire(written);
  ExpectOk(again.status(), "a result is refused as it is sent");
}

void ReadImport(std::string_view text) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return;
  const auto framework = planner::FindFramework("from", text.substr(0, end));
  if (!framework.ok()) return;
  planner::ImportQuestion question;
  question.files.push_back({"file", std::string(text.substr(end + 1))});
  question.devices = 64;
  const auto imported = planner::Import(**framework, question);
  if (!imported.ok() || !imported->layout) return;
  ExpectSameAgain(*imported->layout, planner::ParseLayout,
                  planner::FormatLayout(*imported->layout));
}

void ReadGangStream(std::string_view stream) {
  std::array<int, 2> ends = {};
  Expect(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0, "no sockets");
  const UniqueFd stranger(ends[0]);
  auto accepted = gang::TlsSocket::OfListener(UniqueFd(ends[1]), "a secret", MonotonicTime{});
  ExpectOk(accepted.status(), "a listener can't take a connection");
  ::send(stranger.get(), stream.data(), stream.size(), MSG_NOSIGNAL);
  static_cast<void>(accepted->ShakeHands(MonotonicTime{}));
  Expect(!accepted->is_authenticated(), "a listener lets in who can't know the secret");
  const auto frames = gang::FrameReader().TakeIn(stream);
  if (!frames.ok()) return;
  for (const gang::Frame& frame : *frames) {
    const std::string written = gang::EncodeFrame(frame);
    const auto again = gang::FrameReader().TakeIn(written);
    ExpectOk(again.status(), "a frame is refused as it is sent");
    Expect(again->size() == 1 && gang::EncodeFrame(again->front()) == written,
           "a frame is another one once sent");
  }
}

void ReadRunner(std::string_view json) {
  const auto runner = command::ParseRunner(json, "/folder");
  if (!runner.ok()) return;
  ExpectOk(command::LogReader::Make(runner->log, {}).status(), "a runner's patterns are refused");
  trial::TrialPlan plan;
  plan.model = *planner::FindModel("tinystories-15m");
  plan.layout = *planner::ParseLayout("tp1.pp1.dp2.mb1");
  plan.training = {.seq_len = kSeqLen, .global_batch = 8};
  plan.runner = trial::RunnerChoice{.name = runner->name, .hash = runner->hash, .fields = {}};
  const auto command =
      command::Render(*runner, plan, {.folder = "/run"},
                      {.guard = "", .work_folder = "", .environment = [](const std::string&) {
                         return std::optional<std::string>("value");
                       }});
  if (!command.ok()) return;
  Expect(!command->argv.empty() && command->argv[0].find("/run") == std::string::npos,
         "a runner's program is one of the trial");
}

void ReadCommandLog(std::string_view text) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return;
  const auto format = command::FindLogFormat("log", text.substr(0, end));
  if (!format.ok()) return;
  command::Runner runner{.name = "r", .framework = "megatron", .argv = {"run"}};
  runner.log = *format;
  trial::TrialPlan plan;
  plan.training = {.seq_len = kSeqLen, .global_batch = 8};
  plan.steps = 3;
  plan.runner = trial::RunnerChoice{.name = "r", .hash = "h", .fields = {}};
  const command::LogClock::time_point start;
  const std::string_view log = text.substr(end + 1);
  for (const guard::EndKind kind : {guard::EndKind::kExited, guard::EndKind::kLost}) {
    command::CommandRun run(plan, runner, start);
    run.Take(log.substr(0, log.size() / 2), start);
    run.Take(log.substr(log.size() / 2), start);
    run.TakeEnd({.end = {.kind = kind, .number = 1}}, start);
    const trial::TrialResult result = run.Conclude(run.Judge(start));
    ExpectOk(trial::TrialResultFromJson(ToJson(result)).status(), "a result can't be read");
    Expect(ValidUtf8(result.message) == result.message, "a message is not UTF-8");
  }
}

void ReadHttpRequests(std::string_view stream) {
  constexpr uint32_t kHeaderBytes = 1024;
  constexpr uint64_t kBodyBytes = 4096;
  static const planner::EmbeddedFile kFiles[] = {{"index.html", "page"}, {"views/a.js", "a"}};
  static const server::StaticFiles* const kPage = new server::StaticFiles(kFiles);
  using Progress = server::RequestReader::Progress;
  while (!stream.empty()) {
    server::RequestReader reader(kHeaderBytes);
    Progress progress = Progress::kNeedsMore;
    while (progress != Progress::kWhole) {
      size_t used = 0;
      progress = reader.Take(stream, used);
      Expect(used <= stream.size(), "a reader used more than there is");
      stream.remove_prefix(used);
      if (progress == Progress::kRefused || progress == Progress::kNeedsMore) return;
      if (progress == Progress::kHead && reader.body_bytes() > kBodyBytes) return;
      if (progress == Progress::kHead) reader.AllowBody();
    }
    server::HttpRequest& request = reader.request();
    Expect(request.body.size() == reader.body_bytes(), "a body has another length");
    request.connection.own_address = "127.0.0.1";
    if (server::CheckHost(request, {"mesh.example"}).ok()) {
      server::CheckOrigin(request).IgnoreError();
    }
    server::CookieOf(request, "__Host-meshwright");
    kPage->Find(request.path, request.Field("if-none-match").value_or(""));
    const auto* method = server::FindJsonMethod(request.path);
    if (method == nullptr) continue;
    const auto message = server::BinaryOfJson(*method->input_type(), request.body);
    if (!message.ok()) continue;
    const auto json = server::JsonOfBinary(*method->input_type(), *message);
    ExpectOk(json.status(), "an accepted message has no JSON");
    const auto again = server::BinaryOfJson(*method->input_type(), *json);
    ExpectOk(again.status(), "an accepted message is refused as JSON");
  }
}

}  // namespace meshwright::fuzz
