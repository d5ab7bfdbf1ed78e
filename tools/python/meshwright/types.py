"""Types of what commands answer. tools/python_types writes this file from docs/schema."""
# pylint: disable=missing-class-docstring
from typing import Any, Dict, List, Optional, TypedDict, Union

class _Memory(TypedDict):
    """Keys that are always there.

    weights_bytes: Weights, bytes
    gradients_bytes: Gradients, bytes
    optimizer_bytes: Master weights and optimizer moments, bytes
    activations_bytes: Activations of the micro-batches in flight, bytes
    loss_bytes: Logits and other tensors of the cross entropy, bytes
    workspace_bytes: Recomputed layer, gathered weights and receive buffers, bytes
    fragmentation_bytes: Memory that the caching allocator has reserved but no tensor uses, bytes
    overhead_bytes: Memory outside the allocator (device context and communicators), bytes
    total_bytes: Sum of all parts, bytes
    fraction_of_device: total_bytes divided by the device's memory, a fraction
    host_bytes: Data that is offloaded to the host's memory, bytes; not part of total_bytes
    pipeline_rank: Pipeline rank of the device, from 0
    """

    weights_bytes: int
    gradients_bytes: int
    optimizer_bytes: int
    activations_bytes: int
    loss_bytes: int
    workspace_bytes: int
    fragmentation_bytes: int
    overhead_bytes: int
    total_bytes: int
    fraction_of_device: float
    host_bytes: int
    pipeline_rank: int


class Memory(_Memory, total=False):
    """Peak memory of the fullest device, by part.

    paged_bytes: Part of host_bytes that a paged optimizer moved there, bytes
    correction_bytes: Bytes that the user's own runs needed beyond the other parts; below 0 if they needed less. 0
        unless the request has `measured`
    """

    paged_bytes: int
    correction_bytes: int


class Time(TypedDict):
    """Time of one optimizer step on the slowest device, by part. Each part of the planner's estimate has a field of
    the part's name.

    compute_s: Matmuls, attention and memory-bound operators, seconds
    recompute_s: Recomputation of forward passes, seconds
    tp_s: Exposed tensor-parallel communication, seconds
    cp_s: Exposed context-parallel communication, seconds
    ep_s: Exposed communication of tokens to and from experts, seconds
    pp_s: Exposed pipeline communication, seconds
    dp_s: Exposed data-parallel communication, seconds
    offload_s: Exposed copies between devices and hosts, seconds
    bubble_s: Idle time while the pipeline fills and drains, seconds
    straggler_s: Waiting for devices that are slower than the average device, seconds
    pressure_s: Extra time of the caching allocator if memory is nearly full, seconds
    optimizer_s: Optimizer update, seconds
    step_s: Time of the step, the sum of all parts, seconds
    """

    compute_s: float
    recompute_s: float
    tp_s: float
    cp_s: float
    ep_s: float
    pp_s: float
    dp_s: float
    offload_s: float
    bubble_s: float
    straggler_s: float
    pressure_s: float
    optimizer_s: float
    step_s: float


class LayoutAxes(TypedDict):
    """The axes of the layout, one by one.

    tp: ranks that share every layer's matrices
    cp: ranks that share a sequence
    pp: ranks that share the layers, as a pipeline
    dp: ranks that share the batch
    ep: ranks of a stage that hold different experts
    etp: ranks that share each expert's matrices
    mb: sequences in a micro-batch
    vpp: number of chunks that a pipeline rank's layers are split into (without pp, one rank has all layers); the
        schedule loops over them
    zero: data-parallel ranks shard: 1 optimizer, 2 gradients too, 3 weights too
    sp: 1: sequence parallelism, which splits the activations around norms over the tp ranks
    rc: what the backward recomputes: none, selective, full, block:N (N layers of each rank, or of each of its vpp
        chunks), or names of modules, joined by +
    sched: the order in which stages and chunks run the micro-batches
    attn: the attention kernel; default: the framework's
    norm: the norm kernel; default: the framework's
    hs: HSDP: each group of hs ranks shards a copy; 0: one group of all dp * cp
    stages: layers of each stage or vpp chunk in order (4+4x6+4: one of 4 layers, four of 6, one of 4); absent: the
        framework's own split
    offload: what is moved to the hosts' memory: act:N, opt, act:N+opt; none: nothing
    """

    tp: int
    cp: int
    pp: int
    dp: int
    ep: int
    etp: int
    mb: int
    vpp: int
    zero: int
    sp: int
    rc: str
    sched: str
    attn: str
    norm: str
    hs: int
    stages: str
    offload: str


class _Layout(TypedDict):
    """Keys that are always there.

    layout: Text form of the layout, such as "tp4.cp1.pp2.dp8.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b"
    axes: The axes of the layout, one by one
    memory: Memory of the fullest device
    time: Time of one optimizer step
    mfu: Model FLOPs utilisation (MFU) by the PaLM definition, a fraction
    mfu_causal: MFU by the Megatron-LM definition, which counts half of the attention, a fraction
    tokens_per_s: Tokens per second over all devices
    tflops_per_gpu: Model FLOP/s per device by the PaLM definition, TFLOP/s; 0 in sweeps of older versions
    tflops_per_gpu_causal: Model FLOP/s per device by the Megatron-LM definition, TFLOP/s; 0 in sweeps of older
        versions
    tokens_per_s_per_gpu: Tokens per second per device; 0 in sweeps of older versions
    oom_probability: Calibrated probability of running out of memory, a fraction
    step_low_s: Lower end of the 80 % interval of the step time, seconds. The true step time lies between step_low_s
        and step_high_s in 80 % of runs like this one
    step_high_s: Upper end of the 80 % interval of the step time, seconds
    peak_low_bytes: Lower end of the 80 % interval of the fullest device's memory, bytes. 0 in sweeps of older versions
    peak_high_bytes: Upper end of the 80 % interval of the fullest device's memory, bytes. 0 in sweeps of older
        versions
    host_node_bytes: Data that one node's devices offload to the host's memory, on the node with the most, bytes
    tokens_per_joule: Tokens that are trained per joule; 0 if the cluster file does not state the devices' power
    """

    layout: str
    axes: LayoutAxes
    memory: Memory
    time: Time
    mfu: float
    mfu_causal: float
    tokens_per_s: float
    tflops_per_gpu: float
    tflops_per_gpu_causal: float
    tokens_per_s_per_gpu: float
    oom_probability: float
    step_low_s: float
    step_high_s: float
    peak_low_bytes: int
    peak_high_bytes: int
    host_node_bytes: int
    tokens_per_joule: float


class Layout(_Layout, total=False):
    """A layout and the planner's prediction for it.

    options: Values of the run's options that differ from the request's because a search varies them or a change sets
        them, by option name, such as "chunked:8" for "loss"
    step_before_s: Time of the step by the formulas alone, seconds. Absent unless the request has `measured`
    peak_before_bytes: Memory of the fullest device by the formulas alone, bytes. Absent unless the request has
        `measured`
    """

    options: Dict[str, str]
    step_before_s: float
    peak_before_bytes: int


class _Request(TypedDict):
    """Keys that are always there.

    model: The model to train
    cluster: The cluster to train on
    framework: The training framework. Default: megatron for the service Planner, meshwright for Sweeps
    gpus: Number of devices that a layout uses, at least 1. In printed requests with a range, its lower end
    seq_len: Tokens per sequence, at least 1
    dtype: Number format. Default: fp32 on clusters of CPU cores, and bf16 on all others
    optimizer: The optimizer. Default: AdamW
    imbalance: Tokens that the experts of the fullest rank receive, divided by the tokens of an average rank, at least
        1. Only for models with experts. Default: 1
    """

    model: str
    cluster: str
    framework: str
    gpus: int
    seq_len: int
    dtype: str
    optimizer: str
    imbalance: float


class Request(_Request, total=False):
    """The model, the cluster and the training that a question is about.

    global_batch: Sequences per optimizer step over all devices, at least 1
    media_tokens: Number of tokens of a sequence that stand for images, at most seq_len. It may be above 0 only for
        models with a tower (an encoder of images). Default: the tokens of one image if the model's file states them,
        and otherwise 0
    states: Formats of the weights, gradients and optimizer states that are held for each parameter: fp32, bf16,
        adam8bit, precision-aware, bf16-grads, or master=F,grad=F,m=F,v=F with formats F. Default: the framework's
    loss: How the loss is computed: plain, fused (a fused linear cross entropy), or chunked:N (in N parts, one after
        the other). Default: plain
    documents: Mean length, in tokens, of the documents that are packed into a sequence, or none. Default: none
    compile: Whether PyTorch compiles the layers: on or off. Default: the framework's
    cuda_graphs: Part of the step that CUDA graphs capture: none, attention, layer or iteration. Default: the
        framework's
    dispatcher: How tokens are sent to their experts: alltoall, allgather, deepep or hybridep. Default: the framework's
    experts: Whether ZeRO divides the states of experts over the ranks that hold the same experts (sharded), or these
        ranks hold whole copies (replicated). Default: sharded
    train: Which weights are trained: full, lora:RANK[:TARGETS], qlora:RANK[:TARGETS], dora:RANK[:TARGETS], or
        frozen:PARTS, where PARTS are tower, embedding and layers=A..B. Default: full
    measured: Runs that the user did, which correct every estimate. Each is a layout and what it measured:
        "tp2.pp1.dp4.mb1 step=12.3s memory=61GiB" or "tp1.pp1.dp8 oom". A step is in ms, s or min, a peak in GiB or GB.
        global_batch=N, seq_len=N and options of a run follow where the run differs from this request. At most 256
    """

    global_batch: int
    media_tokens: int
    states: str
    loss: str
    documents: str
    compile: str
    cuda_graphs: str
    dispatcher: str
    experts: str
    train: str
    measured: List[str]


class Funnel(TypedDict):
    """Numbers of points of the search space that each pass of the search dropped. enumerated = invalid + left_out +
    memory + evaluated.

    enumerated: Number of points of the search space
    invalid: Number of points that can't run, or that another layout dominates
    left_out: Number of points that can run but don't meet the request's condition
    memory: Number of points that don't fit into the device's memory
    evaluated: Number of points whose time was estimated
    invalid_by_rule: Numbers of points in `invalid`, by the identifier of the first broken rule, such as
        "heads_division". The key `dominated` counts points for which a simpler layout needs no more memory and time.
        Rules that dropped no point are absent
    """

    enumerated: int
    invalid: int
    left_out: int
    memory: int
    evaluated: int
    invalid_by_rule: Dict[str, int]


class Evidence(TypedDict):
    """The evidence behind a preset.

    name: Name of the cluster or framework profile
    kind: Kind of evidence: "runs" (fitted to measured training runs), "benchmark" (its parts were measured),
        "data_sheet", "unverified" or "assumption"
    rows: Number of measured steps to which the preset was fitted
    sources: Sources of these measurements
    """

    name: str
    kind: str
    rows: int
    sources: List[str]


class RestsOn(TypedDict):
    """The evidence behind an answer.

    cluster: Evidence for the cluster
    framework: Evidence for the framework profile
    step_time_sigma: Standard deviation of log(measured / predicted) of a step time between runs of one source.
        step_low_s and step_high_s are computed from it and from `level`
    level: How near the question is to runs that the presets were fitted to: fitted_source, framework_and_chip,
        framework, chip or neither
    uncovered: The parts of the question that no measured run of the presets covers and that widen the interval, each
        as a clause: "few runs with experts were fitted"
    attention_kernel: Attention kernel of layouts that name none, such as "flash2"; of an answer about one layout, its
        kernel
    sentence: The other facts of this message in words
    """

    cluster: Evidence
    framework: Evidence
    step_time_sigma: float
    level: str
    uncovered: List[str]
    attention_kernel: str
    sentence: str


class SlowerPart(TypedDict):
    """A part of the step that takes longer than in the best layout.

    part: Name of the part, such as "bubble"
    more_s: By how much the part takes longer, seconds
    """

    part: str
    more_s: float


class _Standing(TypedDict):
    """Keys that are always there.

    layout: Text form of the layout
    rule: Identifier of the rule that the layout breaks, such as "heads_division"; empty if it can run
    fits: Whether the layout fits under the memory criterion of the search
    sentence: The facts of this message in words
    """

    layout: str
    rule: Optional[str]
    fits: bool
    sentence: str


class Standing(_Standing, total=False):
    """Rank of the layout that the request names. If it can't run, only `layout`, `rule` and `sentence` are set.

    total_bytes: Memory of the fullest device, bytes
    over_bytes: Bytes by which that memory exceeds what a device may hold; 0 if the layout fits
    oom_probability: Calibrated probability of running out of memory, a fraction
    step_s: Time of one optimizer step, seconds
    mfu: Model FLOPs utilisation by the PaLM definition, a fraction
    rank: Rank of the layout, from 1. A layout that does not fit has the rank that it would have with more memory
    of: Number of layouts that were ranked
    slower: Its step time divided by the best layout's, minus 1. Negative if it is faster but does not fit
    because: Parts of the step that make the layout slower than the best one, largest first
    """

    total_bytes: int
    over_bytes: int
    oom_probability: float
    step_s: float
    mfu: float
    rank: int
    of: int
    slower: float
    because: List[SlowerPart]


class _RankPhases(TypedDict):
    """Keys that are always there.

    other_s: All other time, seconds
    forward_s: Forward passes, seconds
    backward_s: Backward passes, seconds
    tensor_parallel_s: Waiting for the tensor-parallel group, seconds
    context_parallel_s: Waiting for the context-parallel group, seconds
    pipeline_s: Waiting for a pipeline message in transit, seconds
    bubble_s: Waiting for a pipeline neighbour that has not issued its side of a message yet, seconds
    data_parallel_s: Waiting for gradient reductions and gathered weights, seconds
    optimizer_s: The optimizer's own work, seconds
    """

    other_s: float
    forward_s: float
    backward_s: float
    tensor_parallel_s: float
    context_parallel_s: float
    pipeline_s: float
    bubble_s: float
    data_parallel_s: float
    optimizer_s: float


class RankPhases(_RankPhases, total=False):
    """Time of the rank in each phase of a step; absent in results of workers that did not report it.

    expert_parallel_s: Waiting for tokens in transit to and from experts, seconds
    """

    expert_parallel_s: float


class RankCommunication(TypedDict):
    """RankCommunication.

    group: Name of the group, such as "tp" or "replicas"
    operation: Kind of operation
    calls: Number of operations per step
    bytes: Bytes on which they operate per step: buffers before a reduction or after a gather
    waited_s: Time that the rank waits for them per step, seconds
    under_way_s: Time per step during which at least one of them is in transit, hidden by computation or not, seconds
    """

    group: str
    operation: str
    calls: float
    bytes: float
    waited_s: float
    under_way_s: float


class _Rank(TypedDict):
    """Keys that are always there.

    rank: Number of the rank, from 0
    pipeline_rank: Pipeline rank, from 0
    peak_bytes: Peak bytes of the rank's tensors
    estimated_bytes: The planner's estimate of peak_bytes, bytes; 0 if there is none
    estimated_communicator_bytes: The planner's estimate of the communicators' buffers, bytes; 0 if there is none
    peak_in_flight: Largest number of micro-batches that were between forward and backward at the same time
    phases: Time of the rank in each phase of a step; absent in results of workers that did not report it
    communication: Communication of the rank in a step
    """

    rank: int
    pipeline_rank: int
    peak_bytes: int
    estimated_bytes: int
    estimated_communicator_bytes: int
    peak_in_flight: int
    phases: RankPhases
    communication: List[RankCommunication]


class Rank(_Rank, total=False):
    """Measurements of one rank.

    peak_host_bytes: Peak bytes that the layout offloaded to the rank's host; 0 if it offloads nothing
    estimated_host_bytes: The planner's estimate of peak_host_bytes, bytes; 0 if there is none
    expert_load: Largest number of tokens that the rank's experts received from one micro-batch, divided by an even
        share, a ratio; 0 for models without experts
    expert_tokens: Numbers of tokens that each of the rank's experts received, over all layers and steps; empty for
        models without experts
    estimated_routed_bytes: The planner's estimate of peak_bytes for the routing that the trial measured, bytes; absent
        if routing was forced to be balanced
    peak_reserved_bytes: Peak bytes that the allocator reserved on the device. A memory limit bounds this figure
    allocator_retries: Number of times that the allocator released its cached blocks before an allocation succeeded
    communicator_bytes: Bytes in use outside the allocator at the end, minus those before the groups were connected.
        These are communicators' buffers, and code that was loaded in between
    """

    peak_host_bytes: int
    estimated_host_bytes: int
    expert_load: float
    expert_tokens: List[int]
    estimated_routed_bytes: int
    peak_reserved_bytes: int
    allocator_retries: int
    communicator_bytes: int


class ResultStepInterval(TypedDict):
    """Interval that contains the median with a probability of 95 %; absent if too few steps were timed.

    low_s: Lower end, seconds
    high_s: Upper end, seconds
    """

    low_s: float
    high_s: float


class ResultOom(TypedDict):
    """The rank that ran out of memory; set only with the outcome oom.

    rank: Number of the rank, from 0
    pipeline_rank: Pipeline rank, from 0
    requested_bytes: Bytes that the rank requested
    held_bytes: Bytes that the rank held
    limit_bytes: Bytes that the rank may hold
    """

    rank: int
    pipeline_rank: int
    requested_bytes: int
    held_bytes: int
    limit_bytes: int


class ResultSliceMeasuredStagesActions(TypedDict):
    """ResultSliceMeasuredStagesActions.

    kind: Kind of action
    chunk: Chunk of the pipeline rank, from 0
    compute_s: Measured computation, seconds
    """

    kind: str
    chunk: int
    compute_s: float


class ResultSliceMeasuredStages(TypedDict):
    """ResultSliceMeasuredStages.

    pipeline_ranks: Pipeline ranks that hold a stage of this kind, from 0
    measured_rank: The pipeline rank that ran
    actions: Actions of that rank
    optimizer_s: Measured time of that rank's optimizer in a step, seconds
    peak_bytes: Measured peak bytes that the allocator held
    estimated_bytes: The planner's estimate of peak_bytes, bytes; 0 if there is none
    """

    pipeline_ranks: List[int]
    measured_rank: int
    actions: List[ResultSliceMeasuredStagesActions]
    optimizer_s: float
    peak_bytes: int
    estimated_bytes: int


class ResultSliceMeasured(TypedDict):
    """What was run.

    stages: The kinds of stages
    compute_s: Measured computation, seconds
    optimizer_s: Measured optimizer, seconds
    """

    stages: List[ResultSliceMeasuredStages]
    compute_s: float
    optimizer_s: float


class _ResultSliceModelledStagesActions(TypedDict):
    """Keys that are always there.

    kind: Kind of action
    chunk: Chunk of the pipeline rank, from 0
    tp_s: Modelled exposed tensor-parallel communication, seconds
    cp_s: Modelled exposed context-parallel communication, seconds
    dp_s: Modelled exposed data-parallel communication, seconds
    """

    kind: str
    chunk: int
    tp_s: float
    cp_s: float
    dp_s: float


