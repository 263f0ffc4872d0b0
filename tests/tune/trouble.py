# SPDX-License-Identifier: GPL-3.0-or-later
"""What faults and memory have in common: a home with stores, commands, and what each of them promises."""
import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import tempfile

BUILD = os.path.abspath(os.environ.get("BUILDDIR", "."))
PATIENCE = 300
LATE = 124  # in place of the status of a command that did not end
EVALUATIONS = 3
PROGRAM = ["--param", "X=1,2,3", "--metric", "value ([0-9]+)", "--", "echo", "value {X}"]
PARALLEL = "int main(void) { double s = 0;\n#pragma omp parallel for reduction(+:s)\nfor (int i = 0; i < 99999; i++) s += i; return s < 0; }\n"
# Stands for ssh: the last word is the line for the other side.
SSH = '#!/bin/sh\nfor word; do line=$word; done\nexec sh -c "$line"\n'


def tune(store):
    return ["tune", "--store", store, "--budget", f"{EVALUATIONS}e", "--seed", "1", "--quiet", "--json"]


def strace_filter():
    """With this option of strace (5.3) only the calls that it traces stop, of all that follow."""
    try:
        done = subprocess.run(["strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "trace=access", "true"], check=False,
                              capture_output=True)
    except OSError:
        return ()
    return ("--seccomp-bpf",) if done.returncode == 0 and not done.stderr else ()


FILTER = strace_filter()


class Home:
    """A folder with what the commands need: other.db is a store that holds results, and its profile."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="faults-")
        self.write("ssh", SSH, 0o755)
        self.environment = dict(os.environ, HOME=self.path, PATH=self.path + ":" + os.environ["PATH"], TMPDIR=self.path, XDG_RUNTIME_DIR=self.path, NO_COLOR="1", LC_ALL="C",
                                XDG_CACHE_HOME=os.path.join(self.path, "cache"), XDG_DATA_HOME=os.path.join(self.path, "data"),
                                SWEETSPOT_WORKER=os.path.join(BUILD, "sweetspot-worker"))

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.path, name)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)

    def prepare(self):
        """The first search, and its results as a file to share. What is wrong, or nothing."""
        if APP:
            with open(os.path.join(self.path, "app"), "wb") as file:
                file.write(APP)
            os.chmod(file.name, 0o755)
        for words in (tune("other.db") + PROGRAM, ["store", "export", "--store", "other.db", "--private", "-o", "shared.json"]):
            status, _, err = self.run(words)
            if status != 0:
                return err
        return ""

    def run(self, words, before=()):
        try:
            done = subprocess.run([*before, os.path.join(BUILD, "sweetspot"), *words], cwd=self.path, env=self.environment, check=False,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return LATE, "", "it did not end"
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def traced(self, words, options, worker):
        """Runs the command under strace, or its worker with all that the worker starts."""
        before = ["strace", "-qq", *(FILTER if worker or "-f" in options else ()), *options]
        if not worker:
            return self.run(words, before)
        wrapper = os.path.join(self.path, "worker")
        self.write("worker", "#!/bin/sh\nexec " + shlex.join(before + ["-f", os.path.join(BUILD, "sweetspot-worker")]) + ' "$@"\n', 0o755)
        environment = self.environment
        self.environment = dict(environment, SWEETSPOT_WORKER=wrapper)
        done = self.run(words)
        self.environment = environment
        return done

    def copy(self):
        other = Home()
        shutil.rmtree(other.path)
        shutil.copytree(self.path, other.path)
        return other

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)

    def file(self, name):
        with open(os.path.join(self.path, name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def rows(self, name):
        path = os.path.join(self.path, name)
        if not os.path.exists(path) or os.path.getsize(path) == 0:
            return set()
        connection = sqlite3.connect(path)
        try:
            if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                return None
            if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'trials'").fetchall():
                return set()
            return set(connection.execute("SELECT id, config, samples FROM trials"))
        finally:
            connection.close()


def whole_tune(home, out, store):
    """Everything that a tune promises, or the name of what is missing."""
    document = json.loads(out)
    if document["results"][0]["evaluations"] != EVALUATIONS:
        return "evaluations"
    if not document["profile"] or "entries" not in json.loads(home.file(document["profile"])):
        return "profile"
    return "" if len(home.rows(store) or ()) >= EVALUATIONS else "trials"


def some_tune(home, out):
    """Trials of a worker that fails may fail, too, but there is a result."""
    return "" if json.loads(out)["results"][0]["best"] and home.rows("new.db") else "a result"


def whole_text(name, end):
    def check(home, out):
        text = home.file(name) if name else out
        return "" if text.rstrip().endswith(end) else f"the end of {name or 'the output'}"
    return check


# name, words, words of the second run, what must be there
COMMANDS = [
    ("tune", tune("new.db") + PROGRAM, tune("new.db") + ["--resume"] + PROGRAM, lambda home, out: whole_tune(home, out, "new.db")),
    ("tune again", tune("other.db") + PROGRAM, None, lambda home, out: whole_tune(home, out, "other.db")),
    ("worker", tune("new.db") + PROGRAM, tune("new.db") + ["--resume"] + PROGRAM, some_tune),
    ("export", ["export", "--store", "other.db", "--format", "json", "-o", "out.json"], None, whole_text("out.json", "}")),
    ("export to stdout", ["export", "--store", "other.db", "--format", "json"], None, whole_text(None, "}")),
    ("report", ["report", "--store", "other.db", "-o", "page.html"], None, whole_text("page.html", "</html>")),
    ("merge", ["store", "merge", "--store", "merged.db", "other.db"], None,
     lambda home, out: "" if len(home.rows("merged.db") or ()) >= EVALUATIONS else "merged trials"),
    ("share", ["store", "export", "--store", "other.db", "--private", "-o", "again.json"], None,
     lambda home, out: "" if json.loads(home.file("again.json"))["searches"] else "searches"),
    ("import", ["store", "import", "--store", "imported.db", "shared.json"], None,
     lambda home, out: "" if len(home.rows("imported.db") or ()) >= EVALUATIONS else "imported trials"),
    ("compare", ["report", "--compare", "other.db", "other.db", "-o", "page.html"], None, whole_text("page.html", "</html>")),
    ("ssh", tune("new.db") + ["--launcher", "ssh", "--hosts", "node1"] + PROGRAM,
     tune("new.db") + ["--resume", "--launcher", "ssh", "--hosts", "node1"] + PROGRAM, lambda home, out: whole_tune(home, out, "new.db")),
]


def regions_app():
    """A program with parallel regions, as bytes; None: it cannot be built."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "app")
        source = os.path.join(folder, "app.c")
        with open(source, "w") as file:
            file.write(PARALLEL)
        try:
            done = subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-O1", "-fopenmp", source, "-o", program], check=False,
                                  capture_output=True)
        except OSError:
            return None
        if done.returncode != 0:
            return None
        with open(program, "rb") as file:
            return file.read()


