# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs what the documents show. usage: blocks.py SOURCES SWEETSPOT FOLDER; prints TAP.

SWEETSPOT_BLOCKS names the documents to look at, by default all; SWEETSPOT_BLOCK_TIMES=1 prints what each command takes. Every line of every code block that begins with `sweetspot` is run in a folder that has the files which the documents speak of: with a
budget of two evaluations of each kernel or program, small problems, and --plan where a cluster or a long sweep is meant, or where earlier searches have run with
all its options. Documents that are JSON must be JSON, and
Python must compile. What cannot be used here (a GPU, Slurm) may end with status 4; a wrong option or kernel ends with 2.
"""
import ast, importlib.util, itertools, json, os, re, resource, shlex, subprocess, sys

import results
from markdown import blocks, documents
from results import tap

SOURCES, SWEETSPOT, FOLDER = sys.argv[1:4]
# Blocks of sh in the tutorials and doc/start.md are run one after the other by tests/doc/start, those with a real server by tests/tune/services,
# and the log of a first hour has mistakes.
APART = {"doc/start.md": "sh", "doc/services.md": "sh", **{f"doc/tutorial-{one}.md": "sh" for one in ("program", "kernel", "gpu", "centre")}, "doc/lab/first-hour.md": ""}
RUN = ("python.md", "from-kernel-tuner.md", "from-optuna.md")
searched = {}
SMALL = {"n": 64, "size": 1, "generations": 2, "loops": 2, "ops": 200, "iterations": 2, "clusters": 2, "coords": 2, "scale": 6, "steps": 2}


def commands(text):
    """The command lines of sweetspot in a block, joined, without prompts and without the explanations beside them."""
    for line in re.sub(r"\\\n\s*", "", text).split("\n"):
        line = re.sub(r"^\$ ", "", line)
        line = re.sub(r"^(salloc|flux alloc|srun)( -\S+)* (?=sweetspot )", "", line)
        if re.match(r"sweetspot( |$)", line):
            for gap in re.finditer(r"(?<=\S) {2,}(?=[^\s-])| +# | && ", line):
                if line[: gap.start()].count("'") % 2 == 0:
                    line = line[: gap.start()]
                    break
            yield line.replace(" [--device cuda]", "").strip()


def is_new(own, rest):
    """Has an earlier search run with all these options, on something of the same kind? Then its plan is all that is new."""
    first = own[1] if own[1:] and not own[1].startswith("-") else ""
    kind = "program" if rest else "plug-in" if first.endswith(".so") else os.path.splitext(first)[1] or "kernel"
    if kind == ".cl":  # tests/gpu/spec_opencl runs one, at length
        return False
    options = {w.split("=")[0] for w in own if w.startswith("--")} or {""}
    new = not options <= searched.setdefault(kind, set())
    searched[kind] |= options
    return new


def smaller(word):
    return re.sub(r"\b([a-z]+)=(\d+)", lambda m: f"{m[1]}={min(int(m[2]), SMALL.get(m[1], int(m[2])))}", word)


def shrink(words):
    """The same command, for a busy machine of two cores without a cluster."""
    own, rest = (words[: words.index("--")], words[words.index("--") :]) if "--" in words else (words, [])
    left_out = ("--budget", "--peers")
    own = [w for i, w in enumerate(own) if not (w in left_out or (i and own[i - 1] in left_out))]
    verb = own[0] if own else ""
    own = [own[0]] + [smaller(w) for w in own[1:]] if own else own
    if verb == "tune" and "--plan" not in own and (any("=/sys/" in w for w in own) or not is_new(own, rest)):
        own += ["--plan"]
    elif verb == "tune":
        own += [] if "--counters" in own else ["--counters", "none"]
        kernels = len(list(itertools.takewhile(lambda w: not w.startswith("-"), own[1:])))
        own += ["--budget", "5s" if "--regions" in own or "--sizes" in own else f"{2 * max(1, kernels)}e"] + (["--plan"] if "--sizes" in own else [])
    if verb in ("run", "compare") and own[1:2] and own[1] in ("fw", "gol") and not any(w.startswith("n=") for w in own):
        own.insert(2, "n=64")
    if verb == "tune" and not any(w.startswith("--size") for w in own):
        small = any(w in ("fw", "gol") or w.endswith(".so") for w in own[1:2])
        own += ["--size", "n=64"] if small else []
    if verb == "tune" and own[1:2] and own[1].endswith(".so"):
        own += ["--set", "threads=1"]  # its variants are close, and threads that wait for each other take most of the time
    if own[:2] == ["machine", "--ceilings"] and "--samples" not in own:
        own += ["--samples", "1"]
    if own[:2] == ["profile", "verify"] and "--kernel" not in own and len(own) == 2 + own.count("--ci") + 2 * own.count("--junit"):
        own += ["--kernel", "fw"]
    if (verb == "compare" or own[:2] == ["profile", "verify"]) and "--max-pairs" not in own:
        own += ["--max-pairs", "21"]
    if verb == "explain" and "--probe" in own:
        own += ["--budget", "1s"]
    if verb in ("replay", "score"):
        own += ["--budget", "5e"] + ([] if "--repeat" in own else ["--repeat", "2"])
    if verb == "sweep" or "--launcher" in own or own[:2] == ["fleet", "tune"]:
        own = [w for w in own if w not in ("--no-store", "--plan")] + ["--plan"]
    return own + rest


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(line, where):
    redirect = re.search(r"\s*>\s*(\S+)$", line)
    line = line[: redirect.start()] if redirect else line
    if re.search(r"[;|]|\.\.( |$)|\.\.\.$", re.sub(r"'[^']*'", "", line)) or re.search(r"\b(NAME|KERNEL)\b(?!\.)", line):
        return  # a sketch
    paths = []
    for word in shlex.split(line.replace("~/.local/share/sweetspot/fleet", "fleet"))[1:]:
        names = sorted(n for n in os.listdir(".") if n.endswith(".json.gz")) if word == "*.json.gz" else [word]
        paths += names
    words = shrink(paths)
    environment = {**os.environ, "PBS_NODEFILE": os.path.join(FOLDER, "nodefile")}
    before = processor_seconds()
    try:
        done = subprocess.run([SWEETSPOT, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, env=environment)
        status, said = done.returncode, done.stderr
    except subprocess.TimeoutExpired:
        status, said = 0, ""  # it was accepted, and runs; how long it takes is not the question
    if os.environ.get("SWEETSPOT_BLOCK_TIMES"):
        print(f"# {processor_seconds() - before:.1f} s {line[:100]}")
    # Times decide what these say, and 3 means that nothing was measured or recommended for that.
    fine = status in (0, 4) or (status == 1 and re.match(r"(profile verify|compare)", " ".join(words))) or status == 3
    tap(fine, f"{where}: {line}"[:150], f"{shlex.join(words)}: {status}\n{said}")


def modules(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)


def python(block, where, runs):
    """A block must compile; those of the documents about Python also run, with a budget of two evaluations, if their modules are here."""
    try:
        tree = ast.parse(block)
    except SyntaxError as error:
        tap(False, f"{where}: Python", str(error))
        return
    text = re.sub(r'budget="[^"]*"', 'budget="2e"', block)
    there = all(name == "sweetspot" or importlib.util.find_spec(name) for name in modules(tree))
    gpu = '"cuda"' in block or "cupy" in block
    if not runs or not there or gpu or sys.version_info < (3, 9):
        tap(True, f"{where}: Python compiles")
        return
    environment = {**os.environ, "SWEETSPOT": SWEETSPOT, "PYTHONPATH": SOURCES + "/python", "PYTHONDONTWRITEBYTECODE": "1"}
    with open("block.py", "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([sys.executable, "block.py"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, env=environment)
    tap(done.returncode == 0, f"{where}: Python runs", done.stdout + done.stderr)


def main():
    os.chdir(FOLDER)
    names = ["README.md", "python/README.md"] + documents(SOURCES)
    seen = set()
    names = [n for n in names if not os.environ.get("SWEETSPOT_BLOCKS") or n in os.environ["SWEETSPOT_BLOCKS"].split(",")]
    for name in names:
        with open(f"{SOURCES}/{name}", encoding="utf-8") as file:
            text = file.read()
        for line, kind, block in blocks(text):
            where = f"{name}:{line}"
            if kind == "python":
                python(block, where, os.path.basename(name) in RUN)
            if block.startswith("{") and '"schema": "sweetspot-' in block:
                try:
                    json.loads(block)
                    tap(True, f"{where}: a JSON document")
                except ValueError as error:
                    tap(False, f"{where}: a JSON document", str(error))
            for command in commands(block) if not (name in APART and kind.startswith(APART[name])) else ():
                if command not in seen:
                    seen.add(command)
                    run(command, where)
    tap(results.count > 100 or "SWEETSPOT_BLOCKS" in os.environ, f"{results.count} blocks and commands were looked at")
    results.tap_done()


main()