class ResultSliceModelledStagesActions(_ResultSliceModelledStagesActions, total=False):
    """ResultSliceModelledStagesActions.

    ep_s: Modelled exposed all-to-all communication of experts, seconds
    """

    ep_s: float


class ResultSliceModelledStages(TypedDict):
    """ResultSliceModelledStages.

    measured_rank: The pipeline rank that ran
    actions: Actions of that rank
    dp_behind_s: Modelled exposed time of reductions after the last action, seconds
    """

    measured_rank: int
    actions: List[ResultSliceModelledStagesActions]
    dp_behind_s: float


class ResultSliceModelledOperations(TypedDict):
    """ResultSliceModelledOperations.

    measured_rank: Pipeline rank of the rank that ran
    group: Name of the group, such as "tp"
    operation: Kind of operation
    ranks: Number of ranks of the group
    stride: Distance between neighbouring ranks of the group, in ranks
    bytes: Full buffer of one operation, bytes
    calls: Number of operations per step
    seconds: Modelled time of one operation, seconds
    """

    measured_rank: int
    group: str
    operation: str
    ranks: int
    stride: int
    bytes: int
    calls: float
    seconds: float


class _ResultSliceModelled(TypedDict):
    """Keys that are always there.

    cluster: Cluster whose cost model charges communication
    stages: The kinds of stages
    operations: Communication per step of the ranks that ran
    hop_s: Modelled time of a message between stages, seconds
    tp_s: Modelled tensor-parallel communication, seconds
    cp_s: Modelled context-parallel communication, seconds
    pp_s: Modelled messages of the pipeline, seconds
    dp_s: Modelled data-parallel communication, seconds
    straggler_s: Modelled waiting for devices that are slower than the average device, seconds
    """

    cluster: str
    stages: List[ResultSliceModelledStages]
    operations: List[ResultSliceModelledOperations]
    hop_s: float
    tp_s: float
    cp_s: float
    pp_s: float
    dp_s: float
    straggler_s: float


class ResultSliceModelled(_ResultSliceModelled, total=False):
    """What was charged.

    ep_s: Modelled all-to-all communication of experts, seconds
    """

    ep_s: float


class ResultSliceSimulated(TypedDict):
    """What was composed.

    bubble_s: Simulated idle time in the pipeline, seconds
    step_s: Time of the step, the sum of all parts, seconds
    """

    bubble_s: float
    step_s: float


class ResultSlice(TypedDict):
    """In a slice trial, the parts of which the step is composed. `ranks` then has the ranks that ran.

    measured: What was run
    modelled: What was charged
    simulated: What was composed
    """

    measured: ResultSliceMeasured
    modelled: ResultSliceModelled
    simulated: ResultSliceSimulated


class _Result(TypedDict):
    """Keys that are always there.

    outcome: Outcome of the attempt
    message: One sentence on what went wrong; empty if nothing did. After a failure, the tail of the worker's output
        follows
    step_s: Median step time, seconds
    stop_reason: Why no more steps ran
    mfu: Model FLOPs utilisation (MFU) by the PaLM definition, a fraction of measured_peak_flops
    mfu_causal: MFU by the Megatron-LM definition, a fraction of measured_peak_flops
    measured_peak_flops: FLOP/s of one rank in a large matmul while all ranks run
    peak_flops: Peak FLOP/s of one rank by the cluster for which the trial was planned, on which the prediction is
        based; absent if no peak is known
    mfu_of_peak: MFU by the PaLM definition, a fraction of peak_flops; 0 without peak_flops
    mfu_causal_of_peak: MFU by the Megatron-LM definition, a fraction of peak_flops; 0 without peak_flops
    step_times_s: Times of all steps in order, seconds
    losses: Mean cross entropy before each update, nats
    gradient_norms: L2 norms of all gradients, one for each entry of `losses`
    ranks: Measurements of each rank
    worker_version: Version of the worker
    host: Host on which the attempt ran
    """

    outcome: str
    message: str
    step_s: float
    stop_reason: str
    mfu: float
    mfu_causal: Optional[float]
    measured_peak_flops: float
    peak_flops: Optional[float]
    mfu_of_peak: Optional[float]
    mfu_causal_of_peak: Optional[float]
    step_times_s: List[float]
    losses: List[float]
    gradient_norms: List[float]
    ranks: List[Rank]
    worker_version: str
    host: str


class Result(_Result, total=False):
    """Result of an attempt.

    fault: Cause of a failure: the layout, the infrastructure of a rank, or the network between hosts. Not set if
        nothing failed or the cause is not known
    step_interval: Interval that contains the median with a probability of 95 %; absent if too few steps were timed
    oom: The rank that ran out of memory; set only with the outcome oom
    slice: In a slice trial, the parts of which the step is composed. `ranks` then has the ranks that ran
    failed_agent: In a gang's trial, the agent whose part failed; empty if that is the reporting agent itself or if no
        part failed
    command: Command that the agent started, as a shell reads it. Set only in a trial with a runner
    log_end: End of what this command printed, at most 4 KiB. Set only in a trial with a runner
    """

    fault: str
    step_interval: ResultStepInterval
    oom: ResultOom
    slice: ResultSlice
    failed_agent: str
    command: str
    log_end: str


class Sweep(TypedDict):
    """A request, the layouts that were chosen for it, and the state of their trials.

    name: Resource name, `sweeps/{sweep}`. Commands print only the last part
    state: State of the sweep
    reason: Why the sweep is in this state, or what it waits for
    model: Name of the model
    cluster: Name of the cluster
    cluster_hash: Hash of the cluster's JSON without its name, hexadecimal
    profile: Name of the framework profile
    profile_hash: Hash of the profile's JSON without its name, hexadecimal
    gpus: Number of devices of one trial
    device_kind: Kind of device that the trials need
    runner: Runner of the trials: its name, the beginning of its file's hash, and the values of its fields. Empty if
        Meshwright's own worker runs them
    ask: Whether callers ask for the trials (AskTrial) and run them, so that no agent does
    seq_len: Tokens per sequence
    global_batch: Sequences per optimizer step
    dtype: Number format
    steps: Number of training steps of one trial, or the largest number if the request left it open
    seed: Seed of the initial weights and tokens
    memory_limit_bytes: Memory limit of one rank's allocator, bytes; 0 if there is no limit
    candidates: Number of layouts that the sweep may run. Layouts that the request names are trials from the start;
        each of the others becomes a trial once it is chosen
    max_trials: Largest number of trials, including those that the request names and those with earlier results; 0 if
        the request names all
    min_gain: The sweep chooses no further trial if the expected gain is below this share of the best step time. 0 if
        the request names all trials
    trials: Number of its trials
    trials_ended: Number of its trials that have ended, including cancelled ones
    trials_reused: Number of trials that reuse a result of an earlier sweep
    trials_by_state: Numbers of its trials by state, such as "ok". States without a trial are absent
    rerun_of: Resource name of the sweep whose trials this sweep repeats; that sweep may have been deleted. Empty if
        the layouts were searched
    planner_version: Version of the planner that searched the layouts
    create_time: When the sweep was created
    end_time: When the sweep's last trial ended; absent until then
    last_sequence: Sequence number of its newest event
    actor: Who created it, in the form of SweepEvent.actor
    funnel: Numbers of points that each pass of the search dropped
    """

    name: str
    state: str
    reason: str
    model: str
    cluster: str
    cluster_hash: str
    profile: str
    profile_hash: str
    gpus: int
    device_kind: str
    runner: str
    ask: bool
    seq_len: int
    global_batch: int
    dtype: str
    steps: int
    seed: int
    memory_limit_bytes: Optional[int]
    candidates: int
    max_trials: Optional[int]
    min_gain: Optional[float]
    trials: int
    trials_ended: int
    trials_reused: int
    trials_by_state: Dict[str, int]
    rerun_of: Optional[str]
    planner_version: str
    create_time: str
    end_time: Optional[str]
    last_sequence: int
    actor: Optional[str]
    funnel: Funnel


class Trial(TypedDict):
    """A layout to run, and its result.

    trial: Resource name, `sweeps/{sweep}/trials/{trial}`. The last part is the layout's predicted rank among the
        sweep's candidates, from 1. Empty for an imported run
    layout: Text form of the layout
    requested: Whether the request names this layout; otherwise the search found it
    reused_from: Resource name of the trial whose result this trial reuses; that trial may have been deleted. Empty for
        a trial that ran itself
    state: State of the trial
    reason: Why the trial is in this state
    attempt: Number of the current attempt, from 1. If a deleted sweep had the same name, numbers continue after its
        last attempt
    agent: Name of the agent of the current or last attempt. In a sweep whose trials callers run, the caller who asked
        for the trial or told its result, in the form of SweepEvent.actor, or "a caller"
    host: Host of that agent
    end_time: When the trial's last attempt ended; absent if the trial has not ended or had no attempt
    seed: Seed of the initial weights and tokens
    rank: Place by measured step, from 1; null where none was measured
    rank_shared: Whether another trial's step is not told apart from it
    step_s: Median of the measured steps, seconds
    step_low_s: Lower end of the 95 % interval of the median, seconds; null where too few steps were timed
    step_high_s: Upper end of that interval, seconds
    mfu: PaLM definition, a fraction of peak_flops
    mfu_causal: Megatron-LM definition, a fraction of peak_flops
    mfu_note: Why one is above 1
    predicted: Prediction of the planner
    measured: Result of the trial; absent until the trial has ended
    unreadable: Parts of the trial that the server could not read from its store, and why; empty if it could read
        everything. All other fields are valid
    """

    trial: str
    layout: str
    requested: bool
    reused_from: Optional[str]
    state: str
    reason: str
    attempt: int
    agent: str
    host: str
    end_time: Optional[str]
    seed: int
    rank: Optional[int]
    rank_shared: Optional[bool]
    step_s: Optional[float]
    step_low_s: Optional[float]
    step_high_s: Optional[float]
    mfu: Optional[float]
    mfu_causal: Optional[float]
    mfu_note: Optional[str]
    predicted: Optional[Layout]
    measured: Optional[Result]
    unreadable: Optional[str]


class Candidate(TypedDict):
    """A layout that a sweep may run.

    number: Predicted rank among the sweep's candidates, from 1, which is also the number of its trial
    layout: Text form of the layout
    state: State of its trial; not set if it is no trial
    predicted_step_s: Step time by the estimate alone, seconds
    step_s: Median step time by the estimate and the results so far, seconds
    spread: Uncertainty of step_s, as the standard deviation of its logarithm
    predicted_oom_probability: Probability of running out of memory by the estimate alone, a fraction
    oom_probability: Probability of running out of memory by the estimate and the results so far, a fraction
    expected_gain: Expected reduction of the step time against the sweep's best trial if this layout runs, as a share
        of the best step time; 0 before any trial was measured
    """

    number: int
    layout: str
    state: Optional[str]
    predicted_step_s: float
    step_s: float
    spread: float
    predicted_oom_probability: float
    oom_probability: float
    expected_gain: float


class ComparedTrial(TypedDict):
    """A trial that ended by itself, as sweeps are compared.

    trial: Sweep and number
    layout: Text form of the layout
    outcome: State that it ended in
    step_s: Median of the measured steps, seconds
    step_low_s: Lower end of the 95 % interval of the median, seconds; null where too few steps were timed
    step_high_s: Upper end of that interval, seconds
    mfu: PaLM definition, a fraction of the peak of its own sweep's cluster
    reused_from: Sweep and number of the trial whose result it has; null for one that ran itself
    """

    trial: str
    layout: str
    outcome: str
    step_s: Optional[float]
    step_low_s: Optional[float]
    step_high_s: Optional[float]
    mfu: Optional[float]
    reused_from: Optional[str]


class TimeChange(TypedDict):
    """How a step's time changed from one sweep to another.

    change: From A to B, a share of A's time per token (the step time where both have as many tokens a step); below 0
        where B is faster
    change_low: Least change if both medians are inside their 95 % intervals; null where one has no interval
    change_high: Largest such change
    noise: Whether the change is outside the noise: the intervals do not overlap, they do, one of them is not known, or
        both have the result of one run
    """

    change: float
    change_low: Optional[float]
    change_high: Optional[float]
    noise: str


class OnlyThere(TypedDict):
    """Layouts that ended by themselves in one of two sweeps alone.

    layouts: Number of these layouts
    by_outcome: Counts by the state that they ended in
    best: The fastest of them; null where none was measured
    """

    layouts: int
    by_outcome: Dict[str, int]
    best: Optional[ComparedTrial]


class _CalibrationConstants(TypedDict):
    """Keys that are always there.

    prior: Value at which the fit starts
    prior_sigma: Standard deviation of its logarithm
    value: Fitted value
    sigma: Standard deviation of its logarithm
    """

    prior: float
    prior_sigma: float
    value: float
    sigma: float


class CalibrationConstants(_CalibrationConstants, total=False):
    """CalibrationConstants.

    at_bound: Whether the fit stopped at the bound of what is physical
    """

    at_bound: bool


class _Calibration(TypedDict):
    """Keys that are always there.

    command: Command that made it; empty where it was not fitted
    rows: Measured steps that were used
    sources: Who measured these steps
    median_error: Median of |predicted / measured - 1|
    mean_error: Mean of |predicted / measured - 1|
    constants: Fitted constants, by name
    """

    command: str
    rows: int
    sources: List[str]
    median_error: float
    mean_error: float
    constants: Dict[str, CalibrationConstants]


class Calibration(_Calibration, total=False):
    """A fit.

    prior_rows: Measured steps behind the fit that this one started from; absent where it started from data sheets
    """

    prior_rows: int


class _Link(TypedDict):
    """Keys that are always there.

    bytes_per_s: Bandwidth of one device, one way, from the data sheet, bytes per second
    efficiency: Share of bytes_per_s that large messages reach
    hop_latency_s: Latency of one step of a ring, seconds; with NCCL the latency that a network interface adds to
        NCCL's own
    step_overhead_s: Host time of one step of a ring that leaves a node, seconds; no such step is shorter
    base_latency_s: Time to start a collective, seconds
    """

    bytes_per_s: float
    efficiency: float
    hop_latency_s: float
    step_overhead_s: float
    base_latency_s: float


class Link(_Link, total=False):
    """A link as one rank sees it.

    pair_bytes_per_s: Bandwidth between two devices that a bridge joins, one way, bytes per second; absent where there
        are no bridges
    mesh: Whether each device has a separate link to every other device of its node, so that a group uses only the
        links among its ranks; absent where a switch joins the devices
    """

    pair_bytes_per_s: float
    mesh: bool


class ClusterDeviceFastestAttention(TypedDict):
    """ClusterDeviceFastestAttention.

    head_dim: Size of a head
    kernel: Name of the kernel
    source: Which measurement
    """

    head_dim: int
    kernel: str
    source: str


class _ClusterDevice(TypedDict):
    """Keys that are always there.

    name: Name of the device
    peak_fp32_flops: FLOP/s
    memory_bytes: Memory that the driver reports, bytes
    memory_bytes_per_s: Bandwidth of device memory, from the data sheet, bytes per second
    memory_efficiency: Share of memory_bytes_per_s that is reached
    matmul_efficiency: Share of the peak that a large matmul reaches
    matmul_half_k: Inner dimension at which a matmul reaches half of matmul_efficiency
    matmul_limit: Largest share of the peak that a matmul benchmark reaches
    attention_efficiency: Share of the peak that causal attention reaches
    attention_half_seq: Sequence length at which causal attention reaches half of attention_efficiency
    flash1_ratio: Rate over FlashAttention-2's; 0 where it does not run
    flash3_ratio: Rate over FlashAttention-2's; 0 where it does not run
    flash4_ratio: Rate over FlashAttention-2's; 0 where it does not run
    cudnn_ratio: Rate over FlashAttention-2's; 0 where it does not run
    straggler_sigma: Spread of device speeds, a share
    step_time_sigma: Spread of measured over predicted step times
    kernel_launch_s: Host time to launch one kernel, seconds; 4.5 us by default
    compute_units: Compute units over which the tiles of a matmul are spread
    tile_m: Rows of an output tile
    tile_n: Columns of an output tile
    context_bytes: Device context and libraries, bytes; 1 GiB by default
    communicator_bytes: Buffers of one communicator, bytes; 512 MiB by default
    point_to_point_communicator_bytes: Buffers of a communicator that only passes point-to-point messages, bytes
    matmul_workspace_bytes: Workspace that the matmul library holds, bytes; cuBLAS's by default
    """

    name: str
    peak_fp32_flops: float
    memory_bytes: int
    memory_bytes_per_s: float
    memory_efficiency: float
    matmul_efficiency: float
    matmul_half_k: float
    matmul_limit: float
    attention_efficiency: float
    attention_half_seq: float
    flash1_ratio: float
    flash3_ratio: float
    flash4_ratio: float
    cudnn_ratio: float
    straggler_sigma: float
    step_time_sigma: float
    kernel_launch_s: float
    compute_units: int
    tile_m: int
    tile_n: int
    context_bytes: int
    communicator_bytes: int
    point_to_point_communicator_bytes: int
    matmul_workspace_bytes: int


class ClusterDevice(_ClusterDevice, total=False):
    """One device.

    peak_fp16_flops: Dense, FLOP/s; absent where fp16 products run at bf16's rate
    peak_bf16_flops: Dense, FLOP/s; absent where it has no bf16 products
    peak_tf32_flops: Dense, FLOP/s; absent where it has none
    peak_fp8_flops: Dense, FLOP/s; absent where it has none
    peak_fp4_flops: Dense, FLOP/s; absent where it has none
    narrow_matmul_ratio: Share of the peak that a matmul in fp8 or fp4 reaches, over that in bf16; absent where it has
        neither
    fastest_attention: Measured fastest kernels; absent until measured
    """

    peak_fp16_flops: float
    peak_bf16_flops: float
    peak_tf32_flops: float
    peak_fp8_flops: float
    peak_fp4_flops: float
    narrow_matmul_ratio: float
    fastest_attention: List[ClusterDeviceFastestAttention]


class ClusterHost(TypedDict):
    """The host of a node's devices; absent where nothing is known of it.

    link_bytes_per_s: Bandwidth between one device and the host, one way, bytes per second; 0 where unknown
    link_efficiency: Share of link_bytes_per_s that copies from pinned memory reach
    memory_bytes: Host memory of a node, bytes; 0 where unknown
    memory_bytes_per_s: Bandwidth of a node's host memory, bytes per second; 0 where unknown
    update_efficiency: Share of memory_bytes_per_s that an optimizer's update on the node's processors reaches
    operator_s: Time in which one process of the host issues an operator of Megatron-Core without CUDA graphs, seconds
    source: Where the figures come from
    """

    link_bytes_per_s: float
    link_efficiency: float
    memory_bytes: int
    memory_bytes_per_s: float
    update_efficiency: float
    operator_s: float
    source: str


