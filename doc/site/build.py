#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: build.py SOURCES FOLDER [PROGRAM]: the documents as a site in FOLDER, with Sphinx, MyST and the theme furo.

The documents are taken as they are. Beside them are pages that are made here: the manual pages, the schemas of JSON documents, the reference of libsweetspot
and of the Python package from their sources, and, if the program is built, --help of each command and a gallery of reports. In a document, a line
`<!-- words: CI, GitHub -->` names words that the search shall find it by.
"""
import ast, glob, html, json, os, re, shutil, subprocess, sys

try:
    import furo, myst_parser, sphinx.cmd.build
except ImportError:  # another Python may have Debian's packages
    if os.path.realpath(sys.executable) != os.path.realpath("/usr/bin/python3") and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    sys.exit("build.py: error: Sphinx, MyST or furo is missing\n  hint: install the packages python3-sphinx python3-myst-parser furo")

SOURCES, FOLDER = (os.path.abspath(path) for path in sys.argv[1:3])
PROGRAM = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 and os.access(sys.argv[3], os.X_OK) else None
STAGE = FOLDER + ".src"
STRICT = "STRICT" in os.environ  # a warning is an error, for tests
# The order of the navigation. A document that is not named goes to the last part, so that none is lost.
PARTS = {
    "Begin": ["doc/start", "doc/tutorial-*", "doc/faq", "doc/comparison"],
    "How to": ["doc/programs", "doc/regions", "doc/mpi", "doc/services", "doc/energy", "doc/regression-tests", "doc/python", "doc/plugins", "doc/gpu", "doc/specifications",
               "doc/sizes", "doc/counters", "doc/fleet", "doc/tables", "doc/from-*", "doc/experiments"],
    "Gallery": ["gallery/index"],
    "Reference": ["reference/sweetspot", "reference/help", "reference/exit-status", "reference/environment", "reference/json", "reference/*", "doc/protocol", "doc/stability"],
    "How it works": ["doc/measurement", "doc/search", "doc/models", "doc/reasons", "doc/replay", "doc/contents"],
    "Project": ["HACKING", "CONTRIBUTING", "SECURITY", "doc/fuzzing", "doc/adr/*", "doc/lab/*", "packaging/*", "python/*", "*", "doc/*", "NEWS"],
}


def read(path):
    with open(os.path.join(SOURCES, path), encoding="utf-8") as file:
        return file.read()


def write(page, text):
    path = os.path.join(STAGE, page)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def output(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}).stdout


def fenced(text, language=""):
    return f"\n````{language}\n{text.strip()}\n````\n"


# --- manual pages
FONTS = {"B": "**", "I": "*", "R": ""}


def marked(text, font):
    text = re.sub(r"([*_<>\[\]`\\])", r"\\\1", text)
    space = re.match(r"(\s*)(.*?)(\s*)$", text, re.S)
    mark = FONTS[font]
    return space[1] + (mark + space[2] + mark if space[2] else "") + space[3]


def plain(text):
    for name, sign in ((r"\(aq", "'"), (r"\(bu", "•"), (r"\-", "-"), (r"\&", ""), (r"\e", "\\"), (r"\ ", " ")):
        text = text.replace(name, sign)
    return text


def inline(text, font="R"):
    """Text of a line with \\fB and the like as Markdown."""
    done = ""
    for part in re.split(r"(\\f[BIRP])", text):
        if re.fullmatch(r"\\f[BIRP]", part):
            font = part[2] if part[2] != "P" else "R"
        elif part:
            done += marked(plain(part), font)
    return done


def words_of(line):
    return [quoted.replace('""', '"') if quoted else word for quoted, word in re.findall(r'"((?:[^"]|"")*)"|(\S+)', line)]


def manual(name):
    """man/NAME as a list of (heading, Markdown)."""
    parts, code, term, indent = [["", ""]], False, False, ""
    for line in read("man/" + name).split("\n"):
        macro, _, rest = line.partition(" ")
        if line.startswith('.\\"') or macro in (".TH", ".so"):
            continue
        if macro in (".EX", ".nf", ".EE", ".fi"):
            code = macro in (".EX", ".nf")
            parts[-1][1] += f"\n{indent}````" + ("text" if code else "") + "\n"
        elif code:
            text = "".join(words_of(rest)) if line.startswith(".B") else "" if line.startswith(".") else line
            parts[-1][1] += indent + re.sub(r"\\f[BIRP]", "", plain(text)) + "\n"
        elif macro == ".SH":
            indent = ""
            parts.append([rest.capitalize(), ""])
        elif macro == ".SS":
            indent = ""
            title = plain(rest)
            again = re.search(r"### `([^`]*)`\n\n$", parts[-1][1])
            parts[-1][1] += f"`{title}`\n\n" if again or parts[-1][1].endswith("`\n\n") else f"\n\n### `{title}`\n\n"
        elif macro in (".PP", ".TP", ".IP"):
            term = macro == ".TP"
            indent = "" if macro == ".PP" else "  "
            parts[-1][1] += "\n\n" if macro == ".PP" else f"\n\n- {inline(' '.join(words_of(rest)[:1])) + ' ' if macro == '.IP' else ''}"
        elif macro == ".br":
            parts[-1][1] += "\\\n" + indent
        else:
            fonts = macro[1:] if re.fullmatch(r"\.[BIR]{1,2}", macro) else ""
            text = "".join(inline(word, fonts[i % 2]) for i, word in enumerate(words_of(rest))) if len(fonts) == 2 else inline(" ".join(words_of(rest)), fonts) if fonts else inline(line)
            parts[-1][1] += text.replace("****", "") + ("\\\n  " if term else "\n" + indent)
            term = False
    return parts


def manuals():
    for name in sorted(os.listdir(os.path.join(SOURCES, "man"))):
        if not re.search(r"\.[135]$", name):
            continue
        parts = manual(name)
        own = {"Exit status": "exit-status", "Environment": "environment"} if name == "sweetspot.1" else {}
        page = f"# {name[:-2]}({name[-1]})\n"
        for heading, text in parts[1:]:
            if heading in own:
                write(f"reference/{own[heading]}.md", f"<!-- words: {heading.lower()}, exit code, environment variable -->\n# {heading}\n{text}\n")
                text = f"\nSee [{heading.lower()}]({own[heading]}.md).\n"
            page += f"\n## {heading}\n\n{text}\n"
        write(f"reference/{name[:-2]}.md", page)


# --- JSON
def kind(value):
    """A word for the type of a member."""
    if not isinstance(value, dict):
        return "anything"
    if "$ref" in value:
        return value["$ref"].split("/")[-1]
    if "const" in value:
        return json.dumps(value["const"])
    if "enum" in value:
        return ", ".join(json.dumps(one) for one in value["enum"])
    for many in ("anyOf", "oneOf"):
        if many in value:
            return " or ".join(kind(one) for one in value[many])
    types = value.get("type", "anything")
    text = " or ".join(types) if isinstance(types, list) else types
    return f"array of {kind(value['items'])}" if "array" in text and "items" in value else text


def members(title, schema):
    own = schema.get("properties", {})
    if not own:
        return ""
    text = f"\n## {title}\n\n{schema.get('description', '')}\n\n| member | type | |\n|---|---|---|\n"
    for name, value in own.items():
        optional = "" if name in schema.get("required", []) else "optional. "
        about = value.get("description", "") if isinstance(value, dict) else ""
        text += f"| `{name}` | {kind(value)} | {optional}{about} |".replace("\n", " ").replace("<", "&lt;") + "\n"
    for name, value in own.items():
        inner = value.get("items", value) if isinstance(value, dict) else {}
        text += members(f"{title}.{name}", inner) if isinstance(inner, dict) and inner.get("properties") else ""
    return text


def schemas():
    index = "<!-- words: JSON, schema, --json -->\n# JSON documents\n\n`--json` prints one document on stdout, whose member `schema` names its kind and version ([what stays the same](../doc/stability.md)). " \
        "The schemas (JSON Schema, 2020-12) are installed in `share/sweetspot/schema`.\n\n| document | |\n|---|---|\n"
    for path in sorted(glob.glob(f"{SOURCES}/data/schema/*.json")):
        schema, name = json.loads(read(path)), os.path.basename(path)[:-5]
        text = f"# {name}\n\n{schema.get('title', '')}\n" + members("document", schema)
        write(f"reference/json/{name}.md", text + "".join(members(one, definition) for one, definition in schema.get("$defs", {}).items()))
        index += f"| [{name}](json/{name}.md) | {schema.get('title', '')} |\n"
    write("reference/json.md", index)


# --- interfaces, from the comments of their sources
def python_page():
    text = '<!-- words: Python -->\n# Python package: reference\n\nThe guide is [Python](../doc/python.md).\n'
    public = ast.literal_eval(re.search(r"__all__ = (\[.*?\])", read("python/sweetspot/__init__.py"), re.S)[1])
    found = {}
    for path in sorted(glob.glob(f"{SOURCES}/python/sweetspot/*.py")):
        for node in ast.parse(read(path)).body:
            if getattr(node, "name", None) in public:
                found.setdefault(node.name, node)
    for name in public:
        text += f"\n## {name}\n" + (described(found[name]) if name in found else "")
        for method in getattr(found.get(name), "body", []):
            if isinstance(found[name], ast.ClassDef) and isinstance(method, ast.FunctionDef) and ast.get_docstring(method) and not method.name.startswith("_"):
                text += f"\n### {name}.{method.name}\n" + described(method)
    write("reference/python-package.md", text)


def described(node):
    head = f"class {node.name}" if isinstance(node, ast.ClassDef) else f"{node.name}({ast.unparse(node.args)})"
    return fenced(head, "python") + "\n" + fenced(ast.get_docstring(node) or "", "text")


def library_page():
    text = "<!-- words: libsweetspot, C, C++, Fortran -->\n# libsweetspot: C, C++ and Fortran\n\nThe manual pages [libsweetspot(3)](libsweetspot.md) and " \
        "[sweetspot\\_begin(3)](sweetspot_begin.md) explain the functions. Here are the interfaces of the three languages. [What stays the same](../doc/stability.md).\n"
    for language, name, lexer in (("C", "sweetspot.h", "c"), ("C++", "sweetspot.hpp", "cpp"), ("Fortran", "sweetspot.f90", "fortran")):
        text += f"\n## {language}: `{name}`\n" + fenced(read("lib/" + name), lexer)
    write("reference/interfaces.md", text)


# --- output of the program
def commands():
    names = sorted(set(re.findall(r"^\.SS sweetspot ([a-z]+) ", read("man/sweetspot.1"), re.M)))
    write("reference/help.md", "# --help of each command\n" + "".join(f"\n## sweetspot {name}\n" + fenced(output(*name.split(), "--help"), "text") for name in ["", *names]))


def gallery():
    text = "<!-- words: gallery, example, report, chart -->\n# Gallery\n\nWhat `sweetspot report --from FILE` makes of tables of times and of recorded sweeps. A picture leads to its report.\n\n"
    made = os.path.join(STAGE, "extra", "gallery")
    os.makedirs(made)
    for path in sorted(glob.glob(f"{SOURCES}/tests/explain/recorded/*.json") + glob.glob(f"{SOURCES}/tests/explain/tables/[!n]*.csv")):
        name = os.path.splitext(os.path.basename(path))[0]
        figures = os.path.join(STAGE, "figures", name)
        output("report", "--from", path, "-o", f"{made}/{name}.html", "--figures", figures, "-q")
        charts = sorted(glob.glob(figures + "/*.svg"), key=os.path.getsize)
        if not charts:
            continue
        shutil.copy(charts[-1], f"{made}/{name}.svg")
        title = html.unescape(re.search(r"<title[^>]*>(.*?)</title>", open(charts[-1], encoding="utf-8").read())[1])
        text += f'<figure><a href="{name}.html"><img src="{name}.svg" alt="{html.escape(title)}" loading="lazy" width="440"></a><figcaption><a href="{name}.html">{name}</a>: {html.escape(title)}</figcaption></figure>\n\n'
    write("gallery/index.md", text)


def documents():
    """Copies the documents, and what they show and link to."""
    for path in ["README.md", *glob.glob("*.md", root_dir=SOURCES), "python/README.md", "packaging/README.md", *glob.glob("doc/**/*.md", root_dir=SOURCES, recursive=True)]:
        text = read(path)
        if path == "README.md":
            path = "index.md"
        text = re.sub(r"\[([^\]]*)\]\(([^):#]+)\)", lambda link: link[1] if os.path.isdir(os.path.join(SOURCES, os.path.dirname(path), link[2])) else link[0], text)
        write(path, re.sub(r"\]\(((?:\.\./)*)README\.md", r"](\1index.md", text).replace("```rooms", "```text"))
    for path in ["COPYING", "COPYING.BSD", *(p for pattern in ("doc/*.svg", "doc/*.png", "doc/bench/*", "doc/examples/**/*") for p in glob.glob(pattern, root_dir=SOURCES, recursive=True))]:
        if os.path.isfile(os.path.join(SOURCES, path)):
            os.makedirs(os.path.dirname(os.path.join(STAGE, path)), exist_ok=True)
            shutil.copy(os.path.join(SOURCES, path), os.path.join(STAGE, path))


def navigation():
    pages = sorted(os.path.splitext(page)[0] for page in glob.glob("**/*.md", root_dir=STAGE, recursive=True))
    left, text = [page for page in pages if page != "index"], ""
    last = [page for page in left if page == "NEWS"]
    for caption, patterns in PARTS.items():
        chosen = []
        for pattern in patterns:
            found = [page for page in left if re.fullmatch(pattern.replace("*", ".*"), page) and (page not in last or pattern == "NEWS")]
            chosen += found
            left = [page for page in left if page not in found]
        text += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(chosen) + "\n```\n"
    assert not left, left
    write("index.md", open(os.path.join(STAGE, "index.md"), encoding="utf-8").read() + text)


def mend_theme():
    """Debian's furo lacks the colours of a dark system, and imports a file of its server."""
    path = os.path.join(FOLDER, "_static", "styles", "furo.css")
    with open(path, encoding="utf-8") as file:
        css = re.sub(r"@import url\(/[^)]*\);\n?", "body { margin: 0; }\n", file.read())
    dark = re.search(r'body\[data-theme="?dark"?\]\s*\{([^}]*--color-background-primary[^}]*)\}', css)
    if dark and "prefers-color-scheme" not in css:
        css += '\n@media (prefers-color-scheme: dark) { body:not([data-theme="light"]) {' + dark[1] + "} }\n"
    with open(path, "w", encoding="utf-8") as file:
        file.write(css)


