"""Lets every file operation of small jobs fail once, in turn, in the manner of SQLite's tests.

A first run of a job under strace lists its operations on files. Then the job runs once for each of them, and strace lets
that operation fail: with an error of the system, or, when reading, with the end of the file. However the job ends, it must

- end by itself, without a panic or a signal;
- either write the same bytes as without a fault, or say what is wrong on the standard error and exit with 1;
- leave no result behind when it failed, and no temporary file;
- leave everything so that the next run of the same job writes the same bytes.

The engine of the job `engine` is a process of its own. There, the connection breaks at each message, before it or in its
middle, and the next connection is whole. Once the engine has answered, the job must go on with that.
"""

import argparse
import collections
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
# How each operation fails, in strace's words. "retval=0" is the end of the file.
FAULTS = {
    "openat": ["error=EACCES", "error=EMFILE"],
    "read": ["error=EIO", "retval=0"],
    "pread64": ["error=EIO", "retval=0"],
    "write": ["error=ENOSPC"],
    "pwrite64": ["error=ENOSPC"],
    "statx": ["error=EIO"],
    "newfstatat": ["error=EIO"],
    "getdents64": ["error=EIO"],
    "lseek": ["error=EIO"],
    "mmap": ["error=ENOMEM"],
    "mkdir": ["error=ENOSPC"],
    "rename": ["error=EACCES"],
    "renameat": ["error=EACCES"],
    "renameat2": ["error=EACCES"],
    "linkat": ["error=EPERM"],
    "unlink": ["error=EACCES"],
    "unlinkat": ["error=EACCES"],
    "fsync": ["error=EIO"],
    "fdatasync": ["error=EIO"],
    "ftruncate": ["error=ENOSPC"],
    "flock": ["error=ENOLCK"],
}
# Operations whose failure leaves a temporary file behind, because they would remove it.
REMOVING = {"unlink", "unlinkat"}
# Files of which a part is as valid as the whole.
WHOLE_WHEREVER_THEY_END = {".toml"}
PATIENCE = 60
# Operations after which it says how far it is.
PROGRESS = 50
# Addresses of the starter's files that a job reads, without its training scripts and examples.
STARTER = ["model_index.json", "starter.toml", "scheduler", "text_encoder", "tokenizer", "transformer", "vae"]

Point = collections.namedtuple("Point", "operation path count fault")
# Names of temporary files, which differ from run to run.
TEMPORARY = re.compile(r"\.sluice-\w+\.tmp")
RELAY = pathlib.Path(__file__).resolve().with_name("relay.py")
# Messages in each direction until the engine has answered. A command that ends before that is no engine.
OPENING = 2


class Job:
    """A job, with files of its own in a folder that is made anew for each run."""

    def __init__(self, name, arguments, result):
        self.name, self.arguments, self.result = name, arguments, result

    def prepare(self, folder, model, image):
        shutil.rmtree(folder, ignore_errors=True)
        for name in ["data", "config", "cache", "out"]:
            (folder / name).mkdir(parents=True)
        # A file that is linked keeps its bytes: no job writes to its inputs.
        shutil.copytree(model, folder / "model", copy_function=os.link)
        os.link(image, folder / "input.png")

    def command(self, program):
        return [program, *self.arguments, "--threads", "1"]

    def may_fail(self, point):
        """Whether the job may end in words when a point fails; else it goes on."""
        return True

    def points(self, program, folder):
        """The points at which the job can fail, and for each by what `fail` finds its file."""
        return traced(self, program, folder)

    def fail(self, program, folder, point, name):
        """Lets the job fail at a point; its code, what it says, and whether it got there."""
        inject = f"inject={point.operation}:{point.fault}:when={point.count}"
        file = ["-P", name] if name else []
        strace = ["strace", "-f", "-qq", "-o", "trace", *file, "-e", f"trace={point.operation}", "-e", inject]
        code, errors = run([*strace, *self.command(program)], folder)
        return code, errors, "INJECTED" in (folder / "trace").read_text(errors="replace")