class ClusterPower(TypedDict):
    """Power of a device in each of its states; absent where unknown.

    compute_w: Power of a device while its kernels compute, watts
    exposed_w: Power of a device while it waits for exposed communication, watts
    idle_w: Power of an idle device, watts
    source: Where the figures come from
    """

    compute_w: float
    exposed_w: float
    idle_w: float
    source: str


class _ClusterFingerprint(TypedDict):
    """Keys that are always there.

    device: Name of the device that the driver reports
    date: Date of the measurement, YYYY-MM-DD
    command: Command that wrote the figures
    """

    device: str
    date: str
    command: str


class ClusterFingerprint(_ClusterFingerprint, total=False):
    """Where its figures were measured; absent where they were not measured on one machine.

    driver: Version of the devices' driver; absent where unknown
    cuda: Version of the CUDA runtime; absent where unknown
    nccl: Version of NCCL; absent where unknown
    host_cpu: The host's processor; absent where unknown
    """

    driver: str
    cuda: str
    nccl: str
    host_cpu: str


class _Cluster(TypedDict):
    """Keys that are always there.

    name: Name of the cluster
    gpu_names: What measurement files call its device
    collectives: How collectives are timed
    device: One device
    devices_per_node: Devices that scale_up connects
    scale_up_spans_hosts: Whether scale_up reaches beyond one host
    scale_up: The link inside a node
    scale_out: The link between nodes
    physical_cores: Cores that the ranks of a node share; 0 where each device computes on its own
    source: Where the figures come from
    rests_on: Evidence that the figures rest on
    """

    name: str
    gpu_names: List[str]
    collectives: str
    device: ClusterDevice
    devices_per_node: int
    scale_up_spans_hosts: bool
    scale_up: Link
    scale_out: Link
    physical_cores: int
    source: str
    rests_on: str


class Cluster(_Cluster, total=False):
    """A cluster file, which --cluster takes.

    rows: Conditions on measured rows that belong to this cluster whatever their GPU is called, such as "source =
        SimuMax; gpu = B200"; absent where there are none
    nodes: Number of nodes; absent where unknown
    host: The host of a node's devices; absent where nothing is known of it
    power: Power of a device in each of its states; absent where unknown
    unmeasured: Parts whose figures differ from those of the preset that it is based on; absent where none does
    fingerprint: Where its figures were measured; absent where they were not measured on one machine
    calibrated_from: Preset whose figures a benchmark or a fit replaced; absent where there is none
    calibration: The fit that its constants are from; absent where there was none
    """

    rows: List[str]
    nodes: int
    host: ClusterHost
    power: ClusterPower
    unmeasured: List[str]
    fingerprint: ClusterFingerprint
    calibrated_from: str
    calibration: Calibration


class UnreadableRow(TypedDict):
    """A row of measurements that could not be read.

    file: File
    line: Line in it, from 1
    reason: What could not be read
    """

    file: str
    line: int
    reason: str


class RefusalValues(TypedDict):
    """RefusalValues.

    value: The value
    rows: Number of rows
    """

    value: str
    rows: int


class Refusal(TypedDict):
    """Why rows could be read and not modelled.

    cause: Cause for which the rows were refused
    rows: Number of rows
    values: Refused values, or sentences on a broken rule, each with its number of rows
    """

    cause: str
    rows: int
    values: List[RefusalValues]


class AgentsDrainAnswer(TypedDict):
    """meshwright agents drain and agents resume --format json.

    schema_version: Version of what the keys mean
    name: Name of the agent
    now: What it gets from now on, in words
    """

    schema_version: int
    name: str
    now: str


class BenchmarkAnswerBenchmarkMatmuls(TypedDict):
    """BenchmarkAnswerBenchmarkMatmuls.

    dtype: bf16, fp32 or fp64
    m: Rows
    n: Columns
    k: Inner dimension
    ranks: Ranks that run simultaneously
    median_s: Median of the windows, seconds of one operation
    best_s: Best of the windows, seconds
    """

    dtype: str
    m: int
    n: int
    k: int
    ranks: int
    median_s: float
    best_s: float


class BenchmarkAnswerBenchmarkCopies(TypedDict):
    """BenchmarkAnswerBenchmarkCopies.

    bytes: Bytes that the copy reads, and writes
    ranks: Ranks that run simultaneously
    median_s: Median of the windows, seconds of one operation
    best_s: Best of the windows, seconds
    """

    bytes: int
    ranks: int
    median_s: float
    best_s: float


class BenchmarkAnswerBenchmarkCollectives(TypedDict):
    """BenchmarkAnswerBenchmarkCollectives.

    kind: all_reduce, all_gather, reduce_scatter or send
    bytes: The full buffer, bytes
    ranks: Ranks of a group
    groups: Groups that run simultaneously
    median_s: Median of the windows, seconds of one operation
    best_s: Best of the windows, seconds
    """

    kind: str
    bytes: int
    ranks: int
    groups: int
    median_s: float
    best_s: float


class _BenchmarkAnswerBenchmark(TypedDict):
    """Keys that are always there.

    host: Host
    worker_version: Version of the worker
    date: YYYY-MM-DD
    device_name: Name of the device that the driver reports
    devices: Ranks
    physical_cores: Cores that the ranks share; 0 where each has a device
    memory_bytes: Memory of one device, bytes
    compute_units: Compute units of one device
    matmuls: Matrix products
    copies: Copies in memory
    collectives: Collectives
    """

    host: str
    worker_version: str
    date: str
    device_name: str
    devices: int
    physical_cores: int
    memory_bytes: int
    compute_units: int
    matmuls: List[BenchmarkAnswerBenchmarkMatmuls]
    copies: List[BenchmarkAnswerBenchmarkCopies]
    collectives: List[BenchmarkAnswerBenchmarkCollectives]


class BenchmarkAnswerBenchmark(_BenchmarkAnswerBenchmark, total=False):
    """What was measured.

    driver: Version of the devices' driver; absent where unknown
    cuda: Version of the CUDA runtime; absent where unknown
    nccl: Version of NCCL; absent where unknown
    host_cpu: The host's processor; absent where unknown
    """

    driver: str
    cuda: str
    nccl: str
    host_cpu: str


class BenchmarkAnswerFitMatmuls(TypedDict):
    """How far the fitted formulas are from the timings of products.

    rows: Timings that were used, a count
    median_error: Median of |fitted / measured - 1|
    worst_error: Largest |fitted / measured - 1|
    """

    rows: int
    median_error: float
    worst_error: float


class BenchmarkAnswerFitCollectives(TypedDict):
    """How far the fitted formulas are from the timings of collectives.

    rows: Timings that were used, a count
    median_error: Median of |fitted / measured - 1|
    worst_error: Largest |fitted / measured - 1|
    """

    rows: int
    median_error: float
    worst_error: float


class BenchmarkAnswerFit(TypedDict):
    """How far the fitted formulas are from what was measured.

    matmuls: How far the fitted formulas are from the timings of products
    collectives: How far the fitted formulas are from the timings of collectives
    """

    matmuls: BenchmarkAnswerFitMatmuls
    collectives: BenchmarkAnswerFitCollectives


class BenchmarkAnswer(TypedDict):
    """meshwright benchmark --format json.

    schema_version: Version of what the keys mean
    benchmark: What was measured
    fit: How far the fitted formulas are from what was measured
    cluster: Cluster file made of the measurements, which --cluster takes
    """

    schema_version: int
    benchmark: BenchmarkAnswerBenchmark
    fit: BenchmarkAnswerFit
    cluster: Cluster


class CalibrateAnswerSweeps(TypedDict):
    """CalibrateAnswerSweeps.

    sweep: Name of the sweep
    rows: Rows of it, a count
    step_time_mape: Mean of |predicted / measured - 1|
    """

    sweep: str
    rows: int
    step_time_mape: float


class CalibrateAnswerResiduals(TypedDict):
    """CalibrateAnswerResiduals.

    sweep: Name of the sweep
    layout: Text form of the layout
    step_s: Measured, seconds
    log_error: log(predicted / measured)
    """

    sweep: str
    layout: str
    step_s: float
    log_error: float


class CalibrateAnswer(TypedDict):
    """meshwright calibrate --format json.

    schema_version: Version of what the keys mean
    rows: Measured steps that took part, a count
    other_rows: Rows of another device, framework or sweep, a count
    unmeasured_rows: Rows without a step time, a count
    unmodelled_rows: Rows that could not be modelled, a count
    unreadable_rows: Rows that could not be read
    unreadable: Each row that could not be read
    not_modelled: Rows that could be read and not modelled, by cause
    cluster: The fit of the cluster's constants
    framework: The fit of the framework profile's constants
    undecided: Constants that the rows did not decide; near their priors, but for those of the next two lists
    moved_undecided: Those of undecided that moved by more than 3 % and are inside their bounds
    moved_to_bound: Those of undecided that moved by more than 3 % and ended at a bound
    step_time_sigma: Standard deviation of log(measured / predicted)
    step_time_sigma_before: step_time_sigma of what the fit started from
    sweeps: By sweep
    residuals: By row
    """

    schema_version: int
    rows: int
    other_rows: int
    unmeasured_rows: int
    unmodelled_rows: int
    unreadable_rows: int
    unreadable: List[UnreadableRow]
    not_modelled: List[Refusal]
    cluster: Calibration
    framework: Calibration
    undecided: List[str]
    moved_undecided: List[str]
    moved_to_bound: List[str]
    step_time_sigma: float
    step_time_sigma_before: float
    sweeps: List[CalibrateAnswerSweeps]
    residuals: List[CalibrateAnswerResiduals]


class _CompareAnswerLayouts(TypedDict):
    """Keys that are always there.

    layout: Text form of the layout
    rule: Identifier of the rule that the layout breaks, such as "heads_division"; empty if it can run
    fits: Whether the layout fits under the memory criterion of the question
    sentence: The layout's place in words
    estimate: The prediction
    """

    layout: str
    rule: Optional[str]
    fits: bool
    sentence: str
    estimate: Optional[Layout]


class CompareAnswerLayouts(_CompareAnswerLayouts, total=False):
    """CompareAnswerLayouts.

    place: Place of the layout by step time among those that fit, from 1; 0 if it does not fit
    slower: Its step time divided by that of the fastest layout that fits, minus 1
    because: Parts of the step that make it slower than the fastest layout that fits, largest first
    """

    place: int
    slower: float
    because: List[SlowerPart]


class _CompareAnswerMeasured(TypedDict):
    """Keys that are always there.

    layout: Text form of the layout
    out_of_memory: Whether the run went out of memory
    step_before_s: Time of a step by the formulas alone, seconds
    step_s: Time of a step after the correction, seconds
    peak_before_bytes: The same peak by the formulas alone, bytes
    peak_bytes: The same peak after the correction, bytes
    """

    layout: str
    out_of_memory: bool
    step_before_s: float
    step_s: float
    peak_before_bytes: int
    peak_bytes: int


class CompareAnswerMeasured(_CompareAnswerMeasured, total=False):
    """CompareAnswerMeasured.

    measured_step_s: Measured time of a step, seconds
    measured_peak_bytes: Measured peak of the fullest device, bytes
    """

    measured_step_s: float
    measured_peak_bytes: int


class _CompareAnswer(TypedDict):
    """Keys that are always there.

    schema_version: Version of what the keys mean
    request: What was asked
    elapsed_s: Time of the whole command, seconds
    layouts: The layouts, in the order of the request
    allowed_bytes: Bytes that a device may hold under the memory criterion
    device_bytes: Memory of a device, bytes
    within: Largest difference between the steps of layouts that tie, a fraction
    notes: What readers of the figures should know, one sentence per note
    parameters: Number of parameters of the model
    rests_on: Evidence behind the figures
    sentence: Which layout wins and why, in words
    """

    schema_version: int
    request: Request
    elapsed_s: float
    layouts: List[CompareAnswerLayouts]
    allowed_bytes: int
    device_bytes: int
    within: float
    notes: List[str]
    parameters: int
    rests_on: RestsOn
    sentence: str


class CompareAnswer(_CompareAnswer, total=False):
    """meshwright compare --format json.

    measured: The request's `measured` runs beside their estimates
    """

    measured: List[CompareAnswerMeasured]


class DbBackupAnswer(TypedDict):
    """meshwright db backup --format json.

    schema_version: Version of what the keys mean
    to: The copy's file
    bytes: Size of the copy, bytes
    sweeps: Sweeps in it, a count
    """

    schema_version: int
    to: str
    bytes: int
    sweeps: int


class DbCheckAnswer(TypedDict):
    """meshwright db check --format json.

    ok: Whether the file is whole
    schema_version: Version of the database's own schema, not of these keys
    sweeps: Sweeps, a count
    trials: Trials, a count
    attempts: Attempts, a count
    events: Events, a count
    unseen_wal_bytes: Bytes of the write-ahead log that could not be checked
    problems: What is damaged
    """

    ok: bool
    schema_version: int
    sweeps: int
    trials: int
    attempts: int
    events: int
    unseen_wal_bytes: int
    problems: List[str]


class DbCompactAnswer(TypedDict):
    """meshwright db compact --format json.

    schema_version: Version of what the keys mean
    bytes_before: Size of the file and its write-ahead log before, bytes
    bytes_after: Size of the file now, bytes
    events: Events that were deleted, a count
    shapes: Models, trainings, clusters and profiles that no sweep had any more, a count
    """

    schema_version: int
    bytes_before: int
    bytes_after: int
    events: int
    shapes: int


class DoctorAnswerFindings(TypedDict):
    """DoctorAnswerFindings.

    check: What was looked at
    verdict: warning: works, and not as well as it could; problem: does not work
    found: What is there
    advice: What to do about it; null where nothing is to be done
    """

    check: str
    verdict: str
    found: str
    advice: Optional[str]


class DoctorAnswer(TypedDict):
    """meshwright doctor --format json.

    schema_version: Version of what the keys mean
    verdict: The worst of the findings
    findings: One for each thing that was looked at
    """

    schema_version: int
    verdict: str
    findings: List[DoctorAnswerFindings]


class _ErrorAnswerError(TypedDict):
    """Keys that are always there.

    code: Canonical status code, such as INVALID_ARGUMENT
    message: One sentence
    """

    code: str
    message: str


class ErrorAnswerError(_ErrorAnswerError, total=False):
    """What went wrong.

    field: Key or flag that is off; absent where none is
    """

    field: str


class ErrorAnswer(TypedDict):
    """What any command prints with --format json where it fails.

    schema_version: Version of what the keys mean
    error: What went wrong
    """

    schema_version: int
    error: ErrorAnswerError


class EstimateAnswerAxes(TypedDict):
    """The axes of the layout, one by one.

    tp: ranks that share every layer's matrices
    cp: ranks that share a sequence
    pp: ranks that share the layers, as a pipeline
    dp: ranks that share the batch
    ep: ranks of a stage that hold different experts
    etp: ranks that share each expert's matrices
    mb: sequences in a micro-batch
    vpp: number of chunks that a pipeline rank's layers are split into (without pp, one rank has all layers); the
        schedule loops over them
    zero: data-parallel ranks shard: 1 optimizer, 2 gradients too, 3 weights too
    sp: 1: sequence parallelism, which splits the activations around norms over the tp ranks
    rc: what the backward recomputes: none, selective, full, block:N (N layers of each rank, or of each of its vpp
        chunks), or names of modules, joined by +
    sched: the order in which stages and chunks run the micro-batches
    attn: the attention kernel; default: the framework's
    norm: the norm kernel; default: the framework's
    hs: HSDP: each group of hs ranks shards a copy; 0: one group of all dp * cp
    stages: layers of each stage or vpp chunk in order (4+4x6+4: one of 4 layers, four of 6, one of 4); absent: the
        framework's own split
    offload: what is moved to the hosts' memory: act:N, opt, act:N+opt; none: nothing
    """

    tp: int
    cp: int
    pp: int
    dp: int
    ep: int
    etp: int
    mb: int
    vpp: int
    zero: int
    sp: int
    rc: str
    sched: str
    attn: str
    norm: str
    hs: int
    stages: str
    offload: str


class _EstimateAnswerMeasured(TypedDict):
    """Keys that are always there.

    layout: Text form of the layout
    out_of_memory: Whether the run went out of memory
    step_before_s: Time of a step by the formulas alone, seconds
    step_s: Time of a step after the correction, seconds
    peak_before_bytes: The same peak by the formulas alone, bytes
    peak_bytes: The same peak after the correction, bytes
    """

    layout: str
    out_of_memory: bool
    step_before_s: float
    step_s: float
    peak_before_bytes: int
    peak_bytes: int


class EstimateAnswerMeasured(_EstimateAnswerMeasured, total=False):
    """EstimateAnswerMeasured.

    measured_step_s: Measured time of a step, seconds
    measured_peak_bytes: Measured peak of the fullest device, bytes
    """

    measured_step_s: float
    measured_peak_bytes: int


class EstimateAnswerBinding(TypedDict):
    """The largest part of memory, and the largest part of the step besides compute.

    memory_part: Largest part of the fullest device's memory, such as "activations"
    memory_bytes: Size of that part, bytes
    time_part: Largest part of the step other than compute, such as "bubble"
    time_s: Duration of that part, seconds
    sentence: Both parts in words, and what would shorten the time
    """

    memory_part: str
    memory_bytes: int
    time_part: str
    time_s: float
    sentence: str


class _EstimateAnswerSmallestChange(TypedDict):
    """Keys that are always there.

    layout: Text form
    changes: Changed axes and options, such as "mb 2 -> 1"
    total_bytes: Memory of the fullest device after the change, bytes
    step_s: Time of a step after the change, seconds
    """

    layout: str
    changes: List[str]
    total_bytes: int
    step_s: float


class EstimateAnswerSmallestChange(_EstimateAnswerSmallestChange, total=False):
    """The fastest of these layouts that fits; a layout with a further change is preferred only if the change saves 5 %
    of the step. Not set if this layout fits or none of the others does.

    options: Values of the run's options that change, by name
    """

    options: Dict[str, str]


class _EstimateAnswerSameMeshChange(TypedDict):
    """Keys that are always there.

    layout: Text form
    changes: Changed axes and options, such as "mb 2 -> 1"
    total_bytes: Memory of the fullest device after the change, bytes
    step_s: Time of a step after the change, seconds
    """

    layout: str
    changes: List[str]
    total_bytes: int
    step_s: float


class EstimateAnswerSameMeshChange(_EstimateAnswerSameMeshChange, total=False):
    """Where smallest_change has another tp, cp, pp, ep or etp: the same choice among the layouts that have this
    layout's. Not set if none of them fits.

    options: Values of the run's options that change, by name
    """

    options: Dict[str, str]


class EstimateAnswerOtherImbalance(TypedDict):
    """Effect of an imbalance of 1.2, or of 1 if the request's imbalance is at least 1.2. Not set for models without
    experts.

    imbalance: Tokens that the experts of the fullest rank receive, divided by the tokens of an average rank
    total_bytes: Memory of the fullest device, bytes
    oom_probability: Calibrated probability of running out of memory, a fraction
    step_s: Time of one optimizer step, seconds
    sentence: This effect in words, compared with the layout's own figures
    """

    imbalance: float
    total_bytes: int
    oom_probability: float
    step_s: float
    sentence: str


