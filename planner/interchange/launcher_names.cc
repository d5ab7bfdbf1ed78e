#include "planner/interchange/framework.h"

namespace meshwright::planner {
namespace {

constexpr std::string_view kWhere = "how process groups are set up";
constexpr std::string_view kEnvironment = "the environment that ms-swift and LLaMA-Factory read";
constexpr std::string_view kAllocated = "what Slurm gives a node";
constexpr std::string_view kSlurm = "srun of Slurm";
constexpr std::string_view kRay = "ray symmetric-run";

constexpr NameRow kLauncherRows[] = {
    {.name = "--nproc-per-node", .setting = "gpus_per_node"},
    {.name = "--nnodes", .setting = "nodes"},
    {.name = "NPROC_PER_NODE", .setting = "gpus_per_node", .of = kEnvironment},
    {.name = "NNODES", .setting = "nodes", .of = kEnvironment},
    {.name = "--num-gpus", .setting = "gpus_per_node"},
    {.name = "--num-nodes", .setting = "nodes"},
    {.name = "--num-processes", .setting = "gpus"},
    {.name = "--num-machines", .setting = "nodes"},
    {.name = "--min-nodes", .setting = "nodes", .of = kRay},
    {.name = "--address", .hint = kWhere, .of = kRay},
    {.name = "world_size", .setting = "gpus", .of = "the arguments that a log lists"},
    {.name = "--nodes", .setting = "nodes", .of = kSlurm},
    {.name = "--gpus-per-node", .setting = "gpus_per_node", .of = kSlurm},
    {.name = "--ntasks*", .hint = "the launcher counts its processes", .of = kSlurm},
    {.name = "--cpu-bind", .hint = kAllocated, .of = kSlurm},
    {.name = "--cpus-per-task", .hint = kAllocated, .of = kSlurm},
    {.name = "--gpu-bind", .hint = kAllocated, .of = kSlurm},
    {.name = "--container-*", .hint = kAllocated, .of = kSlurm},
    {.name = "--jobid", .hint = kAllocated, .of = kSlurm},
    {.name = "--nodelist", .hint = kAllocated, .of = kSlurm},
    {.name = "--no-container-mount-home", .hint = kAllocated, .of = kSlurm},
    {.name = "--kill-on-bad-exit", .hint = kAllocated, .of = kSlurm},
    {.name = "--mpi", .hint = kAllocated, .of = kSlurm},
    {.name = "--node-rank", .hint = kWhere},
    {.name = "--machine-rank", .hint = kWhere},
    {.name = "--master-*", .hint = kWhere},
    {.name = "--main-process-*", .hint = kWhere},
    {.name = "--rdzv-*", .hint = kWhere},
    {.name = "--standalone", .hint = kWhere},
    {.name = "--hostfile", .hint = kWhere},
    {.name = "--local-rank", .hint = kWhere, .of = "torch.distributed.launch"},
    {.name = "--max-restarts", .hint = "restarts"},
    {.name = "--log-dir", .hint = "logs"},
    {.name = "--tee", .hint = "logs"},
    {.name = "--redirects", .hint = "logs"},
};

}  // namespace

NameTable LauncherNames() { return kLauncherRows; }

}  // namespace meshwright::planner
