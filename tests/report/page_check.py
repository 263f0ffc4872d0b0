# SPDX-License-Identifier: GPL-3.0-or-later
"""What a page must be, whatever is on it: page_check.py FILE [TEXT..]; each TEXT must be there as a text."""
import base64
import hashlib
import html.parser
import re
import sys

VOID = {"meta", "br", "hr", "img", "link", "input"}
LOADS = {"src", "srcset", "data", "poster", "action", "formaction", "background", "ping", "manifest"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.ids, self.texts, self.policy = [], [], set(), [], None
        self.blocks, self.tags, self.charts = {"style": [], "script": []}, {}, []

    def handle_starttag(self, tag, pairs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        for name, value in pairs:
            value = value or ""
            if name == "style" or name.startswith("on"):
                self.wrong.append(f"<{tag} {name}=..> is inline")
            if name in LOADS or (name.endswith("href") and not value.startswith("#")):
                self.wrong.append(f"<{tag} {name}={value!r}> loads or leads outside")
            if name == "id":
                if value in self.ids:
                    self.wrong.append(f"id {value} is there twice")
                self.ids.add(value)
        named = dict(pairs)
        if named.get("http-equiv", "").lower() == "content-security-policy":
            self.policy = named["content"]
        if tag == "svg":
            self.charts.append({"role": named.get("role"), "tags": []})
        elif "svg" in self.open:
            self.charts[-1]["tags"].append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, pairs):
        self.handle_starttag(tag, pairs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.wrong.append(f"</{tag}> ends {self.open[-1:]} at {self.getpos()}")
        else:
            self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] in self.blocks:
            self.blocks[self.open[-1]].append(data)
        else:
            self.texts.append(data)

    def handle_comment(self, data):
        self.wrong.append("there is a comment")


def policy_check(page):
    if page.policy is None:
        return ["there is no policy"]
    parts = {words[0]: words[1:] for words in (part.split() for part in page.policy.split(";"))}
    wrong = [f"{name} is {parts.get(name)}" for name in ("default-src", "base-uri", "form-action") if parts.get(name) != ["'none'"]]
    for tag in ("style", "script"):
        hashes = ["'sha256-" + base64.b64encode(hashlib.sha256(block.encode()).digest()).decode() + "'" for block in page.blocks[tag]]
        if len(hashes) != 1 or parts.get(tag + "-src") != hashes:
            wrong.append(f"{tag}-src is {parts.get(tag + '-src')}, not {hashes}")
    return wrong + [f"{name} is allowed" for name in set(parts) - {"default-src", "base-uri", "form-action", "style-src", "script-src"}]


def check(path, texts):
    raw = open(path, "rb").read()
    text = raw.decode("utf-8")  # strict
    page = Page()
    page.feed(text)
    page.close()
    wrong = page.wrong + policy_check(page)
    if page.open:
        wrong.append(f"still open: {page.open}")
    if not text.startswith("<!DOCTYPE html>"):
        wrong.append("no doctype")
    if re.search(r"(?i)@import|url\(", "".join(page.blocks["style"])):
        wrong.append("the style loads")
    for i, chart in enumerate(page.charts):
        if chart["role"] != "img" or "title" not in chart["tags"] or "desc" not in chart["tags"]:
            wrong.append(f"chart {i} has no role, title or description")
        if set(chart["tags"]) & {"script", "image", "foreignobject", "a", "style"}:
            wrong.append(f"chart {i} has more than lines and texts")
    if page.tags.get("script", 0) != 1 or page.tags.get("style", 0) != 1:
        wrong.append("more than one script or style")
    if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text):
        wrong.append("control characters")
    shown = "".join(page.texts)
    wrong += [f"no text {text!r}" for text in texts if text not in shown]
    return wrong


if __name__ == "__main__":
    found = check(sys.argv[1], sys.argv[2:])
    print("\n".join(found[:20]))
    sys.exit(bool(found))