class EstimateAnswerExperts(TypedDict):
    """The share of experts; not set for models without experts.

    activations_bytes: Activations that experts keep on the fullest device, bytes
    exposed_s: Exposed communication of tokens to and from experts, seconds per step
    sentence: The facts of this message in words
    """

    activations_bytes: int
    exposed_s: float
    sentence: str


class EstimateAnswerLatentAttention(TypedDict):
    """The share of latent attention in the fullest device's activations; not set for models without it.

    projected_bytes: Queries, keys and values of all heads, bytes
    latent_bytes: Latents from which queries, keys and values are projected, bytes
    sentence: The facts of this message in words
    """

    projected_bytes: int
    latent_bytes: int
    sentence: str


class EstimateAnswerOffload(TypedDict):
    """The data that the layout offloads to the hosts' memory; not set if it offloads nothing.

    moved_bytes: Activations that a device copies to the host in a micro-batch, and back, on the device with the most,
        bytes
    update_bytes: Gradients that a device copies to the host's optimizer in a step, plus the weights that it copies
        back, on the device with the most, bytes
    link_bytes_per_s: Rate at which a device copies to or from the host, bytes per second
    exposed_s: Copies that neither compute nor the optimizer update hides, seconds per step
    host_bytes: Offloaded data of one device in its host's memory, on the device with the most, bytes
    sentence: The facts of this message in words
    """

    moved_bytes: int
    update_bytes: int
    link_bytes_per_s: float
    exposed_s: float
    host_bytes: int
    sentence: str


class _EstimateAnswer(TypedDict):
    """Keys that are always there.

    layout: Text form of the layout, such as "tp4.cp1.pp2.dp8.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b"
    axes: The axes of the layout, one by one
    memory: Memory of the fullest device
    time: Time of one optimizer step
    mfu: Model FLOPs utilisation (MFU) by the PaLM definition, a fraction
    mfu_causal: MFU by the Megatron-LM definition, which counts half of the attention, a fraction
    tokens_per_s: Tokens per second over all devices
    tflops_per_gpu: Model FLOP/s per device by the PaLM definition, TFLOP/s; 0 in sweeps of older versions
    tflops_per_gpu_causal: Model FLOP/s per device by the Megatron-LM definition, TFLOP/s; 0 in sweeps of older
        versions
    tokens_per_s_per_gpu: Tokens per second per device; 0 in sweeps of older versions
    oom_probability: Calibrated probability of running out of memory, a fraction
    step_low_s: Lower end of the 80 % interval of the step time, seconds. The true step time lies between step_low_s
        and step_high_s in 80 % of runs like this one
    step_high_s: Upper end of the 80 % interval of the step time, seconds
    peak_low_bytes: Lower end of the 80 % interval of the fullest device's memory, bytes. 0 in sweeps of older versions
    peak_high_bytes: Upper end of the 80 % interval of the fullest device's memory, bytes. 0 in sweeps of older
        versions
    host_node_bytes: Data that one node's devices offload to the host's memory, on the node with the most, bytes
    tokens_per_joule: Tokens that are trained per joule; 0 if the cluster file does not state the devices' power
    schema_version: Version of what the keys mean
    request: What was asked
    parameters: Number of parameters of the model
    active_parameters: Number of parameters in `parameters`, without the experts that a token skips
    tower_parameters: Number of parameters in `parameters` that belong to towers (encoders of images); 0 without a
        tower
    mtp_parameters: Number of parameters, in addition to `parameters`, of the layers that predict further tokens
    parameters_per_gpu: Number of parameters with which the device with the most computes, before ZeRO divides them
    micro_batches: Number of micro-batches that a rank runs in a step, one after the other (gradient accumulation)
    tokens_per_step: Number of tokens of a step over all ranks
    rests_on: Evidence behind the figures
    fits: Whether the fullest device holds at most allowed_bytes
    allowed_bytes: Bytes that a device may hold under the 80 % rule
    elapsed_s: Time of the whole command, seconds
    notes: What readers of the figures should know, one sentence per note
    stages: Memory of one device of each pipeline rank, from rank 0
    binding: The largest part of memory, and the largest part of the step besides compute
    smallest_change: The fastest of these layouts that fits; a layout with a further change is preferred only if the
        change saves 5 % of the step. Not set if this layout fits or none of the others does
    same_mesh_change: Where smallest_change has another tp, cp, pp, ep or etp: the same choice among the layouts that
        have this layout's. Not set if none of them fits
    neighbours_tried: Number of layouts that were tried because this layout does not fit. Each differs from it in one
        or two axes or options
    other_imbalance: Effect of an imbalance of 1.2, or of 1 if the request's imbalance is at least 1.2. Not set for
        models without experts
    experts: The share of experts; not set for models without experts
    latent_attention: The share of latent attention in the fullest device's activations; not set for models without it
    offload: The data that the layout offloads to the hosts' memory; not set if it offloads nothing
    """

    layout: str
    axes: EstimateAnswerAxes
    memory: Memory
    time: Time
    mfu: float
    mfu_causal: float
    tokens_per_s: float
    tflops_per_gpu: float
    tflops_per_gpu_causal: float
    tokens_per_s_per_gpu: float
    oom_probability: float
    step_low_s: float
    step_high_s: float
    peak_low_bytes: int
    peak_high_bytes: int
    host_node_bytes: int
    tokens_per_joule: float
    schema_version: int
    request: Request
    parameters: int
    active_parameters: int
    tower_parameters: int
    mtp_parameters: int
    parameters_per_gpu: int
    micro_batches: int
    tokens_per_step: int
    rests_on: RestsOn
    fits: bool
    allowed_bytes: int
    elapsed_s: float
    notes: List[str]
    stages: List[Memory]
    binding: EstimateAnswerBinding
    smallest_change: Optional[EstimateAnswerSmallestChange]
    same_mesh_change: Optional[EstimateAnswerSameMeshChange]
    neighbours_tried: int
    other_imbalance: Optional[EstimateAnswerOtherImbalance]
    experts: Optional[EstimateAnswerExperts]
    latent_attention: Optional[EstimateAnswerLatentAttention]
    offload: Optional[EstimateAnswerOffload]


class EstimateAnswer(_EstimateAnswer, total=False):
    """meshwright estimate --format json.

    options: Values of the run's options that differ from the request's because a search varies them or a change sets
        them, by option name, such as "chunked:8" for "loss"
    step_before_s: Time of the step by the formulas alone, seconds. Absent unless the request has `measured`
    peak_before_bytes: Memory of the fullest device by the formulas alone, bytes. Absent unless the request has
        `measured`
    trainable_parameters: Number of parameters that are trained, including adapters; 0 if all are trained
    measured: The request's `measured` runs beside their estimates
    """

    options: Dict[str, str]
    step_before_s: float
    peak_before_bytes: int
    trainable_parameters: int
    measured: List[EstimateAnswerMeasured]


class ExportAnswerFiles(TypedDict):
    """ExportAnswerFiles.

    name: Name in the folder where the run starts
    text: Text of the file
    """

    name: str
    text: str


class ExportAnswer(TypedDict):
    """meshwright export --format json.

    schema_version: Version of what the keys mean
    to: Framework
    model: Name of the model
    layout: Text form of the layout
    seq_len: Tokens per sequence
    global_batch: Sequences per optimizer step
    gpus_per_node: GPUs of a node, a count
    notes: What the reader should know, one sentence each
    text: What the command prints: the launch script or the framework's file
    file_name: Name under which to save `text`, such as "run.sh"
    launch: What starts the run in `script`
    script: The launch script, which writes the files
    program: The program of a rank, in words
    arguments: Arguments of the program, in words
    files: Files of the export, which the program reads
    """

    schema_version: int
    to: str
    model: str
    layout: str
    seq_len: int
    global_batch: int
    gpus_per_node: int
    notes: List[str]
    text: str
    file_name: str
    launch: str
    script: str
    program: List[str]
    arguments: List[str]
    files: List[ExportAnswerFiles]


class _FastestAnswerRequest(TypedDict):
    """Keys that are always there.

    model: The model to train
    cluster: The cluster to train on
    framework: The training framework. Default: megatron for the service Planner, meshwright for Sweeps
    gpus: Number of devices that a layout uses, at least 1. In printed requests with a range, its lower end
    seq_len: Tokens per sequence, at least 1
    dtype: Number format. Default: fp32 on clusters of CPU cores, and bf16 on all others
    optimizer: The optimizer. Default: AdamW
    imbalance: Tokens that the experts of the fullest rank receive, divided by the tokens of an average rank, at least
        1. Only for models with experts. Default: 1
    gpus_high: Largest number of devices. The numbers in between are doublings of the smallest
    tokens: Number of tokens of a run with the smallest batches
    critical_batch: Critical batch, in sequences: a run with this batch needs twice `tokens` for the same loss
    overlap: Largest fraction of data-parallel communication that compute hides, 0 to 1. Default: 1
    """

    model: str
    cluster: str
    framework: str
    gpus: int
    seq_len: int
    dtype: str
    optimizer: str
    imbalance: float
    gpus_high: int
    tokens: float
    critical_batch: float
    overlap: float


class FastestAnswerRequest(_FastestAnswerRequest, total=False):
    """What was asked.

    global_batch: Sequences per optimizer step over all devices, at least 1
    media_tokens: Number of tokens of a sequence that stand for images, at most seq_len. It may be above 0 only for
        models with a tower (an encoder of images). Default: the tokens of one image if the model's file states them,
        and otherwise 0
    states: Formats of the weights, gradients and optimizer states that are held for each parameter: fp32, bf16,
        adam8bit, precision-aware, bf16-grads, or master=F,grad=F,m=F,v=F with formats F. Default: the framework's
    loss: How the loss is computed: plain, fused (a fused linear cross entropy), or chunked:N (in N parts, one after
        the other). Default: plain
    documents: Mean length, in tokens, of the documents that are packed into a sequence, or none. Default: none
    compile: Whether PyTorch compiles the layers: on or off. Default: the framework's
    cuda_graphs: Part of the step that CUDA graphs capture: none, attention, layer or iteration. Default: the
        framework's
    dispatcher: How tokens are sent to their experts: alltoall, allgather, deepep or hybridep. Default: the framework's
    experts: Whether ZeRO divides the states of experts over the ranks that hold the same experts (sharded), or these
        ranks hold whole copies (replicated). Default: sharded
    train: Which weights are trained: full, lora:RANK[:TARGETS], qlora:RANK[:TARGETS], dora:RANK[:TARGETS], or
        frozen:PARTS, where PARTS are tower, embedding and layers=A..B. Default: full
    measured: Runs that the user did, which correct every estimate. Each is a layout and what it measured:
        "tp2.pp1.dp4.mb1 step=12.3s memory=61GiB" or "tp1.pp1.dp8 oom". A step is in ms, s or min, a peak in GiB or GB.
        global_batch=N, seq_len=N and options of a run follow where the run differs from this request. At most 256
    where: Condition on the layouts, as RecommendRequest.where. Default: all layouts
    search: Options of the run that are searched, as RecommendRequest.search. Default: none
    """

    global_batch: int
    media_tokens: int
    states: str
    loss: str
    documents: str
    compile: str
    cuda_graphs: str
    dispatcher: str
    experts: str
    train: str
    measured: List[str]
    where: str
    search: List[str]


class FastestAnswerStrategiesRuns(TypedDict):
    """FastestAnswerStrategiesRuns.

    gpus: Number of devices
    global_batch: Sequences per optimizer step
    problem: Why there is no layout; empty if there is one
    estimate: The fastest layout that fits; not set if none fits
    seconds: Time of the whole run, seconds; 0 if no layout fits
    network_bytes_per_s: Smallest bandwidth between nodes, per device and one way, with which the run is at most a
        twentieth longer, bytes per second; 0 if the smallest tried bandwidth suffices
    slow_network_factor: The run's time with a quarter of the cluster's bandwidth between nodes, divided by its time, a
        ratio
    """

    gpus: int
    global_batch: int
    problem: str
    estimate: Optional[Layout]
    seconds: float
    network_bytes_per_s: float
    slow_network_factor: float


class FastestAnswerStrategies(TypedDict):
    """FastestAnswerStrategies.

    strategy: The strategy
    runs: Runs, ordered by number of devices
    shortest: Index of the shortest run in `runs`, from 0; not set if nothing fits
    """

    strategy: str
    runs: List[FastestAnswerStrategiesRuns]
    shortest: Optional[int]


class FastestAnswerClaims(TypedDict):
    """FastestAnswerClaims.

    name: Identifier of the claim, such as "half_the_time"
    claim: The claim in words
    verdict: Whether it holds
    sentence: The verdict with its numbers, in words
    """

    name: str
    claim: str
    verdict: str
    sentence: str


class _FastestAnswerMeasured(TypedDict):
    """Keys that are always there.

    layout: Text form of the layout
    out_of_memory: Whether the run went out of memory
    step_before_s: Time of a step by the formulas alone, seconds
    step_s: Time of a step after the correction, seconds
    peak_before_bytes: The same peak by the formulas alone, bytes
    peak_bytes: The same peak after the correction, bytes
    """

    layout: str
    out_of_memory: bool
    step_before_s: float
    step_s: float
    peak_before_bytes: int
    peak_bytes: int


class FastestAnswerMeasured(_FastestAnswerMeasured, total=False):
    """FastestAnswerMeasured.

    measured_step_s: Measured time of a step, seconds
    measured_peak_bytes: Measured peak of the fullest device, bytes
    """

    measured_step_s: float
    measured_peak_bytes: int


class _FastestAnswer(TypedDict):
    """Keys that are always there.

    schema_version: Version of what the keys mean
    request: What was asked
    elapsed_s: Time of the whole command, seconds
    strategies: One entry per strategy
    claims: Published claims about layered gradient accumulation
    device_bytes: Memory of a device, bytes
    network_bytes_per_s: Bandwidth between nodes, per device and one way, bytes per second
    notes: What readers of the figures should know, one sentence per note
    parameters: Number of parameters of the model
    rests_on: Evidence behind the figures
    """

    schema_version: int
    request: FastestAnswerRequest
    elapsed_s: float
    strategies: List[FastestAnswerStrategies]
    claims: List[FastestAnswerClaims]
    device_bytes: int
    network_bytes_per_s: float
    notes: List[str]
    parameters: int
    rests_on: RestsOn


class FastestAnswer(_FastestAnswer, total=False):
    """meshwright fastest --format json.

    measured: The request's `measured` runs beside their estimates
    """

    measured: List[FastestAnswerMeasured]


class _FitAnswerRequest(TypedDict):
    """Keys that are always there.

    model: The model to train
    cluster: The cluster to train on
    framework: The training framework. Default: megatron for the service Planner, meshwright for Sweeps
    gpus: Number of devices that a layout uses, at least 1. In printed requests with a range, its lower end
    seq_len: Tokens per sequence, at least 1
    dtype: Number format. Default: fp32 on clusters of CPU cores, and bf16 on all others
    optimizer: The optimizer. Default: AdamW
    imbalance: Tokens that the experts of the fullest rank receive, divided by the tokens of an average rank, at least
        1. Only for models with experts. Default: 1
    """

    model: str
    cluster: str
    framework: str
    gpus: int
    seq_len: int
    dtype: str
    optimizer: str
    imbalance: float


class FitAnswerRequest(_FitAnswerRequest, total=False):
    """What was asked.

    global_batch: Sequences per optimizer step over all devices, at least 1
    media_tokens: Number of tokens of a sequence that stand for images, at most seq_len. It may be above 0 only for
        models with a tower (an encoder of images). Default: the tokens of one image if the model's file states them,
        and otherwise 0
    states: Formats of the weights, gradients and optimizer states that are held for each parameter: fp32, bf16,
        adam8bit, precision-aware, bf16-grads, or master=F,grad=F,m=F,v=F with formats F. Default: the framework's
    loss: How the loss is computed: plain, fused (a fused linear cross entropy), or chunked:N (in N parts, one after
        the other). Default: plain
    documents: Mean length, in tokens, of the documents that are packed into a sequence, or none. Default: none
    compile: Whether PyTorch compiles the layers: on or off. Default: the framework's
    cuda_graphs: Part of the step that CUDA graphs capture: none, attention, layer or iteration. Default: the
        framework's
    dispatcher: How tokens are sent to their experts: alltoall, allgather, deepep or hybridep. Default: the framework's
    experts: Whether ZeRO divides the states of experts over the ranks that hold the same experts (sharded), or these
        ranks hold whole copies (replicated). Default: sharded
    train: Which weights are trained: full, lora:RANK[:TARGETS], qlora:RANK[:TARGETS], dora:RANK[:TARGETS], or
        frozen:PARTS, where PARTS are tower, embedding and layers=A..B. Default: full
    measured: Runs that the user did, which correct every estimate. Each is a layout and what it measured:
        "tp2.pp1.dp4.mb1 step=12.3s memory=61GiB" or "tp1.pp1.dp8 oom". A step is in ms, s or min, a peak in GiB or GB.
        global_batch=N, seq_len=N and options of a run follow where the run differs from this request. At most 256
    layout: Text form of the layout to which the limits apply. It can't be combined with `offload` and `where`.
        Default: any layout of a search
    max_oom_probability: Largest probability of running out of memory, above 0 and at most 1. Default: the 80 % rule
        decides instead
    offload: What layouts may offload to the hosts' memory, as RecommendRequest.offload. Default: nothing is offloaded
    where: Condition on the layouts, as RecommendRequest.where. Default: all layouts
    """

    global_batch: int
    media_tokens: int
    states: str
    loss: str
    documents: str
    compile: str
    cuda_graphs: str
    dispatcher: str
    experts: str
    train: str
    measured: List[str]
    layout: str
    max_oom_probability: float
    offload: str
    where: str


class FitAnswerLimits(TypedDict):
    """FitAnswerLimits.

    kind: The quantity
    asked: The question's own value, a count; not set if a search chooses it
    largest: The largest value that fits, a count; not set if no tried value fits
    estimate: The best layout at `largest`
    parameters: Number of parameters of the model at `largest`
    next: The smallest tried value that does not fit, a count; not set if no larger value was tried
    over_bytes: Bytes by which the nearest layout at `next` exceeds the allowed memory; not set if no layout can run
        there
    problem: Why no layout can run at `next`, or why no larger value was tried; empty if a layout can run
    """

    kind: str
    asked: Optional[int]
    largest: Optional[int]
    estimate: Optional[Layout]
    parameters: int
    next: Optional[int]
    over_bytes: Optional[int]
    problem: str


class _FitAnswerMeasured(TypedDict):
    """Keys that are always there.

    layout: Text form of the layout
    out_of_memory: Whether the run went out of memory
    step_before_s: Time of a step by the formulas alone, seconds
    step_s: Time of a step after the correction, seconds
    peak_before_bytes: The same peak by the formulas alone, bytes
    peak_bytes: The same peak after the correction, bytes
    """

    layout: str
    out_of_memory: bool
    step_before_s: float
    step_s: float
    peak_before_bytes: int
    peak_bytes: int


