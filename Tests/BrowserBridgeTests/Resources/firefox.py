"""A Firefox for tests, driven over Marionette: firefox.py PROFILE EXTENSION [OPTION]...

Each line of standard input is a JSON array, an operation and its arguments; the answer is a line: {"value": ...} or
{"error": ...}. It serves pages on two addresses, 127.0.0.1 and localhost, which are two sites. Firefox ends with the input.
"""

import http.server
import json
import os
import socket
import subprocess
import sys
import threading
import time

PREFERENCES = {
    "app.update.auto": False,
    "browser.aboutwelcome.enabled": False,
    "browser.sessionstore.resume_from_crash": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "browser.startup.homepage_override.mstone": "ignore",
    "browser.tabs.warnOnClose": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    # A click on a button of the popup is the user's consent.
    "extensions.webextOptionalPermissionPrompts": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.dns.disablePrefetch": True,
    "services.settings.server": "data:,",
    "toolkit.telemetry.enabled": False,
    "dom.disable_open_during_load": False,
}
KEYS = {"Control": "\ue009", "Shift": "\ue008", "Tab": "\ue004", "Enter": "\ue007", "Backspace": "\ue003", "End": "\ue010"}


class Pages(http.server.BaseHTTPRequestHandler):
    pages = {}

    def do_GET(self):
        page = self.pages.get(self.path.split("?")[0])
        self.send_response(200 if page is not None else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write((page or "").encode())

    def log_message(self, *_):
        pass


class Marionette:
    def __init__(self, profile):
        deadline = time.monotonic() + 120
        while True:
            try:
                with open(profile + "/MarionetteActivePort") as file:
                    self.socket = socket.create_connection(("127.0.0.1", int(file.read())))
                break
            except (OSError, ValueError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        self.stream = self.socket.makefile("rb")
        self.number = 0
        self.receive()

    def receive(self):
        length = b""
        while not length.endswith(b":"):
            byte = self.stream.read(1)
            if not byte:
                raise EOFError("Firefox has closed the connection")
            length += byte
        return json.loads(self.stream.read(int(length[:-1])))

    def call(self, command, **parameters):
        self.number += 1
        message = json.dumps([0, self.number, command, parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self.receive()
        if error:
            raise RuntimeError(f"{command}: {error['error']}: {error['message']}")
        return result.get("value", result) if isinstance(result, dict) else result


class Firefox:
    def __init__(self, profile, extension, *options):
        os.makedirs(profile)
        with open(profile + "/user.js", "w") as file:
            for name, value in {**PREFERENCES, "marionette.port": 0}.items():
                file.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")
        self.process = subprocess.Popen(
            ["firefox-esr", *options, "--no-remote", "--profile", profile, "--marionette",
             "--remote-allow-system-access"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.server = http.server.ThreadingHTTPServer(("", 0), Pages)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.marionette = Marionette(profile)
        self.marionette.call("WebDriver:NewSession", capabilities={"alwaysMatch": {"pageLoadStrategy": "normal"}})
        self.extension = extension

    def install(self):
        """Installs the extension, for as long as Firefox runs."""
        return self.marionette.call("Addon:Install", path=self.extension, temporary=True)

    def never(self, *patterns):
        """Keeps sites from being shared, as the popup's button does for the one in front."""
        self.popup()
        self.script("return browser.storage.local.set({ ignored: arguments[0] })", patterns)

    def share(self, button):
        """Clicks a button of the extension's popup."""
        self.popup()
        self.click("#" + button)

    def popup(self):
        """Opens the extension's popup as a page."""
        identities = json.loads(
            self.chrome('return Services.prefs.getStringPref("extensions.webextensions.uuids")'))
        self.marionette.call(
            "WebDriver:Navigate", url=f"moz-extension://{identities['browser@focusd.org']}/popup.html")
        deadline = time.monotonic() + 60
        while self.script("return document.documentElement.dataset.ready") != "true":
            if time.monotonic() > deadline:
                raise RuntimeError("the popup is not ready")
            time.sleep(0.05)

    def address(self, path, host="127.0.0.1"):
        return f"http://{host}:{self.server.server_address[1]}{path}"

    def page(self, path, text):
        """Has a page served; {LOCAL} in it is the other site."""
        Pages.pages[path] = text.replace("{LOCAL}", self.address("", "localhost"))

    def open(self, path):
        self.marionette.call("WebDriver:Navigate", url=self.address(path))

    def script(self, text, *arguments):
        return self.marionette.call("WebDriver:ExecuteScript", script=text, args=list(arguments), sandbox=None)

    def chrome(self, text):
        self.marionette.call("Marionette:SetContext", value="chrome")
        try:
            return self.marionette.call("WebDriver:ExecuteScript", script=text, args=[])
        finally:
            self.marionette.call("Marionette:SetContext", value="content")

    def click(self, selector):
        element = self.marionette.call("WebDriver:FindElement", using="css selector", value=selector)
        self.marionette.call("WebDriver:ElementClick", id=next(iter(element.values())))

    def keys(self, *keys):
        """Presses keys one after another, all held until the last one; a text is typed."""
        actions = []
        if len(keys) == 1 and keys[0] not in KEYS:
            for character in keys[0]:
                actions += [{"type": "keyDown", "value": character}, {"type": "keyUp", "value": character}]
        else:
            values = [KEYS.get(key, key) for key in keys]
            actions = [{"type": "keyDown", "value": value} for value in values]
            actions += [{"type": "keyUp", "value": value} for value in reversed(values)]
        self.marionette.call("WebDriver:PerformActions", actions=[{"type": "key", "id": "keys", "actions": actions}])
        self.marionette.call("WebDriver:ReleaseActions")

    def new(self, kind):
        """Opens a tab or a window, and drives that."""
        handle = self.marionette.call("WebDriver:NewWindow", type=kind, focus=True)["handle"]
        self.marionette.call("WebDriver:SwitchToWindow", handle=handle, focus=True)
        return handle

    def switch(self, handle):
        self.marionette.call("WebDriver:SwitchToWindow", handle=handle, focus=True)

    def handle(self):
        return self.marionette.call("WebDriver:GetWindowHandle")

    def handles(self):
        return self.marionette.call("WebDriver:GetWindowHandles")

    def close(self):
        return self.marionette.call("WebDriver:CloseWindow")

    def end(self):
        try:
            self.marionette.call("Marionette:Quit", flags=["eForceQuit"])
        except (OSError, EOFError, RuntimeError):
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()


if __name__ == "__main__":
    firefox = Firefox(*sys.argv[1:])
    print(json.dumps({"value": "ready"}), flush=True)
    try:
        for line in sys.stdin:
            operation, *arguments = json.loads(line)
            try:
                answer = {"value": getattr(firefox, operation)(*arguments)}
            except (RuntimeError, KeyError, TypeError) as error:
                answer = {"error": str(error)}
            print(json.dumps(answer), flush=True)
    finally:
        firefox.end()
