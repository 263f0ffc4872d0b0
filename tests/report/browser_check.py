# SPDX-License-Identifier: GPL-3.0-or-later
"""browser_check.py PAGE PROFILE: a line "ok|no<TAB>WHAT<TAB>WHY" a check; status 77: no browser starts here."""
import json
import shutil
import sys

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys

PAGE, PROFILE = sys.argv[1:3]


def say(good, what, why=""):
    print("ok" if good else "no", what, str(why).replace("\n", " ")[:300], sep="\t", flush=True)


def browser_new(script=True):
    options = Options()
    options.binary_location = shutil.which("chromium")
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=" + PROFILE + str(script)):
        options.add_argument(word)
    if not script:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


def requests_of(browser):
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]


def width(browser, pixels):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": pixels, "height": 800, "deviceScaleFactor": 1, "mobile": True})


def charts_check(browser):
    charts = browser.execute_script("""
        document.querySelectorAll('details').forEach(d => d.open = true);
        return Array.from(document.querySelectorAll('figure svg')).map(function (svg) {
            return {title: (svg.querySelector('title') || {}).textContent || '', desc: (svg.querySelector('desc') || {}).textContent || '',
                    texts: Array.from(svg.querySelectorAll('text')).map(function (t) { return t.textContent.trim(); }),
                    width: svg.getBoundingClientRect().width};
        });""")
    say(len(charts) > 4, "there are charts", len(charts))
    say(all(chart["title"] and len(chart["desc"]) > 20 for chart in charts), "each has a title and says what it shows")
    words = [{text for text in chart["texts"] if any(c.isalpha() for c in text)} for chart in charts]
    say(all(len(some) >= 3 for some in words), "each shows a title and two axes", [some for some in words if len(some) < 3])
    units = ("(ms)", "(us)", "(ns)", "(s)", "(x)", "(%)", "(count)", "/s)")
    bare = [chart["title"] for chart in charts if not any(unit in text for text in chart["texts"] for unit in units)]
    say(not bare, "each has a unit", bare)
    say(all(chart["width"] > 200 for chart in charts), "none is squeezed")


def first_screen_check(browser):
    lines = browser.execute_script("""
        return Array.from(document.querySelectorAll('#results tbody tr')).map(function (row) {
            return {bottom: row.getBoundingClientRect().bottom, setting: row.querySelectorAll('.setting').length, copy: row.querySelectorAll('button').length};
        });""")
    say(len(lines) == 2 and all(line["bottom"] < 1000 and line["setting"] == line["copy"] == 1 for line in lines),
        "each result is a line of the first screen with its setting and a button that copies it", lines)
    closed = browser.execute_script("return Array.from(document.querySelectorAll('details')).every(d => !d.open);")
    say(closed, "the details are folded")
    field = browser.find_element("css selector", "#results input")
    field.send_keys("fw")
    left = browser.execute_script("""
        return ['#results tbody tr', 'details.result', 'nav li'].map(function (what) {
            return Array.from(document.querySelectorAll(what)).filter(function (e) { return e.offsetParent && e.textContent.indexOf('hostile') >= 0; }).length; });""")
    rows = [row for row in browser.find_elements("css selector", "#results tbody tr") if row.is_displayed()]
    say(len(rows) == 1 and not any(left), "a filter leaves the results that have the word", [len(rows), left])
    field.clear()
    field.send_keys(" ", Keys.BACKSPACE)
    browser.find_element("css selector", "#results a").send_keys(Keys.ENTER)
    opened = browser.execute_script("return document.querySelectorAll('details.result[open]').length;")
    say(opened == 1, "a link opens the details that it leads to", opened)


def zoom_check(browser):
    button = browser.find_element("css selector", "figure button")
    button.send_keys(Keys.ENTER)
    before = browser.execute_script("return document.querySelector('dialog svg').getAttribute('viewBox');")
    browser.find_element("css selector", "dialog button").send_keys("+")
    after = browser.execute_script("return document.querySelector('dialog svg').getAttribute('viewBox');")
    browser.find_element("css selector", "dialog button").send_keys(Keys.ESCAPE)
    gone = not browser.find_elements("css selector", "dialog")
    say(before != after and gone, "a chart fills the window, grows by the keyboard and closes", [before, after, gone])
    again = browser.execute_script("return document.activeElement === arguments[0];", button)
    say(again, "the focus goes back to the button of the chart")