class FitAnswerMeasured(_FitAnswerMeasured, total=False):
    """FitAnswerMeasured.

    measured_step_s: Measured time of a step, seconds
    measured_peak_bytes: Measured peak of the fullest device, bytes
    """

    measured_step_s: float
    measured_peak_bytes: int


class _FitAnswer(TypedDict):
    """Keys that are always there.

    schema_version: Version of what the keys mean
    request: What was asked
    elapsed_s: Time of the whole command, seconds
    limits: One limit of each kind
    allowed_bytes: Bytes that a device may hold
    sentences: The limits in words
    notes: What readers of the figures should know, one sentence per note
    parameters: Number of parameters of the question's own model
    rests_on: Evidence behind the figures
    """

    schema_version: int
    request: FitAnswerRequest
    elapsed_s: float
    limits: List[FitAnswerLimits]
    allowed_bytes: int
    sentences: List[str]
    notes: List[str]
    parameters: int
    rests_on: RestsOn


class FitAnswer(_FitAnswer, total=False):
    """meshwright fit --format json.

    measured: The request's `measured` runs beside their estimates
    """

    measured: List[FitAnswerMeasured]


class HistoryAnswerTrialsImported(TypedDict):
    """Where a run from elsewhere comes from; null of a trial.

    origin: Who measured the run
    sweep: The sweep that the file names, which is not a sweep of this server
    framework: Training framework of the run
    notes: Further remarks
    import_time: When the run was imported
    actor: Who imported the run, in the form of SweepEvent.actor
    """

    origin: str
    sweep: str
    framework: str
    notes: str
    import_time: str
    actor: Optional[str]


class HistoryAnswerTrials(TypedDict):
    """HistoryAnswerTrials.

    trial: Sweep and number; null of a run from elsewhere
    imported: Where a run from elsewhere comes from; null of a trial
    layout: Text form of the layout
    model: Name of the model
    cluster: Name of the cluster
    gpus: Devices that it takes, a count
    seq_len: Tokens per sequence
    global_batch: Sequences per optimizer step
    outcome: State that it ended in
    mfu: PaLM definition, a fraction of the cluster's peak; for a run from elsewhere without a step time, the value
        that its file states; null where neither is known
    step_s: Median step time, seconds
    peak_bytes: Most that the tensors of a rank held, bytes
    """

    trial: Optional[str]
    imported: Optional[HistoryAnswerTrialsImported]
    layout: str
    model: str
    cluster: str
    gpus: int
    seq_len: int
    global_batch: int
    outcome: str
    mfu: Optional[float]
    step_s: Optional[float]
    peak_bytes: Optional[int]


class HistoryAnswer(TypedDict):
    """meshwright history --format json.

    schema_version: Version of what the keys mean
    trials: Trials with a result and runs from elsewhere, in the order that was asked for
    more: Whether --limit leaves out others that match
    """

    schema_version: int
    trials: List[HistoryAnswerTrials]
    more: bool


class HistoryImportAnswerFilesRefused(TypedDict):
    """HistoryImportAnswerFilesRefused.

    line: Line of the file where the row begins, from 1
    subject: The wrong column, or the rule that the layout breaks
    reason: The column's value, and what would be accepted
    """

    line: int
    subject: str
    reason: str


class HistoryImportAnswerFiles(TypedDict):
    """HistoryImportAnswerFiles.

    file: Its path
    rows: Number of rows of the file
    imported: Number of rows that were added
    known: Number of rows that were imported before or occur twice in the file; 0 if validate_only is set
    refused: Rows that are not acceptable
    """

    file: str
    rows: int
    imported: int
    known: int
    refused: List[HistoryImportAnswerFilesRefused]


class HistoryImportAnswer(TypedDict):
    """meshwright history import --format json.

    schema_version: Version of what the keys mean
    files: In the order given
    """

    schema_version: int
    files: List[HistoryImportAnswerFiles]


class ImportAnswerRequest(TypedDict, total=False):
    """What an estimate is asked.

    model: Preset, or the name that files have
    gpus: Devices of all nodes, a count
    seq_len: Tokens per sequence
    global_batch: Sequences per optimizer step
    dtype: Number format of the products
    """

    model: str
    gpus: int
    seq_len: int
    global_batch: int
    dtype: str


class _ImportAnswerEntries(TypedDict):
    """Keys that are always there.

    file: File that has the entry, or --set
    name: The framework's name, such as a flag or a key
    value: The framework's value; empty for a name that stands alone
    status: "used"; "ignored": changes neither memory nor time, or is what an estimate takes as given; "rejected":
        changes memory or time, and no estimate follows it
    """

    file: str
    name: str
    value: str
    status: str


class ImportAnswerEntries(_ImportAnswerEntries, total=False):
    """ImportAnswerEntries.

    key: Key of the layout, option or field that the entry is about; empty if there is none
    hint: Why it is ignored or rejected, and what helps; empty if it is used
    """

    key: str
    hint: str


ImportAnswer = TypedDict("ImportAnswer", {"schema_version": int, "from": str, "layout": Optional[str], "request":
    ImportAnswerRequest, "options": Dict[str, str], "entries": List[ImportAnswerEntries], "missing": List[str],
    "complete": bool})


class _ListAnswerModelPresets(TypedDict):
    """Keys that are always there.

    name: The preset's name
    other_names: Other names of the preset
    kind: "dense", "experts" or "hybrid"
    parameters: Number of parameters; tied embeddings count once
    active_parameters: Number of parameters that a token uses; less than `parameters` if there are experts
    tower_parameters: Number of parameters in `parameters` that belong to towers (encoders of images); 0 without a
        tower
    mtp_parameters: Number of parameters, in addition to `parameters`, of the layers that predict further tokens
    """

    name: str
    other_names: List[str]
    kind: str
    parameters: int
    active_parameters: int
    tower_parameters: int
    mtp_parameters: int


class ListAnswerModelPresets(_ListAnswerModelPresets, total=False):
    """ListAnswerModelPresets.

    trainable_parameters: Number of parameters that are trained; 0 if all are trained
    context_tokens: Longest sequence that the model's file states, in tokens; absent if it states none
    """

    trainable_parameters: int
    context_tokens: int


class _ListAnswerClusterPresets(TypedDict):
    """Keys that are always there.

    name: The preset's name
    other_names: Other names of the preset
    device: Name of the cluster's device
    devices_per_node: Number of devices that the link inside a node connects
    memory_bytes: Memory of a device as the driver reports it, bytes
    memory_bytes_per_s: Bandwidth of a device's memory by the data sheet, bytes per second
    peak_bf16_flops: Peak of a device's dense bf16 matrix products, FLOP/s; 0 if it has none
    peak_half_flops: Peak of a device's dense matrix products in bf16 or, if it has none in bf16, in fp16, FLOP/s
    scale_up_bytes_per_s: Bandwidth of the link inside a node by the data sheet, one way, bytes per second
    scale_out_bytes_per_s: Bandwidth of the link between nodes by the data sheet, one way, bytes per second
    evidence: Evidence behind the figures; `evidence.name` is the preset that was fitted
    based_on: The preset on which its file is based; empty if the file is independent
    """

    name: str
    other_names: List[str]
    device: str
    devices_per_node: int
    memory_bytes: int
    memory_bytes_per_s: float
    peak_bf16_flops: float
    peak_half_flops: float
    scale_up_bytes_per_s: float
    scale_out_bytes_per_s: float
    evidence: Evidence
    based_on: str


class ListAnswerClusterPresets(_ListAnswerClusterPresets, total=False):
    """ListAnswerClusterPresets.

    median_error: Median of |predicted / measured - 1| over the steps of the fit, a fraction; absent without a fit
    """

    median_error: float


class _ListAnswerProfilePresets(TypedDict):
    """Keys that are always there.

    name: The profile's name
    other_names: Other names of the profile
    framework: The program that it describes, in a few words
    axes: Keys of a layout by which the program can divide a run: "tp", "sp", "cp", "pp", "vpp", "ep", "hs"
    min_zero: The smallest ZeRO stage if there are ranks to shard over
    max_zero: The largest ZeRO stage
    schedules: Pipeline schedules; empty if it has no pipeline
    evidence: Evidence behind the figures; `evidence.name` is the profile that was fitted
    based_on: The profile on which its file is based; empty if the file is independent
    """

    name: str
    other_names: List[str]
    framework: str
    axes: List[str]
    min_zero: int
    max_zero: int
    schedules: List[str]
    evidence: Evidence
    based_on: str


class ListAnswerProfilePresets(_ListAnswerProfilePresets, total=False):
    """ListAnswerProfilePresets.

    median_error: Median of |predicted / measured - 1| over the steps of the fit, a fraction; absent without a fit
    """

    median_error: float


class _ListAnswer(TypedDict):
    """Keys that are always there.

    schema_version: Version of what the keys mean
    """

    schema_version: int


class ListAnswer(_ListAnswer, total=False):
    """meshwright list models|clusters|profiles --format json.

    models: Names of models
    model_presets: What the models are, in the same order
    clusters: Names of clusters
    cluster_presets: What the clusters are, in the same order
    profiles: Names of framework profiles
    profile_presets: What the profiles are, in the same order
    """

    models: List[str]
    model_presets: List[ListAnswerModelPresets]
    clusters: List[str]
    cluster_presets: List[ListAnswerClusterPresets]
    profiles: List[str]
    profile_presets: List[ListAnswerProfilePresets]


class ListAgentsAnswerAgentsRunners(TypedDict):
    """ListAgentsAnswerAgentsRunners.

    name: Name of the runner
    hash: SHA-256 of the runner's file, 64 hexadecimal digits. Trials of different files don't compare
    framework: Framework profile by which the runner's layouts are planned
    export_to: Framework to whose configuration layouts are exported; empty if the runner has its own way
    where: Condition on the keys of layouts that the runner runs, such as "tp = 1"; empty: all layouts of the framework
    fields: For each field of the runner, what a trial may give as its value, in words
    runs_on_several_nodes: Whether several agents may run one trial by it together. Each then starts one command for
        its ranks
    """

    name: str
    hash: str
    framework: str
    export_to: str
    where: str
    fields: Dict[str, str]
    runs_on_several_nodes: bool


class ListAgentsAnswerAgents(TypedDict):
    """ListAgentsAnswerAgents.

    name: Name of the agent
    host: Name of the host on which the agent runs
    device_kind: Kind of all these devices
    devices: Number of devices, or on a CPU, the number of ranks that may run at once
    slots: Equal parts of its devices that run trials side by side
    memory_bytes: Memory limit of one device, bytes; 0 if there is no limit
    version: Version of the agent
    address: Address at which other agents reach the agent's host, as in Register.address; empty if it has none
    state: Whether the agent is connected or lost
    connect_time: When the agent connected
    last_heard_time: When the server last heard from the agent
    running: Attempt that the agent runs now, the oldest if there are several; absent if it runs none
    running_beside: Attempts that the agent runs in addition to `running`
    runners: Runners that the agent was started with
    drained: Whether the agent gets no new trials because an operator drained it
    set_aside_reason: One sentence that says why the agent was set aside (quarantined) after too many consecutive
        failures and gets no new trials. Empty if it was not set aside
    failures_in_a_row: Number of consecutive failures. An agent fails if it vanishes, or if it reports an
        infrastructure or network fault
    cluster: Text of a cluster file with the performance that the agent measured on its devices
        (Register.cluster_json), valid as ClusterSource.cluster_json. Empty if the agent did not measure
    """

    name: str
    host: str
    device_kind: str
    devices: int
    slots: int
    memory_bytes: Optional[int]
    version: str
    address: str
    state: str
    connect_time: str
    last_heard_time: str
    running: Optional[str]
    running_beside: List[str]
    runners: List[ListAgentsAnswerAgentsRunners]
    drained: bool
    set_aside_reason: Optional[str]
    failures_in_a_row: int
    cluster: Optional[Cluster]


class ListAgentsAnswer(TypedDict):
    """meshwright list agents --format json.

    schema_version: Version of what the keys mean
    agents: Agents that are connected, and then those that were lost
    """

    schema_version: int
    agents: List[ListAgentsAnswerAgents]


class _RecommendAnswerRequest(TypedDict):
    """Keys that are always there.

    model: The model to train
    cluster: The cluster to train on
    framework: The training framework. Default: megatron for the service Planner, meshwright for Sweeps
    gpus: Number of devices that a layout uses, at least 1. In printed requests with a range, its lower end
    seq_len: Tokens per sequence, at least 1
    dtype: Number format. Default: fp32 on clusters of CPU cores, and bf16 on all others
    optimizer: The optimizer. Default: AdamW
    imbalance: Tokens that the experts of the fullest rank receive, divided by the tokens of an average rank, at least
        1. Only for models with experts. Default: 1
    """

    model: str
    cluster: str
    framework: str
    gpus: int
    seq_len: int
    dtype: str
    optimizer: str
    imbalance: float


class RecommendAnswerRequest(_RecommendAnswerRequest, total=False):
    """What was asked.

    global_batch: Sequences per optimizer step over all devices, at least 1
    media_tokens: Number of tokens of a sequence that stand for images, at most seq_len. It may be above 0 only for
        models with a tower (an encoder of images). Default: the tokens of one image if the model's file states them,
        and otherwise 0
    states: Formats of the weights, gradients and optimizer states that are held for each parameter: fp32, bf16,
        adam8bit, precision-aware, bf16-grads, or master=F,grad=F,m=F,v=F with formats F. Default: the framework's
    loss: How the loss is computed: plain, fused (a fused linear cross entropy), or chunked:N (in N parts, one after
        the other). Default: plain
    documents: Mean length, in tokens, of the documents that are packed into a sequence, or none. Default: none
    compile: Whether PyTorch compiles the layers: on or off. Default: the framework's
    cuda_graphs: Part of the step that CUDA graphs capture: none, attention, layer or iteration. Default: the
        framework's
    dispatcher: How tokens are sent to their experts: alltoall, allgather, deepep or hybridep. Default: the framework's
    experts: Whether ZeRO divides the states of experts over the ranks that hold the same experts (sharded), or these
        ranks hold whole copies (replicated). Default: sharded
    train: Which weights are trained: full, lora:RANK[:TARGETS], qlora:RANK[:TARGETS], dora:RANK[:TARGETS], or
        frozen:PARTS, where PARTS are tower, embedding and layers=A..B. Default: full
    measured: Runs that the user did, which correct every estimate. Each is a layout and what it measured:
        "tp2.pp1.dp4.mb1 step=12.3s memory=61GiB" or "tp1.pp1.dp8 oom". A step is in ms, s or min, a peak in GiB or GB.
        global_batch=N, seq_len=N and options of a run follow where the run differs from this request. At most 256
    max_oom_probability: Largest probability of running out of memory that a layout may have, above 0 and at most 1.
        Default: the 80 % rule decides instead
    offload: What layouts may offload to the hosts' memory, as values of the layout key `offload`, separated by commas:
        "act:8,act:8+opt". Default: nothing is offloaded
    where: Condition on the layouts that are searched, such as "tp <= 8 and sched in (1f1b, interleaved)". If it can't
        be parsed, INVALID_ARGUMENT says what would be accepted. Default: all layouts
    time_limit_s: Time limit of the search, above 0, in seconds. When it is over, the answer is the best layout found
        so far. Default: no limit
    objective: Figure by which layouts are ranked: mfu, tokens_per_s, cost, time_to_loss, energy or memory. Default:
        mfu
    pareto: Two or three of mfu, energy and memory, separated by commas. `front` then has the layouts that no other
        layout beats in all of these (the Pareto front). A layout that recomputes a part of its layers (rc=block:N) is
        searched only if it would not fit without recomputation, and only with the smallest N that fits. Default: none
    best_per: Up to four layout keys or options that are searched, separated by commas, such as "tp,pp" or "loss".
        `groups` then has the best layout for each combination of their values. Default: none
    search: Options of the run that are searched in addition to layouts, one per entry, such as "loss=plain,chunked:8".
        An entry without values, such as "states", takes the values that the framework supports. A value that is itself
        a list has + in place of its commas: "states=bf16,master=none+grad=bf16". At most 64 combinations. Default:
        none
    """

    global_batch: int
    media_tokens: int
    states: str
    loss: str
    documents: str
    compile: str
    cuda_graphs: str
    dispatcher: str
    experts: str
    train: str
    measured: List[str]
    max_oom_probability: float
    offload: str
    where: str
    time_limit_s: float
    objective: str
    pareto: str
    best_per: str
    search: List[str]


class _RecommendAnswerMeasured(TypedDict):
    """Keys that are always there.

    layout: Text form of the layout
    out_of_memory: Whether the run went out of memory
    step_before_s: Time of a step by the formulas alone, seconds
    step_s: Time of a step after the correction, seconds
    peak_before_bytes: The same peak by the formulas alone, bytes
    peak_bytes: The same peak after the correction, bytes
    """

    layout: str
    out_of_memory: bool
    step_before_s: float
    step_s: float
    peak_before_bytes: int
    peak_bytes: int


class RecommendAnswerMeasured(_RecommendAnswerMeasured, total=False):
    """RecommendAnswerMeasured.

    measured_step_s: Measured time of a step, seconds
    measured_peak_bytes: Measured peak of the fullest device, bytes
    """

    measured_step_s: float
    measured_peak_bytes: int


class RecommendAnswerTies(TypedDict):
    """Layouts that the estimate can't distinguish from the fastest one.

    count: Number of these layouts, including the fastest one; 0 if no layout fits
    within: A layout ties with the fastest one if its step is longer by at most this fraction of the fastest step
    simplest: Layouts that tie, the simplest first. Each of the others is faster than those before it. At most 3
    """

    count: int
    within: float
    simplest: List[Layout]


class RecommendAnswerNearestAxes(TypedDict):
    """The axes of the layout, one by one.

    tp: ranks that share every layer's matrices
    cp: ranks that share a sequence
    pp: ranks that share the layers, as a pipeline
    dp: ranks that share the batch
    ep: ranks of a stage that hold different experts
    etp: ranks that share each expert's matrices
    mb: sequences in a micro-batch
    vpp: number of chunks that a pipeline rank's layers are split into (without pp, one rank has all layers); the
        schedule loops over them
    zero: data-parallel ranks shard: 1 optimizer, 2 gradients too, 3 weights too
    sp: 1: sequence parallelism, which splits the activations around norms over the tp ranks
    rc: what the backward recomputes: none, selective, full, block:N (N layers of each rank, or of each of its vpp
        chunks), or names of modules, joined by +
    sched: the order in which stages and chunks run the micro-batches
    attn: the attention kernel; default: the framework's
    norm: the norm kernel; default: the framework's
    hs: HSDP: each group of hs ranks shards a copy; 0: one group of all dp * cp
    stages: layers of each stage or vpp chunk in order (4+4x6+4: one of 4 layers, four of 6, one of 4); absent: the
        framework's own split
    offload: what is moved to the hosts' memory: act:N, opt, act:N+opt; none: nothing
    """

    tp: int
    cp: int
    pp: int
    dp: int
    ep: int
    etp: int
    mb: int
    vpp: int
    zero: int
    sp: int
    rc: str
    sched: str
    attn: str
    norm: str
    hs: int
    stages: str
    offload: str