def mend_pages():
    """What the theme leaves to readers of the screen: levels of headings, names of landmarks, code that scrolls by the keyboard, headers without a word."""
    for path in glob.glob(FOLDER + "/**/*.html", recursive=True):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if '<aside class="sidebar-drawer">' not in text:
            continue
        for old, new in (('class="caption" role="heading">', 'class="caption" role="heading" aria-level="2">'),
                         ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Pages">'),
                         ('<aside class="toc-drawer', '<aside aria-label="This page" class="toc-drawer'),
                         ('<label class="overlay ', '<label aria-hidden="true" class="overlay '), ("<pre>", '<pre tabindex="0">'),
                         ('<label class="toc-overlay-icon toc-content-icon', '<label aria-hidden="true" class="toc-overlay-icon toc-content-icon'),
                         ('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'), ('<th class="head"><p></p></th>', '<td class="head"></td>'),
                         ('<div id="search-results">', '<h1>Search</h1>\n<div id="search-results">')):
            text = text.replace(old, new)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def main():
    for old in (STAGE, FOLDER):
        shutil.rmtree(old, ignore_errors=True)
    os.makedirs(STAGE)
    documents()
    manuals()
    schemas()
    python_page()
    library_page()
    if PROGRAM:
        commands()
        gallery()
    navigation()
    os.makedirs(STAGE + "/extra", exist_ok=True)
    own = os.path.join(SOURCES, "doc", "site")
    status = sphinx.cmd.build.main(["-q", "-j", "auto", "-b", "html", "-c", own, "-d", STAGE + "/.trees", "-D", f"version={read('VERSION').strip()}",
                                    "-D", f"html_extra_path={STAGE}/extra", *(["-W", "--keep-going"] if STRICT else []), STAGE, FOLDER])
    shutil.rmtree(STAGE)
    mend_theme()
    mend_pages()
    if status == 0:
        print(FOLDER + "/index.html")
    return status


sys.exit(main())
