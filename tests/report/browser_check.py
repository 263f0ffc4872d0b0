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


def lines_check(browser):
    """The middle of each line of the parallel coordinates, and a place a few pixels beside it."""
    told, lines = 0, browser.find_elements("css selector", "svg.parallel path")
    for line in lines:
        browser.execute_script("arguments[0].closest('svg').scrollIntoView({block: 'center'})", line)
        got = browser.execute_script("""
            var path = arguments[0], svg = path.closest('svg'), text = svg.nextElementSibling, box = svg.getScreenCTM();
            var at = path.getPointAtLength(path.getTotalLength() * 0.45).matrixTransform(box);
            svg.dispatchEvent(new PointerEvent('pointermove', {clientX: at.x, clientY: at.y + 3, pointerType: 'mouse'}));
            var shown = svg.querySelectorAll('.shown'), got = shown.length === 1 && shown[0].getAttribute('aria-label');
            return got && got === text.textContent;""", line)
        told += bool(got)
    say(lines and told > 0.9 * len(lines), "pointing near a line shows its text below", [told, len(lines)])
    left = browser.execute_script("""
        return Array.from(document.querySelectorAll('svg.parallel')).every(function (svg) {
            svg.dispatchEvent(new PointerEvent('pointerleave', {pointerType: 'mouse'}));
            return !svg.querySelector('.shown') && !svg.nextElementSibling.textContent;
        });""")
    say(left, "and nothing when the pointer has gone")


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
        charts_check(browser)
        lines_check(browser)
        tables_check(browser)
        for pixels in (360, 1200):
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