def names_check(browser):
    """Rules of WAI-ARIA 1.2 and HTML that axe-core calls aria-prohibited-attr, svg-img-alt, button-name, empty-table-header and landmark-unique."""
    wrong = browser.execute_script(r"""
        var plain = /^(span|div|p|b|i|em|strong|code|small|pre|g|path|rect|circle|line|text)$/i, wrong = [], seen = {};
        document.querySelectorAll('[aria-label],[aria-labelledby]').forEach(function (e) { if (plain.test(e.tagName) && !e.getAttribute('role')) wrong.push(e.outerHTML); });
        document.querySelectorAll('svg[role=img]').forEach(function (e) { if (!e.getAttribute('aria-label') && !e.querySelector('title')) wrong.push(e.outerHTML); });
        document.querySelectorAll('button,a[href],summary,th').forEach(function (e) { if (!e.textContent.trim()) wrong.push(e.outerHTML); });
        document.querySelectorAll('input').forEach(function (e) { if (!e.labels.length) wrong.push(e.outerHTML); });
        document.querySelectorAll('nav,main,[role=region],section[aria-label]').forEach(function (e) {
            var name = e.tagName + (e.getAttribute('aria-label') || ''); if (seen[name]) wrong.push(name); seen[name] = true; });
        return wrong.map(function (w) { return w.slice(0, 100); });""")
    say(not wrong, "every element that needs a name has one, and no other", wrong[:3])


def cells_of(browser, table, column):
    return browser.execute_script("return Array.from(arguments[0].tBodies[0].rows).map(r => r.cells[arguments[1]].dataset.value || '');",
                                  table, column)


def sorted_right(values, down):
    numbers = [float(value) for value in values if value]
    return numbers == sorted(numbers, reverse=down) and all(not value for value in values[len(numbers):])


def tables_check(browser):
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true);")
    tables = [table for table in browser.find_elements("css selector", "table.sortable") if len(table.find_elements("css selector", "tbody tr")) > 2]
    say(tables, "there are tables to sort")
    tried = 0
    for table in tables:
        heads = table.find_elements("css selector", "thead th")
        for column, head in enumerate(heads):
            if "number" not in head.get_attribute("class"):
                continue
            button = head.find_element("css selector", "button")
            button.send_keys(Keys.ENTER)  # by the keyboard
            up, word = cells_of(browser, table, column), head.get_attribute("aria-sort")
            button.send_keys(Keys.SPACE)
            down, other = cells_of(browser, table, column), head.get_attribute("aria-sort")
            tried += 1
            if not (sorted_right(up, False) and sorted_right(down, True) and (word, other) == ("ascending", "descending")):
                say(False, "tables sort", [up, down, word, other])
                return
    say(tried > 3, "tables sort both ways by keyboard, and say so", tried)


def main():
    browser = browser_new()
    try:
        browser.get("about:blank")
        requests_of(browser)  # of the browser's own first page
        browser.get("file://" + PAGE)
        say(browser.title == "Sweetspot report", "no script of a name ran", browser.title)
        log = browser.get_log("browser")
        say(not log, "nothing on the console", log)
        asked = [url for url in requests_of(browser) if url != "file://" + PAGE]
        say(not asked, "nothing is loaded", asked)
        text = browser.find_element("tag name", "body").get_attribute("textContent")
        say("<script>document.title=1</script>" in text and "<img src=x onerror=" in text, "hostile names are texts")
        say(not browser.find_elements("css selector", "img, iframe, object, embed, link"), "and no elements")
        first_screen_check(browser)
        charts_check(browser)
        zoom_check(browser)
        tables_check(browser)
        names_check(browser)
        for pixels in (360, 1200, 2560):
            width(browser, pixels)
            wide = browser.execute_script("return document.documentElement.scrollWidth")
            say(wide <= pixels, f"no scrolling sideways at {pixels} pixels", wide)
        browser.find_elements("css selector", "button.copy")[0].click()
        say(not browser.get_log("browser"), "copying says nothing on the console")
    finally:
        browser.quit()
    browser = browser_new(script=False)
    try:
        browser.get("file://" + PAGE)
        say(len(browser.find_elements("css selector", "table.sortable")) > 3 and not browser.find_elements("css selector", "thead button"),
            "without a script the tables are there, and no buttons")
    finally:
        browser.quit()


try:
    browser_new().quit()
except WebDriverException as error:
    print(str(error).splitlines()[0], file=sys.stderr)
    sys.exit(77)
main()