class EngineJob(Job):
    """A job whose engine is behind a relay, which breaks the connection."""

    def command(self, program, point="none"):
        relay = shlex.join([sys.executable, str(RELAY), "notes", point, program, "worker", "--own"])
        return [*super().command(program), "--engine", relay]

    def prepare(self, folder, model, image):
        super().prepare(folder, model, image)
        (folder / "notes").mkdir()

    def may_fail(self, point):
        return point.count <= OPENING

    def points(self, program, folder):
        code, errors = run(self.command(program, "count"), folder)
        if code != 0:
            sys.exit(f"{self.name}: the job fails without a fault: {errors}")
        counts = {to: len((folder / "notes" / to).read_bytes()) for to in ["engine", "program"]}
        places = [(to, number) for to, count in counts.items() for number in range(1, count + 1)]
        return {Point("message", f"to the {to}", number, part): to for to, number in places for part in ["none", "half"]}

    def fail(self, program, folder, point, name):
        command = self.command(program, f"{name}:{point.count}:{point.fault}")
        code, errors = run(command, folder)
        return code, errors, (folder / "notes/broken").exists()


JOBS = [
    Job(
        "image",
        "generate --model model --prompt sea --seed 3 --width 64 --height 64 --steps 1 --offload layer_streaming --optimize-for memory "
        "--telemetry out/telemetry.jsonl --output out/image.png".split(),
        "image.png",
    ),
    Job(
        "input",
        "generate --model model --prompt sea --seed 3 --width 64 --height 64 --steps 1 --init-image input.png "
        "--output out/image.webp".split(),
        "image.webp",
    ),
    Job("upscale", "upscale input.png --scale 2 --output out/image.png".split(), "image.png"),
    EngineJob(
        "engine",
        "generate --model model --prompt sea --seed 3 --width 64 --height 64 --steps 1 --init-image input.png "
        "--output out/image.png".split(),
        "image.png",
    ),
]


def environment(folder):
    kept = {name: value for name, value in os.environ.items() if name in ["PATH", "LANG"]}
    places = {"HOME": "", "XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": "config", "XDG_CACHE_HOME": "cache"}
    return kept | {name: str(folder / place) for name, place in places.items()}


def run(command, folder):
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return None, "it does not end"
    return done.returncode, done.stderr


def bytes_of(folder, job):
    file = folder / "out" / job.result
    return file.read_bytes() if file.exists() else None


def traced(job, program, folder):
    """The operations of the job on its own files, and the name by which strace finds the file of each.

    Each has its number on that file within its thread; on temporary files, its number on all files, and no name.
    """
    log = folder / "trace"
    operations = ",".join(f"?{operation}" for operation in FAULTS)
    command = ["strace", "-f", "-y", "-s", "0", "-qq", "-e", f"trace={operations}", "-o", str(log)]
    code, errors = run([*command, *job.command(program)], folder)
    if code != 0:
        sys.exit(f"{job.name}: the job fails without a fault: {errors}")
    counts = collections.Counter()
    found = {}
    for line in log.read_text(errors="replace").splitlines():
        # `1234 openat(AT_FDCWD</where>, "model/vae", …`: a file by its descriptor, or by its name.
        match = re.match(r"(\d+) +(\w+)\((.*)", line)
        if not match or match[2] not in FAULTS or "resumed>" in line:
            continue
        thread, operation, rest = match.groups()
        name = re.search(r'"([^"]+)"', rest)
        opened = re.search(r"\d+<(/[^>]*)>", rest)
        counts[thread, operation] += 1
        if operation == "mmap" and "MAP_ANONYMOUS" in rest:
            continue
        path = os.path.normpath(folder / name[1]) if name else opened and opened[1]
        if not path or not path.startswith(str(folder)):
            continue
        counts[thread, operation, path] += 1
        is_temporary = TEMPORARY.search(path)
        count = counts[thread, operation] if is_temporary else counts[thread, operation, path]
        for fault in FAULTS[operation]:
            if fault == "retval=0" and pathlib.Path(path).suffix in WHOLE_WHEREVER_THEY_END:
                continue
            point = Point(operation, path, count, fault)
            found.setdefault(point, None if is_temporary else name[1] if name else path)
    return found


