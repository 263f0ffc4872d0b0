# SPDX-License-Identifier: GPL-3.0-or-later
"""schema.py NAME FILE [OPEN...]: is the document in FILE as data/schema/NAME.json says, and does that schema say something
of all of it? Whatever is left out that it requires, added to an object, or put in the place of a value must be refused.
OPEN: members below which it leaves things open. A schema that says "Other members may be present." promises that to
readers of later versions; what this version prints must be described all the same, so that its objects are closed here."""
import copy, glob, json, os, sys
try:
    import jsonschema
except ImportError:
    sys.exit(77)

schemas = {}
for path in glob.glob(os.path.join(os.environ["SRCDIR"], "data/schema/*.json")):
    with open(path) as file:
        schemas[os.path.basename(path)[:-5]] = json.load(file)


def closed(part):
    """The same schema, which refuses members that it does not describe."""
    if isinstance(part, list):
        return [closed(one) for one in part]
    if not isinstance(part, dict):
        return part
    result = {key: one if key in ("if", "then", "else") else closed(one) for key, one in part.items()}
    if isinstance(part.get("properties"), dict):
        result.setdefault("additionalProperties", False)
    return result


for name, schema in schemas.items():
    if schema.get("description", "").endswith("Other members may be present."):
        schemas[name] = closed(schema)


def validator(schema):
    """Schemas name each other by their file."""
    kind = jsonschema.Draft202012Validator
    kind.check_schema(schema)
    try:
        from referencing import Registry, Resource
    except ImportError:  # before 4.18
        store = {s["$id"]: s for s in schemas.values()}
        return kind(schema, resolver=jsonschema.RefResolver(schema["$id"], schema, store))
    return kind(schema, registry=Registry().with_resources((s["$id"], Resource.from_contents(s)) for s in schemas.values()))


def words(part):
    """The texts that a schema compares with."""
    for one in part if isinstance(part, list) else part.values() if isinstance(part, dict) else ():
        yield from words(one)
    if isinstance(part, dict):
        yield from (one for one in [part.get("const"), *part.get("enum", ())] if isinstance(one, str))


def shape(part, known):
    """The same for two parts that a schema cannot tell apart: members and types, and the texts that it compares with."""
    if isinstance(part, dict):
        return tuple((key, shape(one, known)) for key, one in sorted(part.items()))
    if isinstance(part, list):
        return frozenset(shape(one, known) for one in part)
    return part if isinstance(part, str) and part in known else type(part)


def shorten(document, part, check, known):
    """Leaves one item of each shape in an array, unless the schema wants more, because each has its time."""
    for one in part.values() if isinstance(part, dict) else [part] if isinstance(part, list) else ():
        if isinstance(one, list):
            kept = list(one)
            one[:] = {shape(item, known): item for item in reversed(one)}.values()
            if not check.is_valid(document):
                one[:] = kept
            for item in one:
                shorten(document, item, check, known)
        else:
            shorten(document, one, check, known)


def spoilt(document, part, leave_open, where=""):
    """Each time the whole document with one thing wrong in it, which is put right again when the next is asked for."""
    for key in list(part) if isinstance(part, dict) else range(len(part)):
        path = f"{where}/{key}"
        if key in leave_open:
            continue
        kept = part[key]
        part[key] = {"strange": []}
        yield "put at " + path
        part[key] = kept
        if isinstance(kept, (dict, list)):
            yield from spoilt(document, kept, leave_open, path)
    if isinstance(part, dict):
        part["strange"] = []
        yield "added to " + (where or "/")
        del part["strange"]


name, path, leave_open = sys.argv[1], sys.argv[2], sys.argv[3:]
with open(path) as file:
    document = json.load(file)
schema = schemas[name]
check = validator(schema)
check.validate(document)
for key in schema["required"]:
    if check.is_valid({k: v for k, v in document.items() if k != key}):
        sys.exit(f"{key} may be absent")
shorten(document, document, check, set(words(schemas)))
damaged, count = copy.deepcopy(document), 0
for what in spoilt(damaged, damaged, leave_open):
    count += 1
    if check.is_valid(damaged):
        sys.exit(f"something strange is taken: {what}")
if damaged != document or count < len(document):
    sys.exit("the document was not spoilt")