class _RecommendAnswerNearest(TypedDict):
    """Keys that are always there.

    layout: Text form of the layout, such as "tp4.cp1.pp2.dp8.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b"
    axes: The axes of the layout, one by one
    memory: Memory of the fullest device
    time: Time of one optimizer step
    mfu: Model FLOPs utilisation (MFU) by the PaLM definition, a fraction
    mfu_causal: MFU by the Megatron-LM definition, which counts half of the attention, a fraction
    tokens_per_s: Tokens per second over all devices
    tflops_per_gpu: Model FLOP/s per device by the PaLM definition, TFLOP/s; 0 in sweeps of older versions
    tflops_per_gpu_causal: Model FLOP/s per device by the Megatron-LM definition, TFLOP/s; 0 in sweeps of older
        versions
    tokens_per_s_per_gpu: Tokens per second per device; 0 in sweeps of older versions
    oom_probability: Calibrated probability of running out of memory, a fraction
    step_low_s: Lower end of the 80 % interval of the step time, seconds. The true step time lies between step_low_s
        and step_high_s in 80 % of runs like this one
    step_high_s: Upper end of the 80 % interval of the step time, seconds
    peak_low_bytes: Lower end of the 80 % interval of the fullest device's memory, bytes. 0 in sweeps of older versions
    peak_high_bytes: Upper end of the 80 % interval of the fullest device's memory, bytes. 0 in sweeps of older
        versions
    host_node_bytes: Data that one node's devices offload to the host's memory, on the node with the most, bytes
    tokens_per_joule: Tokens that are trained per joule; 0 if the cluster file does not state the devices' power
    over_bytes: Bytes by which it exceeds the memory criterion
    """

    layout: str
    axes: RecommendAnswerNearestAxes
    memory: Memory
    time: Time
    mfu: float
    mfu_causal: float
    tokens_per_s: float
    tflops_per_gpu: float
    tflops_per_gpu_causal: float
    tokens_per_s_per_gpu: float
    oom_probability: float
    step_low_s: float
    step_high_s: float
    peak_low_bytes: int
    peak_high_bytes: int
    host_node_bytes: int
    tokens_per_joule: float
    over_bytes: int


class RecommendAnswerNearest(_RecommendAnswerNearest, total=False):
    """If no layout fits, the layout that exceeds the allowed memory by the least.

    options: Values of the run's options that differ from the request's because a search varies them or a change sets
        them, by option name, such as "chunked:8" for "loss"
    step_before_s: Time of the step by the formulas alone, seconds. Absent unless the request has `measured`
    peak_before_bytes: Memory of the fullest device by the formulas alone, bytes. Absent unless the request has
        `measured`
    """

    options: Dict[str, str]
    step_before_s: float
    peak_before_bytes: int


class RecommendAnswerPartial(TypedDict):
    """If the time limit ended the search, how far the search came. The answer then covers only the points that were
    seen.

    seen: Number of points of the search space that were seen
    of: Number of all points
    """

    seen: int
    of: int


class RecommendAnswerGroups(TypedDict):
    """RecommendAnswerGroups.

    group: The values as a condition, such as "tp = 8 and pp = 4"
    fit: Number of the group's layouts that fit
    estimate: The best layout of the group
    """

    group: str
    fit: int
    estimate: Layout


class _RecommendAnswer(TypedDict):
    """Keys that are always there.

    schema_version: Version of what the keys mean
    request: What was asked
    parameters: Number of parameters of the model
    active_parameters: Number of parameters in `parameters`, without the experts that a token skips
    tower_parameters: Number of parameters in `parameters` that belong to towers (encoders of images); 0 without a
        tower
    mtp_parameters: Number of parameters, in addition to `parameters`, of the layers that predict further tokens
    rests_on: Evidence behind the figures
    funnel: Numbers of points that each pass of the search dropped
    elapsed_s: Time of the whole command, seconds
    allowed_bytes: Bytes that a device may hold, under the 80 % rule or at max_oom_probability
    notes: What readers of the figures should know, one sentence per note
    layouts: Layouts, ordered by the objective, the best first
    ties: Layouts that the estimate can't distinguish from the fastest one
    worth_a_trial: Layouts that were dropped because of their memory although they are faster than all of `layouts` and
        run out of memory with a probability below 0.4. Highest MFU first, at most 5
    """

    schema_version: int
    request: RecommendAnswerRequest
    parameters: int
    active_parameters: int
    tower_parameters: int
    mtp_parameters: int
    rests_on: RestsOn
    funnel: Funnel
    elapsed_s: float
    allowed_bytes: int
    notes: List[str]
    layouts: List[Layout]
    ties: RecommendAnswerTies
    worth_a_trial: List[Layout]


class RecommendAnswer(_RecommendAnswer, total=False):
    """meshwright recommend --format json.

    trainable_parameters: Number of parameters that are trained, including adapters; 0 if all are trained
    measured: The request's `measured` runs beside their estimates
    nearest: If no layout fits, the layout that exceeds the allowed memory by the least
    partial: If the time limit ended the search, how far the search came. The answer then covers only the points that
        were seen
    front: Layouts that no other layout beats in all figures of the request's `pareto`, ordered by the first of these
        figures, the best first. At most 1000, evenly spaced if there are more
    groups: Best layout for each combination of values of the request's `best_per` keys, the best first, at most 1000
    mine: Rank of the layout in the request's `mine`; not set if the request names none
    """

    trainable_parameters: int
    measured: List[RecommendAnswerMeasured]
    nearest: RecommendAnswerNearest
    partial: RecommendAnswerPartial
    front: List[Layout]
    groups: List[RecommendAnswerGroups]
    mine: Standing


class ReplayAnswerSweepsPredictedOrder(TypedDict):
    """Trials in the order of the predictions: layouts more likely to fit than not, the fastest first, then the others.

    trials_to_within_1_point: Trials until the best of them is within 1 point of MFU of the sweep's best; null where it
        never gets there
    oom_trials: Those of these trials that ran out of memory
    """

    trials_to_within_1_point: Optional[float]
    oom_trials: Optional[float]


class ReplayAnswerSweepsRandomOrder(TypedDict):
    """Medians over 200 orders at random.

    trials_to_within_1_point: Trials until the best of them is within 1 point of MFU of the sweep's best; null where it
        never gets there
    oom_trials: Those of these trials that ran out of memory
    """

    trials_to_within_1_point: Optional[float]
    oom_trials: Optional[float]


class ReplayAnswerSweepsTpeOrder(TypedDict):
    """Medians over 5 seeds of Optuna's TPE sampler, where python3 has Optuna; null without --tpe.

    trials_to_within_1_point: Trials until the best of them is within 1 point of MFU of the sweep's best; null where it
        never gets there
    oom_trials: Those of these trials that ran out of memory
    """

    trials_to_within_1_point: Optional[float]
    oom_trials: Optional[float]


class _ReplayAnswerSweeps(TypedDict):
    """Keys that are always there.

    sweep: Name of the sweep
    global_batch: Global batch of its rows
    rows: Rows
    candidates: Rows that the planner can model and whose outcome is known
    ok: Candidates that went through
    best_mfu: Best measured MFU, a fraction; null where nothing went through with a time
    trials: Trials until the policy stopped
    oom_trials: Trials that ran out of memory
    error_trials: Trials that failed for another reason
    found_mfu: Best MFU of the trials, a fraction
    found_regret_points: Best measured MFU less that of the best trial, percentage points
    trials_to_within_1_point: Trials until the best of them is within 1 point of MFU of the sweep's best; null where
        the policy stopped before
    trial_rows: Rows in the order of the trials, counted from 0 over all files
    trial_reasons: Why each trial was next
    stop: Why it stopped: no expected gain is worth a trial, the limit of trials is reached, every layout left is more
        likely to run out of memory than not, or no layout is left
    stop_reason: The reason of `stop` as a sentence with numbers
    predicted_order: Trials in the order of the predictions: layouts more likely to fit than not, the fastest first,
        then the others
    random_order: Medians over 200 orders at random
    tpe_order: Medians over 5 seeds of Optuna's TPE sampler, where python3 has Optuna; null without --tpe
    """

    sweep: str
    global_batch: Optional[int]
    rows: int
    candidates: int
    ok: int
    best_mfu: Optional[float]
    trials: int
    oom_trials: int
    error_trials: int
    found_mfu: Optional[float]
    found_regret_points: Optional[float]
    trials_to_within_1_point: Optional[int]
    trial_rows: List[int]
    trial_reasons: List[str]
    stop: str
    stop_reason: str
    predicted_order: ReplayAnswerSweepsPredictedOrder
    random_order: ReplayAnswerSweepsRandomOrder
    tpe_order: ReplayAnswerSweepsTpeOrder


class ReplayAnswerSweeps(_ReplayAnswerSweeps, total=False):
    """ReplayAnswerSweeps.

    related_sweeps: Sweeps whose results it began with, the nearest first; only with --relatives
    related_results: Number of results of these sweeps; only with --relatives
    """

    related_sweeps: List[str]
    related_results: int


class ReplayAnswerTotal(TypedDict):
    """Totals over the sweeps.

    sweeps: Sweeps of at least 20 rows, some of which went through; the other figures cover only these sweeps
    found: Sweeps that ended within 1 point and 3 % of the best
    worst_regret_points: Largest found_regret_points
    mean_trials: Mean of trials
    most_trials: Largest number of trials
    most_oom_trials: Largest number of trials out of memory
    """

    sweeps: int
    found: int
    worst_regret_points: Optional[float]
    mean_trials: Optional[float]
    most_trials: int
    most_oom_trials: int


class _ReplayAnswer(TypedDict):
    """Keys that are always there.

    schema_version: Version of what the keys mean
    sweeps: Rows of one sweep and one global batch each, in the order of their first rows
    total: Totals over the sweeps
    """

    schema_version: int
    sweeps: List[ReplayAnswerSweeps]
    total: ReplayAnswerTotal


class ReplayAnswer(_ReplayAnswer, total=False):
    """meshwright replay --format json.

    relatives: Whether each sweep began with the results of the other sweeps; only with --relatives
    """

    relatives: bool


class _ScaleAnswerRequest(TypedDict):
    """Keys that are always there.

    model: The model to train
    cluster: The cluster to train on
    framework: The training framework. Default: megatron for the service Planner, meshwright for Sweeps
    gpus: Number of devices that a layout uses, at least 1. In printed requests with a range, its lower end
    seq_len: Tokens per sequence, at least 1
    dtype: Number format. Default: fp32 on clusters of CPU cores, and bf16 on all others
    optimizer: The optimizer. Default: AdamW
    imbalance: Tokens that the experts of the fullest rank receive, divided by the tokens of an average rank, at least
        1. Only for models with experts. Default: 1
    gpus_high: Largest number of devices. The numbers in between are doublings of the smallest
    weak: Whether the batch grows with the number of devices (weak scaling). The plan's batch then belongs to the
        smallest number
    """

    model: str
    cluster: str
    framework: str
    gpus: int
    seq_len: int
    dtype: str
    optimizer: str
    imbalance: float
    gpus_high: int
    weak: bool


class ScaleAnswerRequest(_ScaleAnswerRequest, total=False):
    """What was asked.

    global_batch: Sequences per optimizer step over all devices, at least 1
    media_tokens: Number of tokens of a sequence that stand for images, at most seq_len. It may be above 0 only for
        models with a tower (an encoder of images). Default: the tokens of one image if the model's file states them,
        and otherwise 0
    states: Formats of the weights, gradients and optimizer states that are held for each parameter: fp32, bf16,
        adam8bit, precision-aware, bf16-grads, or master=F,grad=F,m=F,v=F with formats F. Default: the framework's
    loss: How the loss is computed: plain, fused (a fused linear cross entropy), or chunked:N (in N parts, one after
        the other). Default: plain
    documents: Mean length, in tokens, of the documents that are packed into a sequence, or none. Default: none
    compile: Whether PyTorch compiles the layers: on or off. Default: the framework's
    cuda_graphs: Part of the step that CUDA graphs capture: none, attention, layer or iteration. Default: the
        framework's
    dispatcher: How tokens are sent to their experts: alltoall, allgather, deepep or hybridep. Default: the framework's
    experts: Whether ZeRO divides the states of experts over the ranks that hold the same experts (sharded), or these
        ranks hold whole copies (replicated). Default: sharded
    train: Which weights are trained: full, lora:RANK[:TARGETS], qlora:RANK[:TARGETS], dora:RANK[:TARGETS], or
        frozen:PARTS, where PARTS are tower, embedding and layers=A..B. Default: full
    measured: Runs that the user did, which correct every estimate. Each is a layout and what it measured:
        "tp2.pp1.dp4.mb1 step=12.3s memory=61GiB" or "tp1.pp1.dp8 oom". A step is in ms, s or min, a peak in GiB or GB.
        global_batch=N, seq_len=N and options of a run follow where the run differs from this request. At most 256
    where: Condition on the layouts, as RecommendRequest.where. Default: all layouts
    objective: Figure by which layouts and numbers of devices are ranked, as RecommendRequest.objective. If it is set,
        the answer names the best number by this figure. Default: none; layouts are ranked by MFU
    search: Options of the run that are searched, as RecommendRequest.search. Default: none
    tokens: Number of tokens of the whole run. Default: no budget
    within_s: Time in which the run has to end, seconds; needs `tokens`
    price_per_h: Price of a device-hour, in any currency; needs `tokens`
    """

    global_batch: int
    media_tokens: int
    states: str
    loss: str
    documents: str
    compile: str
    cuda_graphs: str
    dispatcher: str
    experts: str
    train: str
    measured: List[str]
    where: str
    objective: str
    search: List[str]
    tokens: float
    within_s: float
    price_per_h: float


class ScaleAnswerPointsEnergy(TypedDict):
    """Power and energy of the run.

    device_w: Mean power of a device over a step, watts
    all_w: Power of all devices of the nodes that the run occupies, watts
    tokens_per_joule: Tokens that are trained per joule
    """

    device_w: float
    all_w: float
    tokens_per_joule: float


class ScaleAnswerPoints(TypedDict):
    """ScaleAnswerPoints.

    gpus: Number of devices
    global_batch: Sequences per optimizer step
    problem: Why there is no layout; empty if there is one
    estimate: The fastest layout that fits; not set if none fits
    exposed: Exposed communication, bubble and waiting, a fraction of the step
    energy: Power and energy of the run
    marginal_return: Relative gain in throughput since the previous point that fits, divided by the relative gain in
        devices. 1 is perfect scaling
    change: How the kind of layout differs from that of the previous point, such as "FSDP -> tp + FSDP"
    """

    gpus: int
    global_batch: int
    problem: str
    estimate: Optional[Layout]
    exposed: float
    energy: ScaleAnswerPointsEnergy
    marginal_return: Optional[float]
    change: str


class ScaleAnswerCosts(TypedDict):
    """ScaleAnswerCosts.

    seconds: Time of the run, seconds
    device_hours: Device-hours of the run
    price: Price of the run in the request's currency; 0 if the request has no price
    joules: Energy of the run, joules; 0 if the cluster file does not state the devices' power
    """

    seconds: float
    device_hours: float
    price: float
    joules: float


class ScaleAnswerAnswer(TypedDict):
    """Which points suit the budget.

    fewest_that_fit: The smallest number of devices that fits
    fewest_in_time: The smallest number of devices that finishes in time
    cheapest: The number with the fewest device-hours, among those in time if the request has a time
    best: The best number by the request's objective, among those in time if the request has a time
    """

    fewest_that_fit: Optional[int]
    fewest_in_time: Optional[int]
    cheapest: Optional[int]
    best: Optional[int]


class _ScaleAnswerMeasured(TypedDict):
    """Keys that are always there.

    layout: Text form of the layout
    out_of_memory: Whether the run went out of memory
    step_before_s: Time of a step by the formulas alone, seconds
    step_s: Time of a step after the correction, seconds
    peak_before_bytes: The same peak by the formulas alone, bytes
    peak_bytes: The same peak after the correction, bytes
    """

    layout: str
    out_of_memory: bool
    step_before_s: float
    step_s: float
    peak_before_bytes: int
    peak_bytes: int


class ScaleAnswerMeasured(_ScaleAnswerMeasured, total=False):
    """ScaleAnswerMeasured.

    measured_step_s: Measured time of a step, seconds
    measured_peak_bytes: Measured peak of the fullest device, bytes
    """

    measured_step_s: float
    measured_peak_bytes: int


class _ScaleAnswer(TypedDict):
    """Keys that are always there.

    schema_version: Version of what the keys mean
    request: What was asked
    elapsed_s: Time of the whole command, seconds
    points: Points, ordered by number of devices
    costs: Cost of a whole run at each point
    answer: Which points suit the budget
    sentences: What the points show, in words
    notes: What readers of the figures should know, one sentence per note
    parameters: Number of parameters of the model
    rests_on: Evidence behind the figures
    """

    schema_version: int
    request: ScaleAnswerRequest
    elapsed_s: float
    points: List[ScaleAnswerPoints]
    costs: List[ScaleAnswerCosts]
    answer: ScaleAnswerAnswer
    sentences: List[str]
    notes: List[str]
    parameters: int
    rests_on: RestsOn


class ScaleAnswer(_ScaleAnswer, total=False):
    """meshwright scale --format json, and recommend's for a range of sizes.

    measured: The request's `measured` runs beside their estimates
    """

    measured: List[ScaleAnswerMeasured]


class ScheduleAnswerRanks(TypedDict):
    """ScheduleAnswerRanks.

    pipeline_rank: Number of the rank, from 0
    start_s: First start, seconds
    end_s: Last end, seconds
    busy_s: Time at work, seconds
    bubble_share: Share of the step that it is idle, a fraction
    chunks_in_flight: Most micro-batches between forward and backward, in chunks
    """

    pipeline_rank: int
    start_s: float
    end_s: float
    busy_s: float
    bubble_share: float
    chunks_in_flight: int


class ScheduleAnswerLayerKindsOperators(TypedDict):
    """ScheduleAnswerLayerKindsOperators.

    name: Name of the operator, such as "down_projection", or "host"
    kind: Kind of the operator: "matmul", "attention", "norm", "elementwise", "collective", "core" (the core of a
        recurrence, or the scores of an index), or "host" (the device waits for the host)
    forward_s: Forward without collectives, seconds
    backward_s: Gradients of the input and of the weights without collectives, seconds
    recompute_s: Forward that is repeated before the backward, without collectives, seconds
    tp_forward_s: Collectives among tensor-parallel ranks for which the forward waits, seconds
    tp_backward_s: Collectives among tensor-parallel ranks for which backward and recompute wait, seconds
    cp_forward_s: Messages among context-parallel ranks for which the forward waits, seconds
    cp_backward_s: Messages among context-parallel ranks for which backward and recompute wait, seconds
    ep_forward_s: Transfer of tokens to experts and back for which the forward waits, seconds
    ep_backward_s: Transfer of tokens to experts and back for which backward and recompute wait, seconds
    """

    name: str
    kind: str
    forward_s: float
    backward_s: float
    recompute_s: float
    tp_forward_s: float
    tp_backward_s: float
    cp_forward_s: float
    cp_backward_s: float
    ep_forward_s: float
    ep_backward_s: float