def judge(job, program, folder, point, name, expected):
    """How the job ends when a point fails, and what is wrong with that; None if nothing is."""
    code, errors, happened = job.fail(program, folder, point, name)
    end = "went on" if code == 0 else "failed in words"
    end = end if happened else "not reached"
    left = sorted(path.name for path in (folder / "out").iterdir())
    result = bytes_of(folder, job)
    faults = []
    if code not in [0, 1] or "panicked" in errors:
        faults.append(f"ends with {code}: {errors[-600:]}")
    if code == 0 and result != expected:
        faults.append("succeeds with other bytes" if result else "succeeds without a result")
    if code == 1 and not job.may_fail(point):
        faults.append(f"does not go on: {errors[-300:]}")
    if code == 1 and "error: " not in errors:
        faults.append(f"fails without a word: {errors[-300:]!r}")
    if code == 1 and result is not None and result != expected:
        faults.append("leaves a result that is not whole")
    strange = [file for file in left if file not in [job.result, "telemetry.jsonl"]]
    if strange and point.operation not in REMOVING:
        faults.append(f"leaves {', '.join(strange)}")
    # The next job runs.
    shutil.rmtree(folder / "out")
    (folder / "out").mkdir()
    code, errors = run(job.command(program), folder)
    if code != 0 or bytes_of(folder, job) != expected:
        faults.append(f"the next run ends with {code}: {errors[-300:]}")
    return end, "; ".join(faults) or None


def shard_of(text):
    """Which of how many shards "2/5" is."""
    shard, shards = map(int, text.split("/"))
    if not 1 <= shard <= shards:
        raise ValueError(text)
    return shard, shards


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", default=",".join(job.name for job in JOBS))
    parser.add_argument("--shard", default="1/1", type=shard_of, help="of each job only every nth operation, as in 2/5")
    parser.add_argument("--list", action="store_true", help="list the operations and let none fail")
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    parser.add_argument("program", nargs="?", default=target / "release/sluice", type=pathlib.Path)
    arguments = parser.parse_args()
    program = str(arguments.program.resolve(strict=True))
    chosen = arguments.jobs.split(",")
    workers = len(os.sched_getaffinity(0))
    failed = 0
    with tempfile.TemporaryDirectory(prefix="sluice-faults-") as scratch:
        scratch = pathlib.Path(scratch)
        model, image = scratch / "model", scratch / "input.png"
        model.mkdir()
        for name in STARTER:
            source = REPOSITORY / "assets/starter" / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, model / name)
        shutil.copy(next((REPOSITORY / "assets/starter/examples").glob("*.png")), image)
        for job in (job for job in JOBS if job.name in chosen):
            folder = scratch / "first"
            job.prepare(folder, model, image)
            found = job.points(program, folder)
            expected = bytes_of(folder, job)
            relative = lambda point: point.path.removeprefix(str(folder) + "/")
            if arguments.list:
                for point in found:
                    print(job.name, point.operation, relative(point), point.count, point.fault)
                continue
            free = [scratch / f"run-{number}" for number in range(workers)]

            def tried(point):
                own = free.pop()
                job.prepare(own, model, image)
                name = found[point]
                here = name and name.replace(str(folder), str(own))
                end, wrong = judge(job, program, own, point, here, expected)
                free.append(own)
                return point, end, wrong

            shard, shards = arguments.shard
            mine = list(found)[shard - 1 :: shards]
            with ThreadPoolExecutor(workers) as pool:
                ends = collections.Counter()
                for number, (point, end, wrong) in enumerate(pool.map(tried, mine), 1):
                    ends[end] += 1
                    if number % PROGRESS == 0:
                        print(f"{job.name}: {number} of {len(mine)}", file=sys.stderr, flush=True)
                    if wrong:
                        failed += 1
                        print(f"{job.name}: {point.operation} {relative(point)} #{point.count} {point.fault}: {wrong}", flush=True)
            files = len({point.path for point in mine})
            summary = ", ".join(f"{count} {end}" for end, count in ends.items())
            print(f"{job.name}: {len(mine)} of {len(found)} faults at {files} files: {summary}", flush=True)
    print(f"{failed} wrong" if failed else "all jobs end as they should")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
