// Job arrays of Slurm whose tasks are a fleet's jobs. A task has the number of its job's first
// agent: task 3 of the array "meshwright-agent" is the job "meshwright-agent-3". A lost task gets
// its successor in a further array.
//
// Slurm limits how many tasks of one array run at once, but not those of several arrays. The
// arrays' limits are therefore chosen so that they add up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/launcher/agent_jobs.h"

namespace meshwright::cli {

// Returns the name of the array of which a job is a task: the fleet's name.
std::string FleetOfJob(std::string_view job);
// Returns the number of the job's task.
std::string TaskOfJob(std::string_view job);
// Returns the tasks of these jobs as sbatch's --array lists them, such as "1-4,7". REQUIRES: `jobs`
// are in the order of their numbers.
std::string TasksOfJobs(const std::vector<std::string>& jobs);

// Returns how many of these jobs may run at once: of each array as many as its limit allows, and
// all others.
int32_t MostAtOnce(const std::vector<QueuedJob>& jobs);

// The comment by which a launcher recognizes the jobs of an array.
struct ArrayComment {
  std::string owner;    // SlurmJobFlags::owner
  int32_t at_once = 0;  // the array's limit; 0 if the comment is that of a job without an array

  friend bool operator==(const ArrayComment&, const ArrayComment&) = default;
};
std::string ToText(const ArrayComment& comment);
ArrayComment ReadArrayComment(const std::string& text);

}  // namespace meshwright::cli