class ScheduleAnswerLayerKinds(TypedDict):
    """ScheduleAnswerLayerKinds.

    name: What the layers consist of, such as "latent attention, 256 experts"
    layers: Layers of the kind in the model, a count
    recomputed: Whether the backward repeats the whole layer from its input
    operators: Operators of one layer in the order of the forward; then, if the device waits for the host, the wait.
        Without the copies of offloaded tensors
    """

    name: str
    layers: int
    recomputed: bool
    operators: List[ScheduleAnswerLayerKindsOperators]


class ScheduleAnswer(TypedDict):
    """meshwright schedule --format json.

    schema_version: Version of what the keys mean
    layout: Text form of the layout
    micro_batches: Micro-batches of a step, a count
    step_s: From the first start to the last end, seconds
    repeated_step_s: A step among many, seconds
    bubble_share: Share of the step that ranks are idle, a fraction
    ranks: One entry per pipeline rank
    layer_kinds: The layers of the model by kind, without towers and layers that predict further tokens; empty if the
        times were given by hand
    """

    schema_version: int
    layout: str
    micro_batches: int
    step_s: float
    repeated_step_s: float
    bubble_share: float
    ranks: List[ScheduleAnswerRanks]
    layer_kinds: List[ScheduleAnswerLayerKinds]


class StandbyShowAnswerLag(TypedDict):
    """How far the standby is behind; absent if this server decides.

    name: Name of the standby, as in FollowHello.name
    connected: Whether the standby's stream is open
    complete: Whether the copy was ever complete, so that the standby may take over
    transactions: Number of transactions that the copy lacks
    behind_bytes: Size of these transactions, bytes
    behind_s: Time since the copy lacked nothing, seconds
    """

    name: str
    connected: bool
    complete: bool
    transactions: int
    behind_bytes: int
    behind_s: float


class StandbyShowAnswerStandbys(TypedDict):
    """StandbyShowAnswerStandbys.

    name: Name of the standby, as in FollowHello.name
    connected: Whether the standby's stream is open
    complete: Whether the copy was ever complete, so that the standby may take over
    transactions: Number of transactions that the copy lacks
    behind_bytes: Size of these transactions, bytes
    behind_s: Time since the copy lacked nothing, seconds
    """

    name: str
    connected: bool
    complete: bool
    transactions: int
    behind_bytes: int
    behind_s: float


class StandbyShowAnswerMissingResults(TypedDict):
    """StandbyShowAnswerMissingResults.

    trial: Resource name of the trial
    attempt: Number of the attempt, from 1
    agent: Name of the agent that measured it
    acknowledged_epoch: Epoch of the server that acknowledged the result
    """

    trial: str
    attempt: int
    agent: str
    acknowledged_epoch: int


class StandbyShowAnswer(TypedDict):
    """meshwright standby show --format json.

    schema_version: Version of what the keys mean
    is_standby: Whether the server is a standby and decides nothing
    store_id: Identity of the store; empty while a standby has no copy
    epoch: Epoch of the store, from 1; 0 while a standby has no copy
    follows: HOST:PORT of the server that a standby follows; empty if this server decides
    lag: How far the standby is behind; absent if this server decides
    standbys: The standbys that follow this server or followed it since it started, by name
    missing_results: Results that servers of earlier epochs acknowledged and that this server lacked, at most 1000, the
        newest last. A server that starts knows of none
    server_version: Version of the server
    server_time: Time of the server's clock
    """

    schema_version: int
    is_standby: bool
    store_id: str
    epoch: int
    follows: Optional[str]
    lag: Optional[StandbyShowAnswerLag]
    standbys: List[StandbyShowAnswerStandbys]
    missing_results: List[StandbyShowAnswerMissingResults]
    server_version: str
    server_time: str


class StandbyTakeOverAnswerLag(TypedDict):
    """How far the copy was behind, as far as the standby knew.

    name: Name of the standby, as in FollowHello.name
    connected: Whether the standby's stream is open
    complete: Whether the copy was ever complete, so that the standby may take over
    transactions: Number of transactions that the copy lacks
    behind_bytes: Size of these transactions, bytes
    behind_s: Time since the copy lacked nothing, seconds
    """

    name: str
    connected: bool
    complete: bool
    transactions: int
    behind_bytes: int
    behind_s: float


class StandbyTakeOverAnswer(TypedDict):
    """meshwright standby take-over --format json.

    schema_version: Version of what the keys mean
    epoch: Epoch of the store from now on
    lag: How far the copy was behind, as far as the standby knew
    """

    schema_version: int
    epoch: int
    lag: StandbyTakeOverAnswerLag


class _StudyAnswerRequest(TypedDict):
    """Keys that are always there.

    model: The model to train
    cluster: The cluster to train on
    framework: The training framework. Default: megatron for the service Planner, meshwright for Sweeps
    gpus: Number of devices that a layout uses, at least 1. In printed requests with a range, its lower end
    seq_len: Tokens per sequence, at least 1
    dtype: Number format. Default: fp32 on clusters of CPU cores, and bf16 on all others
    optimizer: The optimizer. Default: AdamW
    imbalance: Tokens that the experts of the fullest rank receive, divided by the tokens of an average rank, at least
        1. Only for models with experts. Default: 1
    """

    model: str
    cluster: str
    framework: str
    gpus: int
    seq_len: int
    dtype: str
    optimizer: str
    imbalance: float


class StudyAnswerRequest(_StudyAnswerRequest, total=False):
    """What was asked.

    global_batch: Sequences per optimizer step over all devices, at least 1
    media_tokens: Number of tokens of a sequence that stand for images, at most seq_len. It may be above 0 only for
        models with a tower (an encoder of images). Default: the tokens of one image if the model's file states them,
        and otherwise 0
    states: Formats of the weights, gradients and optimizer states that are held for each parameter: fp32, bf16,
        adam8bit, precision-aware, bf16-grads, or master=F,grad=F,m=F,v=F with formats F. Default: the framework's
    loss: How the loss is computed: plain, fused (a fused linear cross entropy), or chunked:N (in N parts, one after
        the other). Default: plain
    documents: Mean length, in tokens, of the documents that are packed into a sequence, or none. Default: none
    compile: Whether PyTorch compiles the layers: on or off. Default: the framework's
    cuda_graphs: Part of the step that CUDA graphs capture: none, attention, layer or iteration. Default: the
        framework's
    dispatcher: How tokens are sent to their experts: alltoall, allgather, deepep or hybridep. Default: the framework's
    experts: Whether ZeRO divides the states of experts over the ranks that hold the same experts (sharded), or these
        ranks hold whole copies (replicated). Default: sharded
    train: Which weights are trained: full, lora:RANK[:TARGETS], qlora:RANK[:TARGETS], dora:RANK[:TARGETS], or
        frozen:PARTS, where PARTS are tower, embedding and layers=A..B. Default: full
    measured: Runs that the user did, which correct every estimate. Each is a layout and what it measured:
        "tp2.pp1.dp4.mb1 step=12.3s memory=61GiB" or "tp1.pp1.dp8 oom". A step is in ms, s or min, a peak in GiB or GB.
        global_batch=N, seq_len=N and options of a run follow where the run differs from this request. At most 256
    where: Condition on the layouts of all arms, as RecommendRequest.where. Default: all layouts
    """

    global_batch: int
    media_tokens: int
    states: str
    loss: str
    documents: str
    compile: str
    cuda_graphs: str
    dispatcher: str
    experts: str
    train: str
    measured: List[str]
    where: str


class StudyAnswerAblationsArms(TypedDict):
    """StudyAnswerAblationsArms.

    name: The value, such as "micro-batch 1"
    recommended: Whether this value is recommended
    problem: Why there is no layout; empty if there is one
    estimate: The fastest layout that fits; not set if none fits
    """

    name: str
    recommended: bool
    problem: str
    estimate: Optional[Layout]


class StudyAnswerAblations(TypedDict):
    """StudyAnswerAblations.

    name: Identifier of the choice, such as "micro_batch"
    recommendation: The recommendation in words
    arms: The values of the choice
    verdict: Whether the recommendation holds
    gain: Throughput of the fastest recommended arm divided by that of the fastest other arm, minus 1, a fraction. Not
        set if one side has no layout
    sentence: The verdict with its numbers, in words
    """

    name: str
    recommendation: str
    arms: List[StudyAnswerAblationsArms]
    verdict: str
    gain: Optional[float]
    sentence: str


class _StudyAnswerMeasured(TypedDict):
    """Keys that are always there.

    layout: Text form of the layout
    out_of_memory: Whether the run went out of memory
    step_before_s: Time of a step by the formulas alone, seconds
    step_s: Time of a step after the correction, seconds
    peak_before_bytes: The same peak by the formulas alone, bytes
    peak_bytes: The same peak after the correction, bytes
    """

    layout: str
    out_of_memory: bool
    step_before_s: float
    step_s: float
    peak_before_bytes: int
    peak_bytes: int


class StudyAnswerMeasured(_StudyAnswerMeasured, total=False):
    """StudyAnswerMeasured.

    measured_step_s: Measured time of a step, seconds
    measured_peak_bytes: Measured peak of the fullest device, bytes
    """

    measured_step_s: float
    measured_peak_bytes: int


class _StudyAnswer(TypedDict):
    """Keys that are always there.

    schema_version: Version of what the keys mean
    request: What was asked
    elapsed_s: Time of the whole command, seconds
    ablations: One entry per recommendation
    within: Differences in throughput of at most this fraction are ties
    notes: What readers of the figures should know, one sentence per note
    parameters: Number of parameters of the model
    rests_on: Evidence behind the figures
    sentence: How many of the recommendations hold, in words
    """

    schema_version: int
    request: StudyAnswerRequest
    elapsed_s: float
    ablations: List[StudyAnswerAblations]
    within: float
    notes: List[str]
    parameters: int
    rests_on: RestsOn
    sentence: str


class StudyAnswer(_StudyAnswer, total=False):
    """meshwright study --format json.

    measured: The request's `measured` runs beside their estimates
    """

    measured: List[StudyAnswerMeasured]


class _SweepAnswer(TypedDict):
    """Keys that are always there.

    name: Resource name, `sweeps/{sweep}`. Commands print only the last part
    state: State of the sweep
    reason: Why the sweep is in this state, or what it waits for
    model: Name of the model
    cluster: Name of the cluster
    cluster_hash: Hash of the cluster's JSON without its name, hexadecimal
    profile: Name of the framework profile
    profile_hash: Hash of the profile's JSON without its name, hexadecimal
    gpus: Number of devices of one trial
    device_kind: Kind of device that the trials need
    runner: Runner of the trials: its name, the beginning of its file's hash, and the values of its fields. Empty if
        Meshwright's own worker runs them
    ask: Whether callers ask for the trials (AskTrial) and run them, so that no agent does
    seq_len: Tokens per sequence
    global_batch: Sequences per optimizer step
    dtype: Number format
    steps: Number of training steps of one trial, or the largest number if the request left it open
    seed: Seed of the initial weights and tokens
    memory_limit_bytes: Memory limit of one rank's allocator, bytes; 0 if there is no limit
    candidates: Number of layouts that the sweep may run. Layouts that the request names are trials from the start;
        each of the others becomes a trial once it is chosen
    max_trials: Largest number of trials, including those that the request names and those with earlier results; 0 if
        the request names all
    min_gain: The sweep chooses no further trial if the expected gain is below this share of the best step time. 0 if
        the request names all trials
    trials: Number of its trials
    trials_ended: Number of its trials that have ended, including cancelled ones
    trials_reused: Number of trials that reuse a result of an earlier sweep
    trials_by_state: Numbers of its trials by state, such as "ok". States without a trial are absent
    rerun_of: Resource name of the sweep whose trials this sweep repeats; that sweep may have been deleted. Empty if
        the layouts were searched
    planner_version: Version of the planner that searched the layouts
    create_time: When the sweep was created
    end_time: When the sweep's last trial ended; absent until then
    last_sequence: Sequence number of its newest event
    actor: Who created it, in the form of SweepEvent.actor
    funnel: Numbers of points that each pass of the search dropped
    schema_version: Version of what the keys mean
    """

    name: str
    state: str
    reason: str
    model: str
    cluster: str
    cluster_hash: str
    profile: str
    profile_hash: str
    gpus: int
    device_kind: str
    runner: str
    ask: bool
    seq_len: int
    global_batch: int
    dtype: str
    steps: int
    seed: int
    memory_limit_bytes: Optional[int]
    candidates: int
    max_trials: Optional[int]
    min_gain: Optional[float]
    trials: int
    trials_ended: int
    trials_reused: int
    trials_by_state: Dict[str, int]
    rerun_of: Optional[str]
    planner_version: str
    create_time: str
    end_time: Optional[str]
    last_sequence: int
    actor: Optional[str]
    funnel: Funnel
    schema_version: int


class SweepAnswer(_SweepAnswer, total=False):
    """meshwright sweep start|rerun|cancel --format json.

    notes: What the reader should know, one sentence each; only for a sweep that begins
    """

    notes: List[str]


class SweepAskAnswerExportFiles(TypedDict):
    """SweepAskAnswerExportFiles.

    name: Name in the folder where the run starts
    text: Text of the file
    """

    name: str
    text: str


class SweepAskAnswerExport(TypedDict):
    """The layout as --to's framework reads it; null without --to.

    to: Framework
    model: Name of the model
    layout: Text form of the layout
    seq_len: Tokens per sequence
    global_batch: Sequences per optimizer step
    gpus_per_node: GPUs of a node, a count
    notes: What the reader should know, one sentence each
    text: What the command prints: the launch script or the framework's file
    file_name: Name under which to save `text`, such as "run.sh"
    launch: What starts the run in `script`
    script: The launch script, which writes the files
    program: The program of a rank, in words
    arguments: Arguments of the program, in words
    files: Files of the export, which the program reads
    """

    to: str
    model: str
    layout: str
    seq_len: int
    global_batch: int
    gpus_per_node: int
    notes: List[str]
    text: str
    file_name: str
    launch: str
    script: str
    program: List[str]
    arguments: List[str]
    files: List[SweepAskAnswerExportFiles]


class SweepAskAnswer(TypedDict):
    """meshwright sweep ask --format json.

    schema_version: Version of what the keys mean
    trial: Sweep and number of the trial
    attempt: Number of this attempt at the trial, from 1
    layout: Text form of the layout to run
    reason: Why this trial is the next one
    predicted_step_s: Step time that the planner predicts, seconds
    token: What sweep tell needs; valid for this attempt alone
    lease_end_time: When the trial is handed out again unless a result was told
    export: The layout as --to's framework reads it; null without --to
    """

    schema_version: int
    trial: str
    attempt: int
    layout: str
    reason: str
    predicted_step_s: float
    token: str
    lease_end_time: str
    export: Optional[SweepAskAnswerExport]


class SweepCompareAnswerDifferences(TypedDict):
    """SweepCompareAnswerDifferences.

    field: Path of the field: model, training, cluster, request or worker first
    a: Value in A's request; null where the request has none
    b: Value in B's request; null where the request has none
    """

    field: str
    a: Any
    b: Any


class SweepCompareAnswerCounts(TypedDict):
    """Of the layouts that ran in both.

    faster: Layouts that are faster in B, outside the noise
    slower: Layouts that are slower in B, outside the noise
    within_noise: Layouts whose change is within the noise
    unknown: Layouts of which too few steps were timed to tell
    same_run: Layouts for which both sweeps have the result of one run
    outcome_changed: Layouts that ended in different states
    mean_change: Geometric mean of the changes, without those of same_run; null where there is none
    """

    faster: int
    slower: int
    within_noise: int
    unknown: int
    same_run: int
    outcome_changed: int
    mean_change: Optional[float]


class SweepCompareAnswerBoth(TypedDict):
    """SweepCompareAnswerBoth.

    layout: Text form of the layout
    a: Its trial in A
    b: Its trial in B
    step: How its step changed; null where one of them was not measured
    """

    layout: str
    a: ComparedTrial
    b: ComparedTrial
    step: Optional[TimeChange]


class SweepCompareAnswer(TypedDict):
    """meshwright sweep compare --format json.

    schema_version: Version of what the keys mean
    a: Name of the first sweep, with which B is compared
    b: Name of the second sweep
    differences: Fields in which the requests, or the workers that measured, differ
    best_a: The fastest trial of A; null where none was measured
    best_b: The fastest trial of B
    best: From A's best to B's, per token and device; null where one has none
    verdict: Which best is faster, by how much, and whether that is noise: one sentence
    counts: Of the layouts that ran in both
    both: Layouts that ended by themselves in both, those that gained most first
    only_a: Layouts that ended by themselves in A alone
    only_b: Layouts that ended by themselves in B alone
    notes: Caveats about the numbers, one sentence each
    """

    schema_version: int
    a: str
    b: str
    differences: List[SweepCompareAnswerDifferences]
    best_a: Optional[ComparedTrial]
    best_b: Optional[ComparedTrial]
    best: Optional[TimeChange]
    verdict: str
    counts: SweepCompareAnswerCounts
    both: List[SweepCompareAnswerBoth]
    only_a: OnlyThere
    only_b: OnlyThere
    notes: List[str]


class SweepDeleteAnswer(TypedDict):
    """meshwright sweep delete --format json.

    schema_version: Version of what the keys mean
    deleted: Name of the sweep that is gone
    """

    schema_version: int
    deleted: str


class SweepListAnswer(TypedDict):
    """meshwright sweep list --format json.

    schema_version: Version of what the keys mean
    sweeps: Newest first
    """

    schema_version: int
    sweeps: List[Sweep]


class SweepPlanAnswerNext(TypedDict):
    """SweepPlanAnswerNext.

    number: Predicted rank of its layout among the sweep's candidates, from 1
    layout: Text form of the layout
    expected_gain: Expected reduction of the step time against the sweep's best trial, as a share of the best step
        time; absent before any trial was measured
    reason: Why the trial is next
    """

    number: int
    layout: str
    expected_gain: Optional[float]
    reason: str


class SweepPlanAnswer(TypedDict):
    """meshwright sweep plan --format json.

    schema_version: Version of what the keys mean
    sweep: Name of the sweep
    best_step_s: Shortest measured median step time, seconds; absent before any trial was measured
    next: Trials in order. Each is chosen as if the ones before it ran
    stop_reason: Why no further trial would run; empty if there are as many as the request asks for
    related_results: Number of their results that correct the estimates
    related_sweeps: Resource names of earlier sweeps whose results correct the estimates, the most similar first
    candidates: Layouts that the sweep may run or has run, by number, except layouts without a stored prediction
    """

    schema_version: int
    sweep: str
    best_step_s: Optional[float]
    next: List[SweepPlanAnswerNext]
    stop_reason: Optional[str]
    related_results: int
    related_sweeps: List[str]
    candidates: List[Candidate]


