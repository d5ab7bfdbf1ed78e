#include "planner/interchange/framework.h"

namespace meshwright::planner {
namespace {

constexpr std::string_view kWhere = "where the ranks meet";
constexpr std::string_view kEnvironment = "the environment that ms-swift and LLaMA-Factory read";
constexpr std::string_view kAllocated = "what Slurm gives a node";

constexpr NameRow kLauncherRows[] = {
    {.name = "--nproc-per-node", .setting = "gpus_per_node"},
    {.name = "--nnodes", .setting = "nodes"},
    {.name = "NPROC_PER_NODE", .setting = "gpus_per_node", .of = kEnvironment},
    {.name = "NNODES", .setting = "nodes", .of = kEnvironment},
    {.name = "--num-gpus", .setting = "gpus_per_node"},
    {.name = "--num-nodes", .setting = "nodes"},
    {.name = "--num-processes", .setting = "gpus"},
    {.name = "--num-machines", .setting = "nodes"},
    {.name = "--min-nodes", .setting = "nodes"},
    {.name = "--address", .hint = kWhere},
    {.name = "world_size", .setting = "gpus"},
    {.name = "--nodes", .setting = "nodes"},
    {.name = "--gpus-per-node", .setting = "gpus_per_node"},
    {.name = "--ntasks*", .hint = "the launcher counts its processes"},
    {.name = "--cpu-bind", .hint = kAllocated},
    {.name = "--cpus-per-task", .hint = kAllocated},
    {.name = "--gpu-bind", .hint = kAllocated},
    {.name = "--container-*", .hint = kAllocated},
    {.name = "--jobid", .hint = kAllocated},
    {.name = "--nodelist", .hint = kAllocated},
    {.name = "--no-container-mount-home", .hint = kAllocated},
    {.name = "--kill-on-bad-exit", .hint = kAllocated},
    {.name = "--mpi", .hint = kAllocated},
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