APP = regions_app()

# One search more: a worker of the suite, whose space, kernel and binding are read, too.
KERNEL = ["synthetic", "--size", "n=100", "--set", "threads=1", "--set", "variant=b", "--range", "x=0,10", "--range", "y=1,16"]
COMMANDS.append(("kernel", tune("new.db") + KERNEL, tune("new.db") + ["--resume"] + KERNEL, some_tune))

CUDA = os.path.join(BUILD, "tests/gpu/injection/app")
# What a program left in its records is read by the tuner and by the worker.
if APP:
    COMMANDS.append(("regions", ["run", "--regions", "--json", "--", "./app"], None,
                     lambda home, out: "" if json.loads(out)["regions"] else "regions"))
if os.path.exists(CUDA) and os.path.exists(os.path.join(os.path.dirname(CUDA), "libcupti.so.13")):
    COMMANDS += [(name, ["run", "--device", "cuda", "--samples", "1", "--json", "--", CUDA, "some"], None,
                  lambda home, out: "" if json.loads(out)["gpu_work"]["functions"] else "functions of the GPU") for name in ("cuda", "cuda's worker")]


def home_of(base, name):
    """A copy of the home, with what the command of this name needs in its environment."""
    home = base.copy()
    if name.startswith("cuda"):
        home.environment["LD_LIBRARY_PATH"] = os.path.dirname(CUDA)
    return home