class SweepShowAnswer(TypedDict):
    """meshwright sweep show --format json.

    schema_version: Version of what the keys mean
    sweep: The sweep
    request: The request that made the sweep, under the key create_sweep or rerun_sweep; null where it was not kept
    peak_flops: FLOP/s of a rank that every MFU of the sweep is a share of
    peak_source: Where that peak comes from
    trials: Shortest measured step first
    """

    schema_version: int
    sweep: Sweep
    request: Optional[Dict[str, Any]]
    peak_flops: float
    peak_source: str
    trials: List[Trial]


class SweepTellAnswer(TypedDict):
    """meshwright sweep tell --format json.

    schema_version: Version of what the keys mean
    trial: Sweep and number of the trial
    layout: Text form of its layout
    state: State of the trial now
    reason: Why the trial is in that state
    lease_end_time: When the renewed lease ends; null unless renewed
    """

    schema_version: int
    trial: str
    layout: str
    state: str
    reason: str
    lease_end_time: Optional[str]


class SweepWatchAnswer(TypedDict):
    """meshwright sweep watch --format json, one object a line.

    schema_version: Version of what the keys mean
    sequence: Sequence number of the event, which grows with time over all sweeps. 0 for TRIAL_PROGRESS events, which
        are not stored: a new watcher gets only the newest one of each running trial
    time: When the event happened
    sweep: Resource name of the sweep
    trial: Resource name of the trial; empty for the sweep itself
    attempt: Attempt of the trial, from 1; 0 for the sweep itself
    kind: Kind of event
    message: One sentence on what happened
    actor: Who caused the event, as "token NAME" or "certificate NAME". Empty if the server itself caused it, or if
        callers need not authenticate
    data: Details, by kind
    """

    schema_version: int
    sequence: int
    time: str
    sweep: str
    trial: Optional[str]
    attempt: int
    kind: str
    message: str
    actor: Optional[str]
    data: Optional[Dict[str, Any]]


class SweepWhyAnswerDecisionsMembers(TypedDict):
    """SweepWhyAnswerDecisionsMembers.

    agent: Name of the agent
    host: Host of the agent
    first_rank: First of the agent's ranks, from 0
    ranks: Number of the agent's ranks, which are consecutive
    first_device: Index of the first of the agent's devices that the ranks use, from 0; the others follow it
    failed: Whether the attempt gave no result because of this agent
    """

    agent: str
    host: str
    first_rank: int
    ranks: int
    first_device: int
    failed: bool


class SweepWhyAnswerDecisions(TypedDict):
    """SweepWhyAnswerDecisions.

    attempt: Number, from 1
    agent: Name of the agent, or of the gang's leader
    members: The agents with their ranks, in the order of the ranks: one agent, or a gang
    decision: Why this trial was next, and why it was assigned to this agent
    policy_version: Version of the rules that made the decision; 0 if the rules had no version
    outcome: Outcome of the attempt
    end_reason: Why the attempt has this outcome
    """

    attempt: int
    agent: str
    members: List[SweepWhyAnswerDecisionsMembers]
    decision: str
    policy_version: int
    outcome: str
    end_reason: str


class SweepWhyAnswer(TypedDict):
    """meshwright sweep show --why --format json.

    schema_version: Version of what the keys mean
    number: Predicted rank among the sweep's candidates, from 1; the number of its trial
    layout: Text form of the layout
    state: State of its trial; null where it has none
    reason: Why the trial is in that state; null where there is none
    reused_from: Sweep and number of the trial whose result it has; null for one that ran itself
    decisions: Of each attempt why it was given out, and how it ended
    belief: What is believed of the layout since trials ran; null where too little was kept of it
    stop_reason: Of a layout that has not run: why the sweep would not run it now; null where it may
    """

    schema_version: int
    number: int
    layout: str
    state: Optional[str]
    reason: Optional[str]
    reused_from: Optional[str]
    decisions: List[SweepWhyAnswerDecisions]
    belief: Optional[Candidate]
    stop_reason: Optional[str]


class TokenAnswer(TypedDict):
    """meshwright token create --format json.

    schema_version: Version of what the keys mean
    name: Name of the token, which events show
    role: What its bearer may do
    agent: Name of the agent that the token is for; null for other roles
    create_time: When it was made, RFC 3339, UTC
    expire_time: When the token stops being valid; null for never
    revoke_time: When it was revoked; null where it was not
    token: The token itself, which is shown this once
    """

    schema_version: int
    name: str
    role: str
    agent: Optional[str]
    create_time: str
    expire_time: Optional[str]
    revoke_time: Optional[str]
    token: str


class TokenListAnswerTokens(TypedDict):
    """TokenListAnswerTokens.

    name: Name of the token, which events show
    role: What its bearer may do
    agent: Name of the agent that the token is for; null for other roles
    create_time: When it was made, RFC 3339, UTC
    expire_time: When the token stops being valid; null for never
    revoke_time: When it was revoked; null where it was not
    """

    name: str
    role: str
    agent: Optional[str]
    create_time: str
    expire_time: Optional[str]
    revoke_time: Optional[str]


class TokenListAnswer(TypedDict):
    """meshwright token list --format json.

    schema_version: Version of what the keys mean
    tokens: By name
    """

    schema_version: int
    tokens: List[TokenListAnswerTokens]


class TokenRevokeAnswer(TypedDict):
    """meshwright token revoke --format json.

    schema_version: Version of what the keys mean
    revoked: Name of the token that was revoked
    """

    schema_version: int
    revoked: str


class TrialAnswerStepInterval(TypedDict):
    """Interval that contains the median with a probability of 95 %; absent if too few steps were timed.

    low_s: Lower end, seconds
    high_s: Upper end, seconds
    """

    low_s: float
    high_s: float


class TrialAnswerOom(TypedDict):
    """The rank that ran out of memory; set only with the outcome oom.

    rank: Number of the rank, from 0
    pipeline_rank: Pipeline rank, from 0
    requested_bytes: Bytes that the rank requested
    held_bytes: Bytes that the rank held
    limit_bytes: Bytes that the rank may hold
    """

    rank: int
    pipeline_rank: int
    requested_bytes: int
    held_bytes: int
    limit_bytes: int


class TrialAnswerSliceMeasuredStagesActions(TypedDict):
    """TrialAnswerSliceMeasuredStagesActions.

    kind: Kind of action
    chunk: Chunk of the pipeline rank, from 0
    compute_s: Measured computation, seconds
    """

    kind: str
    chunk: int
    compute_s: float


class TrialAnswerSliceMeasuredStages(TypedDict):
    """TrialAnswerSliceMeasuredStages.

    pipeline_ranks: Pipeline ranks that hold a stage of this kind, from 0
    measured_rank: The pipeline rank that ran
    actions: Actions of that rank
    optimizer_s: Measured time of that rank's optimizer in a step, seconds
    peak_bytes: Measured peak bytes that the allocator held
    estimated_bytes: The planner's estimate of peak_bytes, bytes; 0 if there is none
    """

    pipeline_ranks: List[int]
    measured_rank: int
    actions: List[TrialAnswerSliceMeasuredStagesActions]
    optimizer_s: float
    peak_bytes: int
    estimated_bytes: int


class TrialAnswerSliceMeasured(TypedDict):
    """What was run.

    stages: The kinds of stages
    compute_s: Measured computation, seconds
    optimizer_s: Measured optimizer, seconds
    """

    stages: List[TrialAnswerSliceMeasuredStages]
    compute_s: float
    optimizer_s: float


class _TrialAnswerSliceModelledStagesActions(TypedDict):
    """Keys that are always there.

    kind: Kind of action
    chunk: Chunk of the pipeline rank, from 0
    tp_s: Modelled exposed tensor-parallel communication, seconds
    cp_s: Modelled exposed context-parallel communication, seconds
    dp_s: Modelled exposed data-parallel communication, seconds
    """

    kind: str
    chunk: int
    tp_s: float
    cp_s: float
    dp_s: float


class TrialAnswerSliceModelledStagesActions(_TrialAnswerSliceModelledStagesActions, total=False):
    """TrialAnswerSliceModelledStagesActions.

    ep_s: Modelled exposed all-to-all communication of experts, seconds
    """

    ep_s: float


class TrialAnswerSliceModelledStages(TypedDict):
    """TrialAnswerSliceModelledStages.

    measured_rank: The pipeline rank that ran
    actions: Actions of that rank
    dp_behind_s: Modelled exposed time of reductions after the last action, seconds
    """

    measured_rank: int
    actions: List[TrialAnswerSliceModelledStagesActions]
    dp_behind_s: float


class TrialAnswerSliceModelledOperations(TypedDict):
    """TrialAnswerSliceModelledOperations.

    measured_rank: Pipeline rank of the rank that ran
    group: Name of the group, such as "tp"
    operation: Kind of operation
    ranks: Number of ranks of the group
    stride: Distance between neighbouring ranks of the group, in ranks
    bytes: Full buffer of one operation, bytes
    calls: Number of operations per step
    seconds: Modelled time of one operation, seconds
    """

    measured_rank: int
    group: str
    operation: str
    ranks: int
    stride: int
    bytes: int
    calls: float
    seconds: float


class _TrialAnswerSliceModelled(TypedDict):
    """Keys that are always there.

    cluster: Cluster whose cost model charges communication
    stages: The kinds of stages
    operations: Communication per step of the ranks that ran
    hop_s: Modelled time of a message between stages, seconds
    tp_s: Modelled tensor-parallel communication, seconds
    cp_s: Modelled context-parallel communication, seconds
    pp_s: Modelled messages of the pipeline, seconds
    dp_s: Modelled data-parallel communication, seconds
    straggler_s: Modelled waiting for devices that are slower than the average device, seconds
    """

    cluster: str
    stages: List[TrialAnswerSliceModelledStages]
    operations: List[TrialAnswerSliceModelledOperations]
    hop_s: float
    tp_s: float
    cp_s: float
    pp_s: float
    dp_s: float
    straggler_s: float


class TrialAnswerSliceModelled(_TrialAnswerSliceModelled, total=False):
    """What was charged.

    ep_s: Modelled all-to-all communication of experts, seconds
    """

    ep_s: float


class TrialAnswerSliceSimulated(TypedDict):
    """What was composed.

    bubble_s: Simulated idle time in the pipeline, seconds
    step_s: Time of the step, the sum of all parts, seconds
    """

    bubble_s: float
    step_s: float


class TrialAnswerSlice(TypedDict):
    """In a slice trial, the parts of which the step is composed. `ranks` then has the ranks that ran.

    measured: What was run
    modelled: What was charged
    simulated: What was composed
    """

    measured: TrialAnswerSliceMeasured
    modelled: TrialAnswerSliceModelled
    simulated: TrialAnswerSliceSimulated


class _TrialAnswer(TypedDict):
    """Keys that are always there.

    outcome: Outcome of the attempt
    message: One sentence on what went wrong; empty if nothing did. After a failure, the tail of the worker's output
        follows
    step_s: Median step time, seconds
    stop_reason: Why no more steps ran
    mfu: Model FLOPs utilisation (MFU) by the PaLM definition, a fraction of measured_peak_flops
    mfu_causal: MFU by the Megatron-LM definition, a fraction of measured_peak_flops
    measured_peak_flops: FLOP/s of one rank in a large matmul while all ranks run
    peak_flops: Peak FLOP/s of one rank by the cluster for which the trial was planned, on which the prediction is
        based; absent if no peak is known
    mfu_of_peak: MFU by the PaLM definition, a fraction of peak_flops; 0 without peak_flops
    mfu_causal_of_peak: MFU by the Megatron-LM definition, a fraction of peak_flops; 0 without peak_flops
    step_times_s: Times of all steps in order, seconds
    losses: Mean cross entropy before each update, nats
    gradient_norms: L2 norms of all gradients, one for each entry of `losses`
    ranks: Measurements of each rank
    worker_version: Version of the worker
    host: Host on which the attempt ran
    schema_version: Version of what the keys mean
    layout: Text form of the layout, with the kernels that ran
    seed: Random seed of weights and tokens
    predicted: What the planner predicts
    peak_source: Where the peak that peak_flops states comes from
    notes: What the reader should know about the figures
    """

    outcome: str
    message: str
    step_s: float
    stop_reason: str
    mfu: float
    mfu_causal: Optional[float]
    measured_peak_flops: float
    peak_flops: Optional[float]
    mfu_of_peak: Optional[float]
    mfu_causal_of_peak: Optional[float]
    step_times_s: List[float]
    losses: List[float]
    gradient_norms: List[float]
    ranks: List[Rank]
    worker_version: str
    host: str
    schema_version: int
    layout: str
    seed: int
    predicted: Layout
    peak_source: str
    notes: List[str]


class TrialAnswer(_TrialAnswer, total=False):
    """meshwright trial --format json.

    fault: Cause of a failure: the layout, the infrastructure of a rank, or the network between hosts. Not set if
        nothing failed or the cause is not known
    step_interval: Interval that contains the median with a probability of 95 %; absent if too few steps were timed
    oom: The rank that ran out of memory; set only with the outcome oom
    slice: In a slice trial, the parts of which the step is composed. `ranks` then has the ranks that ran
    failed_agent: In a gang's trial, the agent whose part failed; empty if that is the reporting agent itself or if no
        part failed
    command: Command that the agent started, as a shell reads it. Set only in a trial with a runner
    log_end: End of what this command printed, at most 4 KiB. Set only in a trial with a runner
    """

    fault: str
    step_interval: TrialAnswerStepInterval
    oom: TrialAnswerOom
    slice: TrialAnswerSlice
    failed_agent: str
    command: str
    log_end: str


class ValidateAnswerSweeps(TypedDict):
    """ValidateAnswerSweeps.

    sweep: Name of the sweep
    rows: Rows
    ok: Rows that went through
    oom: Rows that ran out of memory
    error: Rows that failed otherwise
    modelled: Rows with a prediction
    oom_caught: Rows that ran out of memory, predicted at or above 80 % of the device
    oom_missed: Rows that ran out of memory, predicted below 80 % of the device
    ok_kept: Rows that fit, predicted below 80 % of the device
    ok_rejected: Rows that fit, predicted at or above 80 % of the device
    oom_accuracy: Accuracy of the probability of running out of memory, at 0.5
    oom_auc: Area under the ROC curve of that probability
    memory_median_error: Median of |predicted / measured - 1| of the peak memory
    mfu_mae_points: Mean error of the MFU, percentage points
    step_time_mape: Mean of |predicted / measured - 1| of the step time
    spearman: Rank correlation of throughput
    regret_safe_points: MFU points lost by the fastest predicted below 80 %
    regret_likely_points: MFU points lost by the fastest predicted below an OOM probability of 0.5
    pick_safe: Row of the fastest predicted below 80 %
    pick_likely: Row of the fastest predicted below an OOM probability of 0.5
    choices: Choices between at least six layouts of one model, batch and number of devices
    likely_out_of_memory: Choices whose pick ran out of memory
    regret_likely_share: Measured time per token of the other picks / the best measured one - 1, mean over the choices
    regret_likely_share_max: Largest regret_likely_share of a choice
    inside_interval: Share of step times inside the predicted interval
    """

    sweep: str
    rows: int
    ok: int
    oom: int
    error: int
    modelled: int
    oom_caught: int
    oom_missed: int
    ok_kept: int
    ok_rejected: int
    oom_accuracy: Optional[float]
    oom_auc: Optional[float]
    memory_median_error: Optional[float]
    mfu_mae_points: Optional[float]
    step_time_mape: Optional[float]
    spearman: Optional[float]
    regret_safe_points: Optional[float]
    regret_likely_points: Optional[float]
    pick_safe: Optional[int]
    pick_likely: Optional[int]
    choices: int
    likely_out_of_memory: int
    regret_likely_share: Optional[float]
    regret_likely_share_max: Optional[float]
    inside_interval: Optional[float]


class ValidateAnswerTotal(TypedDict):
    """All rows together.

    sweep: Name of the sweep
    rows: Rows
    ok: Rows that went through
    oom: Rows that ran out of memory
    error: Rows that failed otherwise
    modelled: Rows with a prediction
    oom_caught: Rows that ran out of memory, predicted at or above 80 % of the device
    oom_missed: Rows that ran out of memory, predicted below 80 % of the device
    ok_kept: Rows that fit, predicted below 80 % of the device
    ok_rejected: Rows that fit, predicted at or above 80 % of the device
    oom_accuracy: Accuracy of the probability of running out of memory, at 0.5
    oom_auc: Area under the ROC curve of that probability
    memory_median_error: Median of |predicted / measured - 1| of the peak memory
    mfu_mae_points: Mean error of the MFU, percentage points
    step_time_mape: Mean of |predicted / measured - 1| of the step time
    spearman: Rank correlation of throughput
    regret_safe_points: MFU points lost by the fastest predicted below 80 %
    regret_likely_points: MFU points lost by the fastest predicted below an OOM probability of 0.5
    pick_safe: Row of the fastest predicted below 80 %
    pick_likely: Row of the fastest predicted below an OOM probability of 0.5
    choices: Choices between at least six layouts of one model, batch and number of devices
    likely_out_of_memory: Choices whose pick ran out of memory
    regret_likely_share: Measured time per token of the other picks / the best measured one - 1, mean over the choices
    regret_likely_share_max: Largest regret_likely_share of a choice
    inside_interval: Share of step times inside the predicted interval
    spearman_pooled: Rank correlation of throughput over all rows in one ranking
    regret_safe_points_max: Largest regret_safe_points of a sweep
    regret_likely_points_max: Largest regret_likely_points of a sweep
    """

    sweep: str
    rows: int
    ok: int
    oom: int
    error: int
    modelled: int
    oom_caught: int
    oom_missed: int
    ok_kept: int
    ok_rejected: int
    oom_accuracy: Optional[float]
    oom_auc: Optional[float]
    memory_median_error: Optional[float]
    mfu_mae_points: Optional[float]
    step_time_mape: Optional[float]
    spearman: Optional[float]
    regret_safe_points: Optional[float]
    regret_likely_points: Optional[float]
    pick_safe: Optional[int]
    pick_likely: Optional[int]
    choices: int
    likely_out_of_memory: int
    regret_likely_share: Optional[float]
    regret_likely_share_max: Optional[float]
    inside_interval: Optional[float]
    spearman_pooled: Optional[float]
    regret_safe_points_max: Optional[float]
    regret_likely_points_max: Optional[float]


class ValidateAnswer(TypedDict):
    """meshwright validate --format json.

    schema_version: Version of what the keys mean
    sweeps: Sweeps, in the order of their first rows
    total: All rows together
    unreadable_rows: Rows that could not be read
    unreadable: Each row that could not be read
    not_modelled: Rows that could be read and not modelled, by cause
    """

    schema_version: int
    sweeps: List[ValidateAnswerSweeps]
    total: ValidateAnswerTotal
    unreadable_rows: int
    unreadable: List[UnreadableRow]
    not_modelled: List[Refusal]
