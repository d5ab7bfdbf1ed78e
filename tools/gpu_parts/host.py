"""What the machine is: every result of the report stands beside it."""
import json
import os
import re
import shutil
import socket
import subprocess
import sys

GIB = 1 << 30
SMI_FIELDS = ("name", "driver_version", "memory.total", "power.limit", "clocks.max.sm")
TORCH = ("import json, torch; print(json.dumps([torch.__version__, torch.version.cuda, "
         "torch.backends.cudnn.version()]))")


def output_of(command, timeout_s=120):
    """What a command printed, or None where it failed or is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None


def parse_smi(csv):
    """The devices that `nvidia-smi --query-gpu` lists: one dict each."""
    rows = [line.split(", ") for line in csv.splitlines() if line.strip()]
    return [dict(zip(SMI_FIELDS, row)) for row in rows if len(row) == len(SMI_FIELDS)]


def visible(devices, variable):
    """How many of `devices` CUDA shows where CUDA_VISIBLE_DEVICES is `variable` (None: not set)."""
    if variable is None:
        return devices
    count = 0
    for entry in variable.split(","):
        entry = entry.strip()
        # CUDA stops at the first entry that names no device.
        if not (entry.isdigit() and int(entry) < devices) and not entry.startswith(("GPU-", "MIG-")):
            break
        count += 1
    return count


def parse_smi_list(text):
    """The devices that `nvidia-smi -L` lists: their names alone."""
    return [{"name": name} for name in re.findall(r"^GPU \d+: (.+?)(?: \(UUID.*)?$", text, re.MULTILINE)]


def cuda_facts():
    csv = output_of(["nvidia-smi", "--query-gpu=" + ",".join(SMI_FIELDS), "--format=csv,noheader"])
    devices = parse_smi(csv or "") or parse_smi_list(output_of(["nvidia-smi", "-L"]) or "")
    header = re.search(r"CUDA Version:\s*([\d.]+)", output_of(["nvidia-smi"]) or "")
    first = devices[0] if devices else {}
    return {"device": first.get("name"),
            "device_count": visible(len(devices), os.environ.get("CUDA_VISIBLE_DEVICES")),
            "device_memory": first.get("memory.total"),
            "power_limit": first.get("power.limit"),
            "sm_clock": first.get("clocks.max.sm"),
            "driver": first.get("driver_version"),
            "driver_cuda": header.group(1) if header else None}


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def cpu_name():
    found = re.search(r"^model name\s*:\s*(.+)$", read("/proc/cpuinfo"), re.MULTILINE)
    return found.group(1).strip() if found else None


def memory_bytes():
    found = re.search(r"^MemTotal:\s*(\d+) kB", read("/proc/meminfo"), re.MULTILINE)
    installed = int(found.group(1)) * 1024 if found else None
    limit = read("/sys/fs/cgroup/memory.max").strip()
    return min(int(limit), installed or int(limit)) if limit.isdigit() else installed


def machine_facts(devices):
    """`devices` is cuda or cpu: a rehearsal says nothing about a GPU that happens to be there."""
    torch = output_of([sys.executable, "-c", TORCH])
    version, cuda, cudnn = json.loads(torch.splitlines()[-1]) if torch else (None, None, None)
    cuda_part = cuda_facts() if devices == "cuda" else {"device": cpu_name(), "device_count": 0}
    return cuda_part | {"host": socket.gethostname(), "cpu": cpu_name(),
                        "cores": len(os.sched_getaffinity(0)), "memory_bytes": memory_bytes(),
                        "python": sys.version.split()[0], "python_torch": version,
                        "python_torch_cuda": cuda, "python_torch_cudnn": cudnn}


def why_no_device(facts):
    """One sentence where there is no CUDA device, else None."""
    if facts["device_count"] > 0:
        return None
    if facts["device"]:
        return f"CUDA_VISIBLE_DEVICES={os.environ['CUDA_VISIBLE_DEVICES']} hides every device"
    if os.path.exists("/dev/nvidiactl") and shutil.which("nvidia-smi") is None:
        return None  # the programs find out by themselves
    return "nvidia-smi shows no device"
