# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles, reads or sends what the documents show. usage: code.py SOURCES BUILD SWEETSPOT FOLDER; prints TAP.

C and C++ become the body of a function, are linked with libsweetspot and run; Fortran likewise. JSON that has a schema must satisfy it,
other JSON must be JSON. Jobs of a CI service are read, and their commands of sweetspot run. Each request of doc/protocol.md is sent to a
worker: it must be accepted, its reply must have the members that the page shows, and every member it has must be on the page.
"""
import glob, json, os, re, shlex, shutil, subprocess, sys, xml.etree.ElementTree

import results
from markdown import blocks, documents
from results import tap

SOURCES, BUILD, SWEETSPOT, FOLDER = sys.argv[1:5]


def read(path):
    with open(os.path.join(SOURCES, path), encoding="utf-8") as file:
        return file.read()


def run(argv, **how):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, **how)
    return done.returncode, done.stdout + done.stderr


# What the surroundings of a fragment declare, by what it uses.
AROUND = {
    "sweetspot_lookup(profile": "sweetspot_profile *profile = NULL; struct sweetspot_value problem = {\"n\", 64, NULL}; "
    "struct sweetspot_match match; long long block = 0; (void)block;"
}


def c_text(block):
    block = re.split(r"\n\n(?=cc )", block)[0]
    head = [line for line in block.split("\n") if line.startswith("#include")]
    body = "\n".join(";" if line.strip() == "..." else line for line in block.split("\n") if not line.startswith("#include"))
    around = "" if "sweetspot_open(" in body else "".join(text for word, text in AROUND.items() if word in body)
    return "\n".join(["#include <stdio.h>", "#include <sweetspot.h>", *head, "int main(void) {", around, body, "return 0; }\n"])


def fortran_text(block):
    body = "\n".join("" if line.strip() == "..." else "  " + line for line in block.split("\n"))
    return f"program shown\n{body}\nend program\n"


def compile_and_run(text, compiler, suffix, where):
    with open(f"shown.{suffix}", "w", encoding="utf-8") as file:
        file.write(text)
    libraries = os.path.join(BUILD, ".libs")
    argv = [*compiler, "-I", f"{SOURCES}/lib", f"shown.{suffix}", "-o", "shown", "-L", libraries, "-lsweetspot"]
    status, said = run(argv)
    if status == 0:
        path = os.pathsep.join(filter(None, [libraries, os.environ.get("LD_LIBRARY_PATH")]))
        status, said = run(["./shown"], env={**os.environ, "LD_LIBRARY_PATH": path})
    tap(status == 0, f"{where}: compiles and runs as {suffix}", f"{text}\n{shlex.join(argv)}: {status}\n{said}")


def instrumented():
    """True if programs need the run time of a sanitizer to load the library."""
    library = os.path.join(BUILD, ".libs", "libsweetspot.so")
    return re.search(rb"__(asan|tsan|ubsan)_", open(library, "rb").read()) is not None


def compiled(text, kind, where):
    strict = ["-Wall", "-Werror", "-Wno-unused-variable"]  # a fragment need not use what it computes
    compilers = {"c": [os.environ.get("CC", "cc"), *strict], "cpp": ["g++", *strict], "f90": ["gfortran"]}
    for suffix in ("c", "cpp") if kind == "c" else ("f90",):
        compiler = compilers[suffix]
        if instrumented():
            tap(True, f"{where}: {suffix}", skip="the library needs the run time of a sanitizer")
        elif shutil.which(compiler[0]):
            compile_and_run(text, compiler, suffix, where)
        else:
            tap(True, f"{where}: {suffix}", skip=f"no {compiler[0]}")


def schemas_all():
    for path in glob.glob(f"{SOURCES}/data/schema/*.json"):
        with open(path, encoding="utf-8") as file:
            yield json.load(file)


def validator_of(word, jsonschema):
    """For documents that name themselves so, or None. Schemas name each other by their file."""
    schemas = list(schemas_all())
    found = [schema for schema in schemas if f'"const": "{word}"' in json.dumps(schema)]
    if not found:
        return None
    try:
        from referencing import Registry, Resource
    except ImportError:  # before 4.18
        store = {s["$id"]: s for s in schemas}
        return jsonschema.Draft202012Validator(found[0], resolver=jsonschema.RefResolver(found[0]["$id"], found[0], store))
    registry = Registry().with_resources((s["$id"], Resource.from_contents(s)) for s in schemas)
    return jsonschema.Draft202012Validator(found[0], registry=registry)


def schemas_checked():
    """Each is a schema. tests/schema.py takes that for granted."""
    try:
        import jsonschema
    except ImportError:
        return tap(True, "each schema is one", skip="no jsonschema")
    wrong, looked_at = [], 0
    for schema in schemas_all():
        looked_at += 1
        try:
            jsonschema.Draft202012Validator.check_schema(schema)
        except jsonschema.SchemaError as error:
            wrong.append(f"{schema.get('$id')}: {error.message}")
    return tap(not wrong and looked_at > 20, f"each of {looked_at} schemas is one", "\n".join(wrong))


def checked(block, where):
    try:
        document = json.loads(block)
    except ValueError as error:
        return tap(False, f"{where}: JSON", str(error))
    if "schema" not in document:
        return tap(True, f"{where}: JSON")
    try:
        import jsonschema
    except ImportError:
        return tap(True, f"{where}: a {document['schema']}", skip="no jsonschema")
    validator = validator_of(document["schema"], jsonschema)
    problems = [e.message for e in validator.iter_errors(document)] if validator else ["no schema has that name"]
    return tap(not problems, f"{where}: a {document['schema']}", "\n".join(problems))


def steps(list_of_steps, inputs, where):
    """Steps of a GitHub workflow: our own action has the inputs that they give."""
    for step in list_of_steps:
        if "uses" in step:
            tap(step["uses"].startswith("sweetspot-tuner/sweetspot@") and set(step["with"]) <= set(inputs), f"{where}: the action has these inputs", f"{step} {list(inputs)}")
    return None


def job(block, where):
    """A job of a CI service: a list of commands, and what it keeps. Those of sweetspot are run, the others must exist."""
    try:
        import yaml
    except ImportError:
        return tap(True, f"{where}: YAML", skip="no PyYAML")
    try:
        jobs = yaml.safe_load(block)
    except yaml.YAMLError as error:
        return tap(False, f"{where}: YAML", str(error))
    if isinstance(jobs, list):
        return steps(jobs, yaml.safe_load(read("action.yml"))["inputs"], where)
    for name, one in jobs.items():
        for line in one["script"]:
            for command in line.split(" && "):
                words = shlex.split(command)
                if words[0] != "sweetspot":
                    tap(bool(shutil.which(words[0])), f"{where}: {words[0]} exists")
                    continue
                status, said = run([SWEETSPOT, *words[1:]])
                tap(status in (0, 1), f"{where}: {command}", f"{status}\n{said}")  # 1: the new one was slower
        for kept in one["artifacts"]["reports"].values():
            tap(xml.etree.ElementTree.parse(kept).getroot().tag.startswith("testsuite"), f"{where}: the job {name} leaves {kept}")
    return None


class Worker:
    """A worker that is asked one line at a time."""

    def __init__(self):
        self.process = subprocess.Popen([os.environ["SWEETSPOT_WORKER"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        reply = self.process.stdout.readline()
        return json.loads(reply) if reply else None

    def end(self):
        self.process.stdin.close()
        return self.process.wait(30)


def with_asan():
    with open(os.path.join(BUILD, "Makefile"), encoding="utf-8") as file:
        return "-fsanitize=address" in file.read()


def members(text):
    """The names at the top of a reply as it is shown, which may be abridged, and of one without its braces."""
    depth, names = 0 if text.lstrip().startswith("{") else 1, []
    for sign in re.finditer(r'"((?:[^"\\]|\\.)*)"(\s*:)?|[{}\[\]]', text):
        if sign[0] in "{[":
            depth += 1
        elif sign[0] in "}]":
            depth -= 1
        elif depth == 1 and sign[2]:
            names.append(sign[1])
    return names


def here(request, shown):
    """The same request with files of this folder in place of those that the page names, and time for a busy machine."""
    request.update({key: 1000 for key in ("limit_s", "timeout_s") if key in request})
    for key, value in {"cwd": FOLDER, "library": f"{FOLDER}/none.so"}.items():
        if key in request:
            request[key] = value
    if request["op"] == "compile":
        first, second = shown
        request["problem"]["text"] = first.replace("/path/x.cu", f"{FOLDER}/x.cu").replace("/path", FOLDER)
        request["config"]["text"] = second
    return request


# Members that the page shows and that this machine, kernel or program need not have.
ELSEWHERE = {"figures", "series", "gpu", "regions"}


def accepted(request, reply):
    """A request that is right may still ask for a device or a file that is not here, and the reply says so."""
    error = reply.get("error")
    if not error:
        return reply.get("status", "correct") == "correct"
    return error.get("code") == "unavailable" or ("library" in request and "none.so" in error["what"])


def protocol():
    name, text = "doc/protocol.md", read("doc/protocol.md")
    described = set(re.findall(r'"(\w+)"', text)) | {word for part in re.findall(r"`([^`]*)`", text) for word in re.findall(r"\w+", part)}
    found = [(line, block) for line, kind, block in blocks(text)]
    texts = next(re.split(r"\n(?=\{)", block) for _, block in found if '"function": "f"' in block)
    requests = [(line, block) for line, block in found if block.startswith('{"op"')]
    inline = [(text[: m.start()].count("\n") + 1, m[1]) for m in re.finditer(r'`(\{"op":.*?\})`', text)]
    replies = {line: block for line, block in found if not block.startswith('{"op"')}
    worker, sent = Worker(), 0
    for line, block in sorted(requests + inline):
        try:
            request = here(json.loads(block), texts)
        except ValueError as error:
            tap(False, f"{name}:{line}: a request", f"{block}\n{error}")
            continue
        reply = worker.ask(request)
        sent += 1
        if reply is None and with_asan():
            tap(True, f"{name}:{line}: {request['op']} is accepted", skip="AddressSanitizer ends a worker that opens CUPTI (RTLD_DEEPBIND)")
            worker = Worker()
            continue
        tap(reply is not None and accepted(request, reply), f"{name}:{line}: {request['op']} is accepted", json.dumps(reply)[:600])
        unknown = [key for key in reply or {} if key not in described]
        tap(not unknown, f"{name}:{line}: every member of the reply is on the page", str(unknown))
        after = [at for at in replies if line < at]
        if reply and "samples" in reply:
            missing = [key for key in members(replies[min(after)]) if key not in reply and key not in ELSEWHERE]
            tap(not missing, f"{name}:{line}: the reply has what is shown", f"{missing} {reply}"[:600])
    wrong = json.loads(next(block for line, block in requests if '"op":"trial"' in block))
    wrong["config"]["blok"] = wrong["config"].pop("block")
    shown = json.loads(next(block for line, block in sorted(replies.items()) if '"error"' in block))
    tap(worker.ask(wrong) == shown, f"{name}: the error that is shown is the error that is sent")
    tap(worker.end() == 0 and sent >= 8, f"{name}: {sent} requests were sent, and the worker ends with its input")


def manual():
    """The example of libsweetspot(3), between .nf and .fi."""
    for block in re.findall(r"\.nf\n(.*?)\.fi", read("man/libsweetspot.3"), re.S):
        text = block.replace("\\en", "\\n").replace("\\-", "-")
        if "sweetspot_open(" in text and not text.startswith("."):
            compiled(c_text(text), "c", "man/libsweetspot.3")


def main():
    os.chdir(FOLDER)
    for name in ["README.md", "python/README.md"] + documents(SOURCES):
        for line, kind, block in blocks(read(name)):
            where = f"{name}:{line}"
            if re.search(r"^(#include <sweetspot|const sweetspot_)", block):
                compiled(c_text(block), "c", where)
            elif block.startswith("call sweetspot_"):
                compiled(fortran_text(block), "f90", where)
            elif kind == "yaml":
                job(block, where)
            elif re.match(r'"\w+":', block) and name != "doc/protocol.md":
                checked("{" + block + "}", where)
            elif block.startswith("{") and name != "doc/protocol.md":
                for one in re.split(r"\n(?=\{)", block):
                    checked(one, where)
    schemas_checked()
    manual()
    protocol()
    tap(results.count >= 40, f"{results.count} pieces of code were looked at")
    results.tap_done()


main()
