"""Approves a device login as a person does: signs up, opens the page, and presses the button.
usage: approve_device_login.py URL USER_CODE"""

import http.cookiejar
import re
import sys
import urllib.parse
import urllib.request
import uuid

url, user_code = sys.argv[1:]
browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
browser.addheaders = [("Accept", "text/html")]


def submit(page: str, action: str, **fields: str) -> str:
    html = browser.open(url + page).read().decode()
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', html))
    hidden = {name: value.replace("&#x2f;", "/") for name, value in hidden.items()}
    return browser.open(url + action, urllib.parse.urlencode({**hidden, **fields}).encode()).read().decode()


submit("/sign-up", "/sign-up", email=f"{uuid.uuid4()}@example.com", password="a long password")
answer = submit(f"/device?user_code={user_code}", "/device", decision="approve")
if "Approved" not in answer:
    sys.exit(f"not approved: {answer}")
