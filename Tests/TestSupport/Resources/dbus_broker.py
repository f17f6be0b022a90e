"""Becomes a dbus-broker for the session whose directory is given, with the bus.conf there, and no systemd.

Its launcher wants three things of a systemd that are given to it here: the listening socket as descriptor 3, a journal to
log to, and a bus to ask for services, which is the one that it launches. It needs a mount namespace of its own, and root.
"""

import os
import socket
import sys

directory = sys.argv[1]
path = directory + "/bus"

journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
os.makedirs("/run/systemd/journal")
journal.bind("/run/systemd/journal/socket")
os.set_inheritable(os.dup2(journal.fileno(), 20), True)

listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
listening.bind(path)
listening.listen(1024)
os.set_inheritable(os.dup2(os.dup(listening.fileno()), 3), True)

os.environ.update(
    DBUS_SESSION_BUS_ADDRESS="unix:path=" + path, LISTEN_FDS="1", LISTEN_PID=str(os.getpid()), PATH="/usr/bin:/bin")
print("unix:path=" + path, flush=True)
os.execv(
    "/usr/bin/dbus-broker-launch",
    ["dbus-broker-launch", "--scope", "user", "--config-file", directory + "/bus.conf"])
