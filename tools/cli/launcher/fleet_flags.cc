#include "tools/cli/launcher/fleet_flags.h"

namespace meshwright::cli {

std::vector<CLI::Option*> AddAgentFlags(CLI::App& command, AgentFleet& fleet) {
  return {
      command
          .add_option("--devices", fleet.devices_text,
                      "Devices of each node: N ranks on its CPUs, or its GPUs")
          ->option_text("cpu:N|cuda"),
      command
          .add_option("--gpus-per-node", fleet.gpus_per_node,
                      "GPUs to request on each node; required on Kubernetes with --devices cuda")
          ->option_text("N"),
      command
          .add_option("--job-name", fleet.name,
                      "Name of agents and jobs; -1, -2 and so on are appended to it")
          ->capture_default_str()
          ->option_text("NAME"),
      command
          .add_option("agent_flags", fleet.more, "After --: further flags for `meshwright agent`")
          ->option_text("FLAG")};
}

std::vector<CLI::Option*> AddSlurmFlags(CLI::App& command, SlurmJobFlags& job, double& poll_s) {
  const auto add = [&command](const char* name, std::string& value, const char* description,
                              const char* text) {
    return command.add_option(name, value, description)->option_text(text);
  };
  return {
      add("--partition", job.partition, "Slurm: partition of the jobs", "NAME"),
      add("--time", job.time_limit,
          "Slurm: time limit of each job; the next job starts when it ends", "HH:MM:SS|MINUTES"),
      add("--account", job.account, "Slurm: account that the jobs are charged to", "NAME"),
      command.add_option("--poll-s", poll_s, "Slurm: seconds between polls of the queue")
          ->capture_default_str()
          ->option_text("S")};
}

}  // namespace meshwright::cli
