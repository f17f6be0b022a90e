"""What .ci/browser and .ci/browser-cost have in common: a session of their own, a browser with the extension, and pages."""

import contextlib
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

PROJECT = pathlib.Path(__file__).resolve().parent.parent
TESTS = PROJECT / "Tests/BrowserBridgeTests/Resources"
sys.dont_write_bytecode = True
sys.path.insert(0, str(TESTS))
import firefox  # noqa: E402


class Chromium:
    """A headless Chromium, driven by a pipe of its own."""

    def __init__(self, home, extension):
        subprocess.run(["focusd-browser", "install-host", "chromium"], check=True, stdout=subprocess.DEVNULL)
        command_read, command_write = os.pipe()
        answer_read, answer_write = os.pipe()

        def connect():
            os.dup2(command_read, 3)
            os.dup2(answer_write, 4)

        # Descriptors that are already 3 and 4 must not be closed by the copies.
        keep = [os.dup(each) for each in (command_read, answer_write)]
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe",
             f"--user-data-dir={home}/.config/chromium", f"--load-extension={extension}",
             "--disable-features=DisableLoadExtensionCommandLineSwitch", "about:blank"],
            preexec_fn=connect, pass_fds=(3, 4, *keep), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.write, self.read = os.fdopen(command_write, "wb", 0), os.fdopen(answer_read, "rb", 0)
        self.rest = b""
        self.number = 0
        self.session = None
        deadline = time.monotonic() + 60
        while not (pages := [each for each in self.call("Target.getTargets")["targetInfos"] if each["type"] == "page"]):
            if time.monotonic() > deadline:
                raise RuntimeError("Chromium shows no page")
            time.sleep(0.1)
        self.session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        # Without a display no page has the keyboard otherwise.
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.write.write(json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                more = self.read.read(65536)
                if not more:
                    raise RuntimeError("Chromium has ended")
                self.rest += more
            line, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(line)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def script(self, text):
        result = self.call("Runtime.evaluate", expression=text, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{text}: {result['exceptionDetails']['exception'].get('description')}")
        return result["result"].get("value")

    def open(self, address):
        self.call("Page.navigate", url=address)

    def type(self, character):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=character, text=character)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=character)

    def undo(self):
        """Presses Ctrl+Z."""
        key = {"key": "z", "code": "KeyZ", "windowsVirtualKeyCode": ord("Z"), "modifiers": 2}
        self.call("Input.dispatchKeyEvent", type="rawKeyDown", commands=["undo"], **key)
        self.call("Input.dispatchKeyEvent", type="keyUp", key="z")

    def end(self):
        self.process.terminate()
        self.process.wait()


class Firefox:
    """The headless Firefox of the tests."""

    def __init__(self, home, extension):
        subprocess.run(["focusd-browser", "install-host", "firefox"], check=True, stdout=subprocess.DEVNULL)
        self.browser = firefox.Firefox(home + "/profile", extension, "--headless")
        self.browser.install()
        self.end = self.browser.end

    def script(self, text):
        return self.browser.script("return " + text)

    def open(self, address):
        self.browser.marionette.call("WebDriver:Navigate", url=address)

    def type(self, character):
        self.browser.keys(character)

    def undo(self):
        self.browser.keys("Control", "z")


class Pages(http.server.BaseHTTPRequestHandler):
    """Serves texts by their path, and files of folders by the beginning of it."""

    texts = {}
    folders = {}

    def do_GET(self):
        path = self.path.split("?")[0]
        data = self.texts[path].encode() if path in self.texts else None
        for prefix, folder in self.folders.items():
            file = pathlib.Path(folder, path.removeprefix(prefix))
            if data is None and path.startswith(prefix) and file.is_file():
                data = file.read_bytes()
        self.send_response(404 if data is None else 200)
        kinds = {"js": "text/javascript", "css": "text/css", "html": "text/html; charset=utf-8"}
        self.send_header("Content-Type", kinds.get(path.rsplit(".", 1)[-1], "application/octet-stream"))
        self.end_headers()
        self.wfile.write(data or b"")

    def log_message(self, *_):
        pass


def serve():
    """Serves the pages, and returns their address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def in_session(name, programs, arguments):
    """Runs this program again in a session of its own, with `programs` first on the PATH; returns its status."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        environment = {
            "HOME": home, "XDG_RUNTIME_DIR": home, "XDG_STATE_HOME": f"{home}/state", "LANG": "C.UTF-8",
            "PATH": f"{programs}:/usr/bin:/bin", "MOZ_HEADLESS_WIDTH": "800", "MOZ_HEADLESS_HEIGHT": "600",
        }
        command = ["dbus-run-session", "--", sys.argv[0], "--inside", name, *arguments]
        return subprocess.run(command, env=environment, check=False).returncode


@contextlib.contextmanager
def running(name):
    """The daemon, and a browser with the extension."""
    sys.stdout.reconfigure(line_buffering=True)
    home = os.environ["HOME"]
    daemon = subprocess.Popen(["focusd"], stderr=subprocess.DEVNULL)
    extension = f"{home}/extension"
    shutil.copytree(PROJECT / "Sources/BrowserBridge/Extension", extension)
    manifest = json.loads(pathlib.Path(extension, "manifest.json").read_text())
    # The user's consent cannot be clicked without a window: this copy has it from the beginning.
    manifest["host_permissions"] = manifest.pop("optional_host_permissions")
    pathlib.Path(extension, "manifest.json").write_text(json.dumps(manifest))
    browser = {"chromium": Chromium, "firefox": Firefox}[name](home, extension)
    try:
        yield browser
    finally:
        browser.end()
        daemon.terminate()
        daemon.wait()
