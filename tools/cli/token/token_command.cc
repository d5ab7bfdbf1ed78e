#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "db/token_store.h"
#include "planner/codec/json_codec.h"
#include "planner/scaling/budget.h"
#include "proto/meshwright/v1/resource_names.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/io/input_error.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/table.h"
#include "tools/cli/token/token_fields.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

struct TokenFlags {
  OutputFlags output;
  std::string db;
  std::string name;
  std::string role;
  std::string agent;
  std::string expires;
};

std::string RoleText(const db::TokenRecord& token) { return std::string(db::RoleName(token.role)); }

// Only creating a token creates a missing database.
absl::StatusOr<std::unique_ptr<db::TokenStore>> OpenThere(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return FieldError("db", path, "must be the database of a server, and this file does not exist");
  }
  return db::TokenStore::Open(path);
}

absl::StatusOr<db::TokenRecord> ReadFlags(const TokenFlags& flags) {
  db::TokenRecord token;
  ASSIGN_OR_RETURN(token.role, KindOf(db::kRoleNames, "role", flags.role));
  token.agent = flags.agent;
  token.create_time = absl::Now();
  if (token.role == db::Role::kAgent) {
    if (flags.agent.empty()) {
      return FieldError(
          "agent", flags.agent,
          "must name the agent that the token is for; the token can register no other agent");
    }
    RETURN_IF_ERROR(WithField(CheckAgentName(flags.agent), "agent"));
  } else if (!flags.agent.empty()) {
    return FieldError("agent", flags.agent, "goes with --role agent only");
  }
  if (!flags.name.empty()) RETURN_IF_ERROR(WithField(CheckAgentName(flags.name), "name"));
  if (!flags.expires.empty()) {
    const absl::StatusOr<double> in_s = planner::ParseDuration(flags.expires);
    RETURN_IF_ERROR(RenameField(in_s.status(), "within", "expires"));
    token.expire_time = token.create_time + absl::Seconds(*in_s);
  }
  return token;
}

absl::Status Create(const TokenFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(db::TokenRecord token, ReadFlags(flags));
  ASSIGN_OR_RETURN(const std::unique_ptr<db::TokenStore> store, db::TokenStore::Open(flags.db));
  token.name = flags.name;
  if (token.name.empty()) {
    ASSIGN_OR_RETURN(token.name,
                     store->FreeName(token.agent.empty() ? RoleText(token) : token.agent));
  }
  ASSIGN_OR_RETURN(const std::string secret, db::NewToken());
  token.hash = db::HashOf(secret);
  RETURN_IF_ERROR(WithField(store->Add(token), "name"));
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(planner::WriteOrderedJson(NewTokenText{{token}, secret}), context.out);
    return absl::OkStatus();
  }
  // Prints only the token, so that a redirection makes a token file.
  context.out << secret << "\n";
  context.err << "token " << token.name << ", role " << RoleText(token)
              << (token.agent.empty() ? "" : absl::StrCat(" of ", token.agent)) << ", "
              << (token.expire_time ? "expires " + TimeText(*token.expire_time) : "never expires")
              << "; it is shown this once: keep it in a file that its owner alone can read (umask "
                 "077)\n";
  return absl::OkStatus();
}

std::string StateOf(const db::TokenRecord& token) {
  if (token.revoke_time) return "revoked " + TimeText(*token.revoke_time);
  if (!token.expire_time) return "never expires";
  return (*token.expire_time <= absl::Now() ? "expired " : "expires ") +
         TimeText(*token.expire_time);
}

absl::Status List(const TokenFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<db::TokenStore> store, OpenThere(flags.db));
  ASSIGN_OR_RETURN(const std::vector<db::TokenRecord> tokens, store->List());
  if (flags.output.format == OutputFormat::kJson) {
    TokenListText list;
    for (const db::TokenRecord& token : tokens) list.tokens.push_back({token});
    PrintJson(planner::WriteOrderedJson(list), context.out);
    return absl::OkStatus();
  }
  if (tokens.empty()) {
    context.out << "no tokens yet: meshwright token create makes one\n";
    return absl::OkStatus();
  }
  Table table({"token", "role", "agent", "created", "state"});
  for (const db::TokenRecord& token : tokens) {
    table.Add({token.name, RoleText(token), token.agent.empty() ? "-" : token.agent,
               TimeText(token.create_time), StateOf(token)});
  }
  table.Print(context.out);
  return absl::OkStatus();
}

absl::Status Revoke(const TokenFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<db::TokenStore> store, OpenThere(flags.db));
  RETURN_IF_ERROR(WithField(store->Revoke(flags.name, absl::Now()), "name"));
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(planner::WriteOrderedJson(RevokedText{flags.name}), context.out);
  } else {
    context.out << "token " << flags.name << " is revoked\n";
  }
  return absl::OkStatus();
}

CLI::App* AddAction(CLI::App& group, CommandContext& context, const std::string& name,
                    const std::string& description, const std::shared_ptr<TokenFlags>& flags,
                    absl::Status (*action)(const TokenFlags&, CommandContext&)) {
  CLI::App* command = group.add_subcommand(name, description);
  command->add_option("--db", flags->db, "Database file of the server; it may run meanwhile")
      ->required()
      ->option_text("FILE");
  flags->output.AddFormat(*command);
  command->callback([flags, &context, action] {
    const absl::Status status = action(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, flags->output.format, status);
  });
  return command;
}

}  // namespace

void AddTokenCommand(CLI::App& app, CommandContext& context) {
  CLI::App* group = app.add_subcommand("token", "Say who may call a server that listens over TLS");
  group->require_subcommand(1);
  auto create = std::make_shared<TokenFlags>();
  CLI::App* command =
      AddAction(*group, context, "create", "Make a token and print it, once", create, Create);
  command_line::TakeWords(
      command->add_option(
          "--role", create->role,
          "viewer: reads and plans; operator: runs sweeps as well; agent: runs trials alone"),
      {"viewer", "operator", "agent"})
      ->required();
  command
      ->add_option("--name", create->name,
                   "Name of the token, which events show; default: the agent's name, or the role's")
      ->option_text("NAME");
  command->add_option("--agent", create->agent, "Name of the agent that the token is for")
      ->option_text("NAME");
  command
      ->add_option("--expires", create->expires,
                   "Time after which the token stops being valid, such as 30d")
      ->option_text("TIME");
  command_line::AddExample(*command,
                           "meshwright token create --db sweeps.db --role agent --agent node-1");
  CLI::App* list = AddAction(*group, context, "list", "List tokens, without their secrets",
                             std::make_shared<TokenFlags>(), List);
  command_line::AddExample(*list, "meshwright token list --db sweeps.db");
  auto revoke = std::make_shared<TokenFlags>();
  CLI::App* revoking = AddAction(*group, context, "revoke",
                                 "End a token; the server refuses it at once", revoke, Revoke);
  revoking->add_option("name", revoke->name, "Name of the token")->required()->option_text("NAME");
  command_line::AddExample(*revoking, "meshwright token revoke --db sweeps.db node-1");
}

}  // namespace meshwright::cli
