"""A program with an entry that may be a browser, too: browser.py HOST ADDRESS.

The line `start` of its standard input starts a browser's host, as a browser with the extension does; `kill` kills it.
"""

import ctypes
import json
import struct
import subprocess
import sys
import threading

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gtk  # noqa: E402

ctypes.CDLL(None).prctl(15, b"firefox", 0, 0, 0)
window = Gtk.Window(title="Browser")
window.add(Gtk.Entry(text="over accessibility"))
window.connect("destroy", Gtk.main_quit)
window.show_all()
hosts = []


def obey():
    for line in sys.stdin:
        if line == "start\n":
            host = subprocess.Popen(
                [sys.argv[1], "chrome-extension://name/", "--address", sys.argv[2]], stdin=subprocess.PIPE)
            for message in ({"type": "tab", "tab": 1, "title": "of the extension", "shared": True},
                            {"type": "front", "tab": 1}):
                data = json.dumps(message).encode()
                host.stdin.write(struct.pack("=I", len(data)) + data)
            host.stdin.flush()
            hosts.append(host)
        else:
            hosts.pop().kill()


threading.Thread(target=obey, daemon=True).start()
Gtk.main()
