# SPDX-License-Identifier: GPL-3.0-or-later
"""schema.py FOLDER: judges the documents FOLDER/1, FOLDER/2, .., whose lines on the standard input are `described NAME` or
`exact NAME [OPEN...]`. FOLDER/N.why receives the reason if document N is wrong, FOLDER/N.right is made if it is not.

described: the document is as data/schema/NAME.json says. exact: and that schema says something of all of it. Whatever is left
out that it requires, added to an object, or put in the place of a value must be refused.
OPEN: members below which it leaves things open. A schema that says "Other members may be present." promises that to
readers of later versions; what this version prints must be described all the same, so that its objects are closed here.
One process judges all documents of a test, because to load jsonschema takes longer than to judge most of them."""
import copy, functools, glob, json, os, sys, traceback
try:
    import jsonschema
except ImportError:
    sys.exit(77)

published = {}
for path in glob.glob(os.path.join(os.environ["SRCDIR"], "data/schema/*.json")):
    with open(path) as file:
        published[os.path.basename(path)[:-5]] = json.load(file)


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


schemas = {name: closed(schema) if schema.get("description", "").endswith("Other members may be present.") else schema
           for name, schema in published.items()}


def validators(known):
    """Makes validators of parts of these schemas, which name each other by their file."""
    kind = jsonschema.Draft202012Validator
    try:
        from referencing import Registry, Resource
    except ImportError:  # before 4.18
        store = {s["$id"]: s for s in known.values()}
        return lambda schema: kind(schema, resolver=jsonschema.RefResolver(schema.get("$id", ""), schema, store))
    registry = Registry().with_resources((s["$id"], Resource.from_contents(s)) for s in known.values())
    return lambda schema: kind(schema, registry=registry)


validator, validator_as_published = validators(schemas), validators(published)


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


def at(rule):
    """A part of a schema, which is named by its file and the way to it."""
    part = schemas[rule[0]]
    for key in rule[1:]:
        part = part[key]
    return part if isinstance(part, dict) else {} # true and false are schemas, too


def applying(rule):
    """The rule, and those that it refers to without a condition."""
    yield rule
    part = at(rule)
    if "$ref" in part:
        file, _, way = part["$ref"].partition("#")
        yield from applying((file.removesuffix(".json") or rule[0], *way.split("/")[1:]))
    for index in range(len(part.get("allOf", ()))):
        yield from applying((*rule, "allOf", index))


def below(rules, key):
    """The rules that a member or an item must meet."""
    for rule in (one for rule in rules for one in applying(rule)):
        part = at(rule)
        if isinstance(key, int) and key < len(part.get("prefixItems", ())):
            yield (*rule, "prefixItems", key)
        elif isinstance(key, int) and "items" in part:
            yield (*rule, "items")
        elif key in part.get("properties", ()):
            yield (*rule, "properties", key)
        elif "additionalProperties" in part and "patternProperties" not in part:
            yield (*rule, "additionalProperties")


@functools.cache
def validator_of(rule):
    way = "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in rule[1:])
    return validator({"$ref": f"{schemas[rule[0]]['$id']}#{way}"})


def refused(part, rules):
    """Then a whole that must meet these rules there is refused, too, and need not be looked through."""
    return any(not validator_of(rule).is_valid(part) for rule in rules)


def shorten(part, rules, known):
    """Leaves one item of each shape in an array, unless its rules want more, because each has its time."""
    if isinstance(part, list):
        kept = list(part)
        part[:] = {shape(item, known): item for item in reversed(part)}.values()
        if refused(part, rules):
            part[:] = kept
    for key in part if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ():
        shorten(part[key], list(below(rules, key)), known)


def spoilt(part, rules, leave_open, where=""):
    """Each time the whole document with one thing wrong in it, which is put right again when the next is asked for; with it
    whether its part is refused alone."""
    for key in list(part) if isinstance(part, dict) else range(len(part)):
        path = f"{where}/{key}"
        if key in leave_open:
            continue
        kept, inner = part[key], list(below(rules, key))
        part[key] = {"strange": []}
        yield "put at " + path, refused(part[key], inner)
        part[key] = kept
        if isinstance(kept, (dict, list)):
            yield from spoilt(kept, inner, leave_open, path)
    if isinstance(part, dict):
        part["strange"] = []
        yield "added to " + (where or "/"), refused(part, rules)
        del part["strange"]


def exact(document, name, *leave_open):
    """Why the document is wrong, or None."""
    schema = schemas[name]
    check = validator(schema)
    check.validate(document)
    for key in schema["required"]:
        if check.is_valid({k: v for k, v in document.items() if k != key}):
            return f"{key} may be absent"
    short = copy.deepcopy(document)
    shorten(short, [(name,)], set(words(schemas)))
    document = short if check.is_valid(short) else document
    damaged, count = copy.deepcopy(document), 0
    for what, alone in spoilt(damaged, [(name,)], leave_open):
        count += 1
        if not alone and check.is_valid(damaged):
            return f"something strange is taken: {what}"
    return "the document was not spoilt" if damaged != document or count < len(document) else None


def described(document, name):
    return validator_as_published(published[name]).validate(document)


for number, line in enumerate(sys.stdin, 1):
    path = os.path.join(sys.argv[1], str(number))
    judge, *words_of_it = line.split()
    try:
        with open(path) as file:
            why = {"exact": exact, "described": described}[judge](json.load(file), *words_of_it)
    except jsonschema.ValidationError as error:
        why = f"{error.json_path}: {error.message[:500]}"
    except Exception:
        why = traceback.format_exc()
    with open(path + (".why" if why else ".right"), "w") as file:
        file.write(why or "")
